"""A document to a `Suite`: the syntax of `suite.yaml`, before anything it names is looked up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs
from attrs import frozen

from jrh.document import option_types
from jrh.document.convert import Node
from jrh.document.positions import Document, Location
from jrh.errors import Problem, SuiteError
from jrh.plugins.protocols import TaskMode
from jrh.plugins.registry import Plugins
from jrh.plugins.specs import StageSpec
from jrh.suite import syntax
from jrh.suite.definition import (
    DataUse,
    JudgeUse,
    Limits,
    ModelUse,
    Price,
    Suite,
    SuiteSettings,
    TaskUse,
    TestUse,
    Turns,
    Use,
)
from jrh.suite.entries import own_options, read_flat_entry, read_tests, read_use
from jrh.suite.syntax import ALLOCATOR, DATA, JUDGE, METRIC, PARSER, REPORTER, unfit_name
from jrh.suite.syntax import read_tasks as read_tasks_of_mode
from jrh.values.cases import REFERENCE, Sampling
from jrh.values.items import Task

T = TypeVar("T")


@frozen(kw_only=True)
class Parsed:
    """What could be read of a suite; complete only where there is no problem."""

    suite: Suite
    problems: list[Problem]
    data_alone: tuple[DataUse, ...] = ()
    """Data sections whose task could not be read: what they name can still be looked up."""


@frozen(kw_only=True)
class TaskSection:
    """What could be read of one `data` and `task`."""

    tasks: Sequence[Task] = ()
    """One, or as many as the mode makes of the section."""
    mode: TaskMode | None = None
    data: DataUse | None = None
    tests: tuple[TestUse, ...] = ()
    """The tests of these tasks alone."""

    def uses(self) -> list[TaskUse]:
        """Return the tasks with their data, where both could be read."""
        return [] if self.data is None else [TaskUse(task=task, data=self.data, mode=self.mode) for task in self.tasks]


@frozen(kw_only=True)
class WrittenPrice:
    """The key of a model that is no setting of its sampling or limits."""

    price: Price | None = None


MODEL_SETTINGS: Final = (Sampling, Limits, Turns, WrittenPrice)
"""The classes whose fields are the suite's own keys of a model."""


def parse_suite(document: Document, plugins: Plugins, base: Path) -> Parsed:
    """Read the suite a document holds, and find all mistakes of its syntax.

    The plugins are asked for one thing: which options a component has itself, so that those are not taken for the
    suite's own keys.

    Raises:
        SuiteError: the document is no mapping.
    """
    value = document.value
    if not isinstance(value, Mapping):
        kind = option_types.describe_value(value)
        what = f"a suite is a mapping with keys such as name, data and judges; got {kind}"
        message = "the suite is empty; `jrh init` writes one to start from" if value is None else what
        raise SuiteError([document.problem((), message)])
    root = Node(value=value, document=document, base=base)
    # Section by section, so that a mistake in one does not hide those of the others.
    root.allow_keys(
        (*syntax.SECTIONS, *(entry.spec.key for entry in plugins.stages if entry.spec.key and not entry.spec.of_data))
    )
    name = read_name(root)
    # Not recursive: the values of the keys stay objects of their own classes.
    settings = attrs.asdict(root.read_keys_of(SuiteSettings), recurse=False)
    sections = read_tasks(root, name, plugins)
    metrics, added = read_metrics(root, plugins)
    suite = Suite(
        name=name,
        tasks=tuple(use for section in sections for use in section.uses()),
        models=_by_name(root, "models", lambda node, key: read_model(node, key, plugins)),
        parsers=_by_name(root, "parsers", lambda node, key: read_parser(node, key, plugins)),
        tests=(*read_tests(root, plugins), *(test for section in sections for test in section.tests)),
        judges=_read_judges(root, plugins),
        metrics=metrics,
        added_metrics=added,
        allocate=read_use(root["allocate"], ALLOCATOR, plugins) if value.get("allocate") is not None else None,
        reports=_uses(root, "reports", lambda node: read_use(node, REPORTER, plugins)) if "reports" in value else None,
        stages=_stages(root, plugins),
        base=base,
        source=document.source,
        **settings,
    )
    _check_names(suite, root)
    # A mistake in the task does not hide those of its data.
    alone = tuple(section.data for section in sections if section.data and not section.tasks)
    return Parsed(suite=suite, problems=root.problems, data_alone=alone)


def read_tasks(suite: Node, name: str, plugins: Plugins) -> list[TaskSection]:
    """Read all tasks of a suite; the only one has the suite's name."""
    if "tasks" not in suite.value:
        return [read_task(suite, name, plugins)]
    for key in ("data", "task"):
        if key in suite.value:
            suite.report("cannot be combined with `tasks`; move it into one of the tasks", key)
    sections = [_read_named_task(entry, plugins) for entry in suite.entries("tasks")]
    if suite.value["tasks"] == []:
        # An empty list would be a run without a question.
        suite.report("name at least one task", "tasks")
    return sections


def read_task(node: Node, name: str, plugins: Plugins) -> TaskSection:
    """Read a mapping that holds `data` and `task`."""
    data = None if (section := node.section("data")) is None else read_data(section, plugins)
    section = node.section("task")
    tasks, mode = ((), None) if section is None else read_tasks_of_mode(section, name, plugins)
    return TaskSection(tasks=tasks, data=data, mode=mode)


def read_data(node: Node, plugins: Plugins) -> DataUse | None:
    """Read a section `data`."""
    if DATA.key not in node.value:
        node.report("missing key 'source': name the data source, such as `source: csv`")
        return None
    options_of_source = own_options(plugins, DATA.plural, str(node.value[DATA.key]))
    declared = {entry.spec.key: entry.spec for entry in plugins.stages if entry.spec.of_data}
    # A key of a stage is the source's own where the source has an option of that name.
    stages: dict[str, Any] = {}
    for key in [key for key in declared if node.value.get(key) is not None and key not in options_of_source]:
        options = node.with_value(_options_of(declared[key], node.value[key]), key).try_read(declared[key].options)
        stages[declared[key].name] = options
    source_keys = {key: value for key, value in node.value.items() if key not in declared or key in options_of_source}
    # Without the keys of stages, which would be unknown options of the source.
    written = read_flat_entry(node.with_value(source_keys), DATA, plugins)
    return None if written is None else written.use(DataUse, stages=stages)


def read_name(node: Node) -> str:
    """Read the key `name`, which has to be there and to be fit for one."""
    name = node.read_required("name", str, default="")
    if node.value.get("name") == "":
        node.report("the name is empty", "name")
    elif name and (unfit := unfit_name(name)):
        node.report(unfit, "name")
    return name


def _read_named_task(node: Node, plugins: Plugins) -> TaskSection:
    if not node.is_mapping("a mapping with name, data and task"):
        return TaskSection()
    node.allow_keys(("name", "data", "task", "tests"))
    section = read_task(node, read_name(node), plugins)
    names = tuple(task.name for task in section.tasks)
    # A mode may make several tasks of a section: the tests belong to all of them.
    return attrs.evolve(section, tests=tuple(_restrict_to(test, names) for test in read_tests(node, plugins)))


def _restrict_to(test: TestUse, tasks: tuple[str, ...]) -> TestUse:
    """Return a test, and the steps of a chain, as those of some tasks alone."""
    return attrs.evolve(test, tasks=tasks, steps=tuple(_restrict_to(step, tasks) for step in test.steps))


def read_model(node: Node, name: str, plugins: Plugins) -> ModelUse | None:
    """Read an entry of `models`: a provider, its options, and the suite's own keys."""
    if not node.is_mapping("a mapping with a provider and its options"):
        return None
    provider = node.read_required("provider", str, default="")
    theirs = own_options(plugins, "models", provider)
    # A provider's own option of the same name wins: its author decided what it means.
    ours = {"provider", *(key for cls in MODEL_SETTINGS for key in option_types.field_names(cls) if key not in theirs)}
    return ModelUse(
        name=name,
        component=provider,
        options={key: part for key, part in node.value.items() if key not in ours},
        location=node.at,
        sampling=node.read_keys_of(Sampling, leave=theirs),
        limits=node.read_keys_of(Limits, leave=theirs),
        price=node.read_keys_of(WrittenPrice, leave=theirs).price,
        turns=node.read_keys_of(Turns, leave=theirs),
    )


def read_parser(node: Node, name: str, plugins: Plugins) -> Use | None:
    """Read an entry of `parsers`."""
    if not node.is_mapping("a mapping with a parser and its options"):
        return None
    if PARSER.key not in node.value:
        node.report("missing key 'parser': name the component, such as `parser: json`")
        return None
    written = read_flat_entry(node, PARSER, plugins)
    if written is None:
        return None
    return Use(name=name, component=written.component, options=written.options, location=node.at)


def _read_judges(suite: Node, plugins: Plugins) -> tuple[JudgeUse, ...]:
    if "judges" not in suite.value:
        suite.report("missing key 'judges'")
    elif suite.value["judges"] == []:
        suite.report("name at least one judge", "judges")
    return _uses(suite, "judges", lambda node: read_use(node, JUDGE, plugins, JudgeUse))


def read_metrics(suite: Node, plugins: Plugins) -> tuple[tuple[Use, ...] | None, tuple[Use, ...]]:
    """Return the metrics that replace the defaults, None where none do, and those that are added to them."""
    if "metrics" not in suite.value:
        return None, ()
    section = suite["metrics"]
    read = partial(read_use, role=METRIC, plugins=plugins)
    if not isinstance(section.value, Mapping):
        return _uses(suite, "metrics", read), ()
    section.allow_keys((syntax.ADD,))
    return None, _uses(section, syntax.ADD, read)


def _options_of(spec: StageSpec, value: Any) -> Any:
    """Return the options of a stage; its only option may be written alone."""
    names = option_types.field_names(spec.options)
    # Shorter for people: `key: value` instead of a mapping with a single entry.
    return {names[0]: value} if len(names) == 1 and value is not None and not isinstance(value, Mapping) else value


def _stages(suite: Node, plugins: Plugins) -> tuple[Use, ...]:
    """Read the sections that declared stages have in the suite."""
    stages = []
    for entry in plugins.stages:
        key = entry.spec.key
        # Keys of `data` are read with the data.
        value = suite.value.get(key) if key and not entry.spec.of_data else None
        value = _options_of(entry.spec, value)
        if value is not None and suite.with_value(value, key).is_mapping("a mapping of options"):
            stages.append(Use(name=entry.spec.name, component=entry.qualified, options=value, location=(key,)))
    return tuple(stages)


def _uses(suite: Node, key: str, read: Callable[[Node], T | None]) -> tuple[T, ...]:
    return tuple(use for entry in suite.entries(key) if (use := read(entry)) is not None)


def _by_name(suite: Node, key: str, read: Callable[[Node, str], T | None]) -> dict[str, T]:
    if key not in suite.value or not suite[key].is_mapping(f"a mapping from names to {key}"):
        return {}
    section = suite[key]
    # What could not be read is reported, and left out so that the rest is still checked.
    return {name: use for name in section.value if (use := read(section[name], name)) is not None}


def _check_names(suite: Suite, root: Node) -> None:
    _check_distinct([(use.task.name, (*use.data.location[:-1], "name")) for use in suite.tasks], "tasks", root)
    for named in (*suite.models.values(), *suite.parsers.values()):
        _check_fit(named, root)
    metrics = (*(suite.metrics or ()), *suite.added_metrics)
    for plural, uses in {"judges": suite.judges, "metrics": metrics, "reports": suite.reports}.items():
        for use in uses or ():
            _check_fit(use, root)
        _check_distinct(_places(uses or ()), plural, root)
    _check_tests(suite, root)


def _check_tests(suite: Suite, root: Node) -> None:
    """Report names of tests that are given twice for one task; two tasks may each have a test of one name."""
    by_task: dict[Location, list[TestUse]] = {}
    for test in suite.tests:
        _check_fit(test, root)
        # By the place of the task in the document, since tasks of one section share their tests. Without: all tasks.
        by_task.setdefault(() if test.tasks is None else test.location[:2], []).append(test)
    taken = {test.name for test in by_task.get((), ())}
    for at, tests in by_task.items():
        _check_distinct(_places(tests), "tests", root)
        for test in tests:
            if at and test.name in taken:
                message = f"the suite has a test '{test.name}' that serves all tasks; give this one another `name:`"
                root.report_at(test.location, message)
    # A crossing makes many tests of one entry; what is wrong with the entry is one mistake.
    written = {use.location: use for test in suite.tests for use in (test, *test.steps)}
    for use in written.values():
        _check_distinct(_places(use.validate), "validators", root)
        if use.name == REFERENCE:
            root.report_at(use.location, f"'{REFERENCE}' is the name of the unperturbed condition; choose another")


def _places(uses: Iterable[Use]) -> list[tuple[str, Location]]:
    return [(use.name, use.location) for use in uses]


def _check_fit(use: Use, root: Node) -> None:
    if use.name and (unfit := unfit_name(use.name)):
        root.report_at(use.location, unfit)


def _check_distinct(named: Iterable[tuple[str, Location]], plural: str, root: Node) -> None:
    counts: Counter[str] = Counter()
    for name, at in named:
        counts[name] += 1
        # Once for each name, however often it is repeated.
        if counts[name] == 2:  # noqa: PLR2004 - the first repetition
            root.report_at(at, f"two {plural} are named '{name}'; give one of them another `name:`")
