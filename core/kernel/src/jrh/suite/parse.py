"""A document to a `Suite`: the syntax of `suite.yaml`, before anything it names is looked up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import define, field, frozen

from jrh.document import option_types
from jrh.document.convert import collect
from jrh.document.positions import Document, Location, unknown_key
from jrh.errors import Problem, SuiteError
from jrh.plugins.registry import Plugins
from jrh.suite import syntax
from jrh.suite.definition import DataUse, JudgeUse, Limits, ModelUse, Price, Suite, TaskUse, Use
from jrh.suite.gate_rules import mistakes_of_rule
from jrh.suite.parse_entry import take
from jrh.suite.rubrics import read_rubric
from jrh.suite.syntax import DATA, JUDGE, METRIC, PARSER, REPORTER, SuiteSettings, WrittenCriteriaTask, WrittenTask
from jrh.suite.tests import TestReader
from jrh.values.scales import ScaleKind
from jrh.values.types import REFERENCE, Mode, Sampling, Task

T = TypeVar("T")


@frozen(kw_only=True)
class Parsed:
    """What could be read of a suite; complete only where there is no problem."""

    suite: Suite | None
    """None where the document is no mapping."""
    problems: list[Problem]
    data_alone: tuple[DataUse, ...] = ()
    """Data sections whose task could not be read: what they name can still be looked up."""


def parse_suite(document: Document, plugins: Plugins, base: Path) -> Parsed:
    """Read the suite a document holds, and find all mistakes of its syntax.

    The plugins are asked for one thing: which options a component has itself, so that those are not taken for the
    suite's own keys.
    """
    value = document.value
    if value is None:
        message = "the suite is empty; `jrh init` writes one to start from"
        return Parsed(suite=None, problems=[document.problem((), message)])
    if not isinstance(value, Mapping):
        message = f"a suite is a mapping with keys such as name, data and judges; got {option_types.described(value)}"
        return Parsed(suite=None, problems=[document.problem((), message)])
    reader = _Reader(document=document, plugins=plugins, base=base)
    suite = reader.suite(value)
    return Parsed(suite=suite, problems=reader.problems, data_alone=tuple(reader.data_alone))


@frozen(kw_only=True)
class _Priced:
    price: Price | None = None


@define(kw_only=True)
class _Reader(TestReader):
    """Reads section by section, so that a mistake in one does not hide those of the others."""

    data_alone: list[DataUse] = field(factory=list)

    def suite(self, value: Mapping[str, Any]) -> Suite:
        self._known_keys(value, syntax.SECTIONS, ())
        name = self._name(value, ())
        settings = self._settings(value)
        suite = Suite(
            name=name,
            tasks=self._tasks(value, name),
            models=self._by_name(value, "models", self._model),
            parsers=self._by_name(value, "parsers", self._parser),
            tests=self.tests(value),
            judges=self._judges(value),
            metrics=self._uses(value, "metrics", self._metric) if "metrics" in value else None,
            reports=self._uses(value, "reports", self._reporter) if "reports" in value else None,
            budget=settings.budget,
            seed=settings.seed,
            reference_repeats=settings.reference.repeats,
            level=settings.level,
            resamples=settings.resamples,
            gate=settings.gate,
            base=self.base,
            source=self.document.source,
        )
        self._check_names(suite)
        self._check_rules(suite)
        return suite

    def _required(self, value: Mapping[str, Any], key: str, kind: type[T], at: Location, default: T) -> T:
        if key not in value:
            self.report(at, f"missing key '{key}'")
            return default
        return self.read(value[key], kind, (*at, key), default)

    def _name(self, value: Mapping[str, Any], at: Location) -> str:
        name = self._required(value, "name", str, at, default="")
        if value.get("name") == "":
            self.report((*at, "name"), "the name is empty")
        self._check_name(name, (*at, "name"))
        return name

    def _mapping(self, value: Mapping[str, Any], key: str, at: Location) -> Mapping[str, Any] | None:
        """Return a section that has to be there and to be a mapping."""
        if key not in value:
            self.report(at, f"missing key '{key}'")
            return None
        section = value[key]
        if not isinstance(section, Mapping):
            self.report((*at, key), f"expected a mapping, got {option_types.described(section)}")
            return None
        return section

    def _known_keys(self, value: Mapping[str, Any], known: Iterable[str], at: Location) -> None:
        names = list(known)
        for key in value:
            if key not in names:
                self.report((*at, key), unknown_key(key, names))

    def _settings(self, value: Mapping[str, Any]) -> SuiteSettings:
        names = [attribute.name for attribute in attrs.fields(SuiteSettings)]
        given = {name: value[name] for name in names if name in value}
        return self.read(given, SuiteSettings, (), SuiteSettings())

    def _tasks(self, value: Mapping[str, Any], name: str) -> tuple[TaskUse, ...]:
        if "tasks" not in value:
            tasks = [self._task(value, name, ())]
        else:
            for key in ("data", "task"):
                if key in value:
                    self.report((key,), "stands beside `tasks`; write it into one of the tasks")
            tasks = self.entries(value, "tasks", self._named_task)
            if value["tasks"] == []:
                self.report(("tasks",), "name at least one task")
        return tuple(use for uses in tasks for use in uses)

    def _named_task(self, value: Any, at: Location) -> Sequence[TaskUse]:
        if not isinstance(value, Mapping):
            self.report(at, f"expected a mapping with name, data and task, got {option_types.described(value)}")
            return ()
        self._known_keys(value, ("name", "data", "task"), at)
        return self._task(value, self._name(value, at), at)

    def _task(self, value: Mapping[str, Any], name: str, at: Location) -> Sequence[TaskUse]:
        data = self._data(self._mapping(value, "data", at), (*at, "data"))
        written = self._mapping(value, "task", at)
        tasks = () if written is None else self._asked(written, name, (*at, "task"))
        if tasks and data is not None:
            return [TaskUse(task=task, data=data) for task in tasks]
        self.data_alone += [] if data is None else [data]
        return ()

    def _criteria(self, value: Mapping[str, Any], name: str, at: Location) -> Sequence[Task]:
        """Read a task for every entry of a rubric file."""
        read, problems = collect(value, WrittenCriteriaTask, base=self.base, document=self.document, location=at)
        self.problems.extend(problems)
        if read is None:
            return ()
        scale = read.scale.scale() if read.scale else None
        if read.mode is Mode.PAIRWISE or (scale is not None and scale.kind is ScaleKind.PAIRWISE):
            self.report(at, "criteria are judged one answer at a time; neither `mode` nor `scale` can be pairwise")
            return ()
        if not read.criteria.file.is_file():
            self.report((*at, "criteria", "file"), f"there is no file '{read.criteria.file}'")
            return ()
        try:
            rubric = read_rubric(read.criteria.file)
        except SuiteError as error:
            self.problems.extend(error.problems)
            return ()
        entries, unknown = rubric.chosen(read.criteria.targets)
        for position, message in unknown:
            self.report((*at, "criteria", "targets", position), message)
        return [
            entry.task(name, instruction=read.instruction.content, scale=scale, mode=read.mode) for entry in entries
        ]

    def _asked(self, value: Mapping[str, Any], name: str, at: Location) -> Sequence[Task]:
        if "criteria" in value:
            return self._criteria(value, name, at)
        read, problems = collect(value, WrittenTask, base=self.base, document=self.document, location=at)
        self.problems.extend(problems)
        if read is None:
            return ()
        scale = read.scale.scale()
        pairwise = scale.kind is ScaleKind.PAIRWISE
        if pairwise and read.mode not in (None, Mode.PAIRWISE):
            self.report((*at, "mode"), "a pairwise scale compares two responses; leave `mode` out")
            return ()
        mode = read.mode or (Mode.PAIRWISE if pairwise else Mode.POINTWISE)
        instruction, rubric = read.instruction.content, read.rubric.content
        return (Task(name=name, instruction=instruction, rubric=rubric, scale=scale, mode=mode),)

    def _data(self, value: Mapping[str, Any] | None, at: Location) -> DataUse | None:
        if value is None:
            return None
        if DATA.key not in value:
            self.report(at, "missing key 'source': name the data source, such as `source: csv`")
            return None
        written = self.flat(value, at, DATA)
        return None if written is None else DataUse(**written.common(), sample=written.settings.sample)

    def _by_name(
        self, value: Mapping[str, Any], key: str, read: Callable[[Any, str, Location], T | None]
    ) -> dict[str, T]:
        section = value.get(key, {})
        if not isinstance(section, Mapping):
            self.report((key,), f"expected a mapping from names to {key}, got {option_types.described(section)}")
            return {}
        uses = {name: read(part, name, (key, name)) for name, part in section.items()}
        return {name: use for name, use in uses.items() if use is not None}

    def _model(self, value: Any, name: str, at: Location) -> ModelUse | None:
        if not isinstance(value, Mapping):
            self.report(at, f"expected a mapping with a provider and its options, got {option_types.described(value)}")
            return None
        provider = self._required(value, "provider", str, at, default="")
        left = {key: part for key, part in value.items() if key != "provider"}
        own = self.own_options("models", provider)
        sampling = self.read(take(left, Sampling, own), Sampling, at, Sampling())
        limits = self.read(take(left, Limits, own), Limits, at, Limits())
        price = self.read(take(left, _Priced, own), _Priced, at, _Priced()).price
        return ModelUse(
            name=name, component=provider, options=left, location=at, sampling=sampling, limits=limits, price=price
        )

    def _parser(self, value: Any, name: str, at: Location) -> Use | None:
        if not isinstance(value, Mapping):
            self.report(at, f"expected a mapping with a parser and its options, got {option_types.described(value)}")
            return None
        if PARSER.key not in value:
            self.report(at, "missing key 'parser': name the component, such as `parser: json`")
            return None
        written = self.flat(value, at, PARSER)
        if written is None:
            return None
        return Use(name=name, component=written.component, options=written.options, location=at)

    def _judges(self, value: Mapping[str, Any]) -> tuple[JudgeUse, ...]:
        if "judges" not in value:
            self.report((), "missing key 'judges'")
        elif value["judges"] == []:
            self.report(("judges",), "name at least one judge")
        return self._uses(value, "judges", self._judge)

    def _judge(self, value: Any, at: Location) -> JudgeUse | None:
        written = self.entry(value, at, JUDGE)
        return None if written is None else JudgeUse(**written.common(), folds=written.settings.folds)

    def _metric(self, value: Any, at: Location) -> Use | None:
        written = self.entry(value, at, METRIC)
        return None if written is None else Use(**written.common())

    def _reporter(self, value: Any, at: Location) -> Use | None:
        written = self.entry(value, at, REPORTER)
        return None if written is None else Use(**written.common())

    def _uses(self, value: Mapping[str, Any], key: str, read: Callable[[Any, Location], T | None]) -> tuple[T, ...]:
        return tuple(use for use in self.entries(value, key, read) if use is not None)

    def _check_names(self, suite: Suite) -> None:
        self._distinct([(use.task.name, (*use.data.location[:-1], "name")) for use in suite.tasks], "tasks")
        for named in (*suite.models.values(), *suite.parsers.values()):
            self._check_name(named.name, named.location)
        sections = ("tests", suite.tests), ("judges", suite.judges), ("metrics", suite.metrics or ())
        for plural, uses in (*sections, ("reports", suite.reports or ())):
            for use in uses:
                self._check_name(use.name, use.location)
            self._distinct([(use.name, use.location) for use in uses], plural)
        written = {each.location: each for test in suite.tests for each in (test, *test.steps)}
        for each in written.values():
            self._distinct([(use.name, use.location) for use in each.validate], "validators")
            if each.name == REFERENCE:
                self.report(each.location, f"'{REFERENCE}' is the name of the unperturbed condition; choose another")

    def _check_rules(self, suite: Suite) -> None:
        known = {
            "test": (REFERENCE, *(use.name for use in suite.tests)),
            "judge": [use.name for use in suite.judges],
            "task": [use.task.name for use in suite.tasks],
        }
        for place, rule in enumerate(suite.gate.rules):
            for message in mistakes_of_rule(rule, known):
                self.report(("gate", "rules", place), message)

    def _check_name(self, name: str, at: Location) -> None:
        if name and (unfit := syntax.unfit_name(name)):
            self.report(at, unfit)

    def _distinct(self, named: list[tuple[str, Location]], plural: str) -> None:
        seen: Counter[str] = Counter()
        for name, at in named:
            seen[name] += 1
            if seen[name] == 2:  # noqa: PLR2004 - the first repetition
                self.report(at, f"two {plural} are named '{name}'; give one of them another `name:`")
