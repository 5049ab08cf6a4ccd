"""A document to a `Suite`: the syntax of `suite.yaml`, before anything it names is looked up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs
from attrs import define, field, frozen

from jrh import kinds, syntax
from jrh.convert import collect
from jrh.document import Document, Location, unknown_key
from jrh.entries import EntryReader, take
from jrh.errors import Problem
from jrh.registry import Plugins
from jrh.scales import ScaleKind
from jrh.suite import DataUse, JudgeUse, Limits, ModelUse, Price, Suite, TaskUse, TestUse, Use
from jrh.syntax import DATA, JUDGE, METRIC, PARSER, TEST, VALIDATOR, SuiteSettings, WrittenTask
from jrh.types import REFERENCE, Mode, Sampling, Task

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
        message = f"a suite is a mapping with keys such as name, data and judges; got {kinds.described(value)}"
        return Parsed(suite=None, problems=[document.problem((), message)])
    reader = _Reader(document=document, plugins=plugins, base=base)
    suite = reader.suite(value)
    return Parsed(suite=suite, problems=reader.problems, data_alone=tuple(reader.data_alone))


@frozen(kw_only=True)
class _Priced:
    price: Price | None = None


@define(kw_only=True)
class _Reader(EntryReader):
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
            tests=self._uses(value, "tests", self._test),
            judges=self._judges(value),
            metrics=self._uses(value, "metrics", self._metric) if "metrics" in value else None,
            budget=settings.budget,
            seed=settings.seed,
            reference_repeats=settings.reference.repeats,
            level=settings.level,
            resamples=settings.resamples,
            base=self.base,
            source=self.document.source,
        )
        self._check_names(suite)
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
            self.report((*at, key), f"expected a mapping, got {kinds.described(section)}")
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
            tasks = self._entries(value, "tasks", self._named_task)
            if value["tasks"] == []:
                self.report(("tasks",), "name at least one task")
        return tuple(task for task in tasks if task is not None)

    def _named_task(self, value: Any, at: Location) -> TaskUse | None:
        if not isinstance(value, Mapping):
            self.report(at, f"expected a mapping with name, data and task, got {kinds.described(value)}")
            return None
        self._known_keys(value, ("name", "data", "task"), at)
        return self._task(value, self._name(value, at), at)

    def _task(self, value: Mapping[str, Any], name: str, at: Location) -> TaskUse | None:
        data = self._data(self._mapping(value, "data", at), (*at, "data"))
        written = self._mapping(value, "task", at)
        task = None if written is None else self._asked(written, name, (*at, "task"))
        if task is not None and data is not None:
            return TaskUse(task=task, data=data)
        self.data_alone += [] if data is None else [data]
        return None

    def _asked(self, value: Mapping[str, Any], name: str, at: Location) -> Task | None:
        read, problems = collect(value, WrittenTask, base=self.base, document=self.document, location=at)
        self.problems.extend(problems)
        if read is None:
            return None
        scale = read.scale.scale()
        pairwise = scale.kind is ScaleKind.PAIRWISE
        if pairwise and read.mode not in (None, Mode.PAIRWISE):
            self.report((*at, "mode"), "a pairwise scale compares two responses; leave `mode` out")
            return None
        mode = read.mode or (Mode.PAIRWISE if pairwise else Mode.POINTWISE)
        return Task(name=name, instruction=read.instruction.content, rubric=read.rubric.content, scale=scale, mode=mode)

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
            self.report((key,), f"expected a mapping from names to {key}, got {kinds.described(section)}")
            return {}
        uses = {name: read(part, name, (key, name)) for name, part in section.items()}
        return {name: use for name, use in uses.items() if use is not None}

    def _model(self, value: Any, name: str, at: Location) -> ModelUse | None:
        if not isinstance(value, Mapping):
            self.report(at, f"expected a mapping with a provider and its options, got {kinds.described(value)}")
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
            self.report(at, f"expected a mapping with a parser and its options, got {kinds.described(value)}")
            return None
        if PARSER.key not in value:
            self.report(at, "missing key 'parser': name the component, such as `parser: json`")
            return None
        written = self.flat(value, at, PARSER)
        if written is None:
            return None
        return Use(name=name, component=written.component, options=written.options, location=at)

    def _test(self, value: Any, at: Location) -> TestUse | None:
        written = self.entry(value, at, TEST)
        if written is None:
            return None
        settings = written.settings
        validators = self._entries({"validate": settings.validate}, "validate", self._validator, written.location)
        return TestUse(
            **written.common(),
            validate=tuple(use for use in validators if use is not None),
            on_mismatch=settings.on_mismatch,
            repeats=settings.repeats,
        )

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

    def _validator(self, value: Any, at: Location) -> Use | None:
        written = self.entry(value, at, VALIDATOR)
        return None if written is None else Use(**written.common())

    def _uses(self, value: Mapping[str, Any], key: str, read: Callable[[Any, Location], T | None]) -> tuple[T, ...]:
        return tuple(use for use in self._entries(value, key, read) if use is not None)

    def _entries(
        self, value: Mapping[str, Any], key: str, read: Callable[[Any, Location], T], at: Location = ()
    ) -> list[T]:
        entries = value.get(key, [])
        if not isinstance(entries, list | tuple):
            self.report((*at, key), f"expected a list, got {kinds.described(entries)}")
            return []
        return [read(entry, (*at, key, position)) for position, entry in enumerate(entries)]

    def _check_names(self, suite: Suite) -> None:
        self._distinct([(use.task.name, (*use.data.location[:-1], "name")) for use in suite.tasks], "tasks")
        for named in (*suite.models.values(), *suite.parsers.values()):
            self._check_name(named.name, named.location)
        for plural, uses in (("tests", suite.tests), ("judges", suite.judges), ("metrics", suite.metrics or ())):
            for use in uses:
                self._check_name(use.name, use.location)
            self._distinct([(use.name, use.location) for use in uses], plural)
        for test in suite.tests:
            self._distinct([(use.name, use.location) for use in test.validate], "validators")
            if test.name == REFERENCE:
                self.report(test.location, f"'{REFERENCE}' is the name of the unperturbed condition; choose another")

    def _check_name(self, name: str, at: Location) -> None:
        if name and (not name.isprintable() or name != name.strip() or {"/", "\\"} & set(name)):
            self.report(at, f"the name '{name}' has a slash, a line break or white space around it; choose another")

    def _distinct(self, named: list[tuple[str, Location]], plural: str) -> None:
        seen: Counter[str] = Counter()
        for name, at in named:
            seen[name] += 1
            if seen[name] == 2:  # noqa: PLR2004 - the first repetition
                self.report(at, f"two {plural} are named '{name}'; give one of them another `name:`")
