"""A suite and the installed plugins to a suite whose components are known and whose options are typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import attrs
from attrs import Factory, define, field, frozen

from jrh.document.config import document_of, in_order, read_document
from jrh.document.positions import Document, Location
from jrh.errors import SuiteError
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import (
    DataSourceSpec,
    JudgeKind,
    JudgeSpec,
    MetricSpec,
    ModelSpec,
    ParserSpec,
    PerturberSpec,
    ReporterSpec,
    Spec,
    ValidatorSpec,
)
from jrh.suite import syntax
from jrh.suite.definition import Limits, Suite, TestUse, Use
from jrh.suite.filters import filter_problems
from jrh.suite.lookup import Lookup
from jrh.suite.overrides import override
from jrh.suite.parse import parse_suite
from jrh.suite.references import located_references
from jrh.values.types import Mode, Sampling, Task

S = TypeVar("S", bound=Spec)

_MODEL_KEYS: Final = (
    "provider",
    *(attribute.name for cls in (Sampling, Limits) for attribute in attrs.fields(cls)),
    "price",
)


@frozen(kw_only=True)
class Resolved(Generic[S]):
    """One component of the suite, found and with its options read."""

    use: Use
    entry: Entry[S]
    options: Any
    """An instance of the component's options class."""
    parts: tuple[Resolved[Any], ...] = ()
    """The parsers and validators its options refer to, each with its own options."""


@frozen(kw_only=True)
class Step:
    """One perturber of a test, with the validators of what it drafts."""

    use: TestUse
    component: Resolved[PerturberSpec]
    validators: tuple[Resolved[ValidatorSpec], ...] = ()
    """In the order they are asked: the perturber's own, then the suite's."""


@frozen(kw_only=True)
class ResolvedTest:
    """One test of the suite: a perturber, or a chain of them."""

    use: TestUse
    steps: tuple[Step, ...]
    """In the order they are applied; one unless the test is a chain."""
    validators: tuple[Resolved[ValidatorSpec], ...] = ()
    """Those of a chain, asked about what its last step made; a single step's are its own."""

    @property
    def components(self) -> tuple[Resolved[Any], ...]:
        """Return every perturber and validator of the test."""
        parts: list[Resolved[Any]] = []
        for step in self.steps:
            parts += [step.component, *step.validators]
        return (*parts, *self.validators)


@frozen(kw_only=True)
class ResolvedSuite:
    """A suite that can be run."""

    suite: Suite
    """As filtered: only the tests and judges that were asked for."""
    sources: tuple[Resolved[DataSourceSpec], ...]
    """One per task, in the order of `suite.tasks`."""
    models: Mapping[str, Resolved[ModelSpec]]
    tests: tuple[ResolvedTest, ...]
    judges: tuple[Resolved[JudgeSpec], ...]
    metrics: tuple[Resolved[MetricSpec], ...]
    reporters: tuple[Resolved[ReporterSpec], ...]
    parsers: Mapping[str, Resolved[ParserSpec]] = Factory(dict)
    """The entries of the suite's `parsers`."""
    limit: int | None = None
    """Items taken of every task at most."""


def applies(component: Resolved[Any], task: Task) -> bool:
    """Tell whether a perturber or a judge is made for the task's mode; a suite uses it for such tasks only."""
    return task.mode in component.entry.spec.modes


def is_made_for(test: ResolvedTest, task: Task) -> bool:
    """Tell whether every perturber of a test is made for the task's mode."""
    return all(applies(step.component, task) for step in test.steps)


def tests_of(resolved: ResolvedSuite, task: Task) -> tuple[ResolvedTest, ...]:
    """Return the tests that are made for a task's mode."""
    return tuple(test for test in resolved.tests if is_made_for(test, task))


def load_suite(
    suite: Path | str | Mapping[str, Any],
    plugins: Plugins,
    *,
    overrides: Sequence[str] = (),
    judges: Sequence[str] = (),
    tests: Sequence[str] = (),
    limit: int | None = None,
) -> ResolvedSuite:
    """Read a suite and find everything it names.

    Args:
        suite: a YAML or JSON file, or the same as a dict; a dict's paths are relative to the current directory.
        plugins: what is installed.
        overrides: settings such as `data.sample.n=10`, applied in order.
        judges: names of the judges to keep; all where empty.
        tests: names of the tests to keep; all where empty. `reference` alone keeps none.
        limit: at most so many items of every task.

    Raises:
        SuiteError: with every mistake of the suite at once.
    """
    document, base = _document(suite)
    for setting in overrides:
        document = override(document, setting)
    parsed = parse_suite(document, plugins, base)
    if parsed.suite is None:
        raise SuiteError(parsed.problems)
    resolver = _Resolver(document=document, plugins=plugins, suite=parsed.suite, problems=parsed.problems)
    resolved = resolver.resolve(parsed.data_alone)
    # A judge that could not be read must not be called unknown as well.
    problems = resolver.problems or filter_problems(parsed.suite, judges, tests, limit)
    if problems:
        raise SuiteError(in_order(dict.fromkeys(problems)))
    return _filtered(resolved, judges, tests, limit)


def references(options: object) -> list[tuple[str, str]]:
    """Return what options refer to, as (`model`, `parser` or `validator`; name), in the order of the fields."""
    return [(kind, name) for kind, name, _ in located_references(options, type(options))]


def parts_of(components: Iterable[Resolved[Any]]) -> Iterator[Resolved[Any]]:
    """Yield the parsers and validators that components refer to, and those that these refer to."""
    for component in components:
        yield from component.parts
        yield from parts_of(component.parts)


def simulated_judges(resolved: ResolvedSuite) -> frozenset[str]:
    """Return the names of the judges whose answers are made up: by themselves, or by a model they ask."""
    return frozenset(
        judge.use.name
        for judge in resolved.judges
        if judge.entry.spec.kind is JudgeKind.SIMULATED or _asks_simulated(judge.options, resolved, frozenset())
    )


def _document(suite: Path | str | Mapping[str, Any]) -> tuple[Document, Path]:
    if isinstance(suite, Mapping):
        return document_of(suite), Path()
    return read_document(Path(suite)), Path(suite).parent


def _asks_simulated(options: object, resolved: ResolvedSuite, asked: frozenset[str]) -> bool:
    names = {name for kind, name in references(options) if kind == "model" and name in resolved.models} - asked
    models = [resolved.models[name] for name in sorted(names)]
    return any(
        model.entry.spec.simulated or _asks_simulated(model.options, resolved, asked | names) for model in models
    )


@define(kw_only=True)
class _Resolver(Lookup):
    """Resolves section by section."""

    _parsers: dict[str, Resolved[ParserSpec] | None] = field(factory=dict)
    _under_way: list[str] = field(factory=list)
    """What is being resolved, so that nothing refers to itself."""

    def resolve(self, data_alone: Sequence[Use]) -> ResolvedSuite:
        """Resolve every part; the result is complete if there is no problem."""
        suite, plugins = self.suite, self.plugins
        for data in data_alone:
            self._use(data, plugins.data_sources, syntax.DATA)
        sources = [self._use(task.data, plugins.data_sources, syntax.DATA) for task in suite.tasks]
        models = {name: self._model(name) for name in suite.models}
        parsers = {name: self._parser(name, use.location) for name, use in suite.parsers.items()}
        tests = [self._test(test) for test in suite.tests]
        judges = [self._use(judge, plugins.judges, syntax.JUDGE) for judge in suite.judges]
        for judge in judges:
            self._check_modes(judge)
        return ResolvedSuite(
            suite=suite,
            sources=_found(sources),
            models={name: model for name, model in models.items() if model},
            parsers={name: parser for name, parser in parsers.items() if parser},
            tests=_found(tests),
            judges=_found(judges),
            metrics=self._metrics(),
            reporters=self._reporters(),
        )

    def _use(self, use: Use, registry: Registry[S], role: syntax.Role, *, prefer: str = "") -> Resolved[S] | None:
        entry = self.find(use, registry, role.key, prefer)
        settings = (attribute.name for attribute in attrs.fields(role.settings))
        return None if entry is None else self._resolved(use, entry, (role.key, *settings))

    def _resolved(self, use: Use, entry: Entry[S], ours: tuple[str, ...]) -> Resolved[S] | None:
        options = self.options(use, entry, ours)
        if options is None:
            return None
        return Resolved(use=use, entry=entry, options=options, parts=self._parts(use.location, entry, options))

    def _parts(self, at: Location, entry: Entry[Any], options: object) -> tuple[Resolved[Any], ...]:
        """Check everything that options refer to, and resolve what is not a model."""
        found = []
        for kind, name, where in located_references(options, entry.spec.options, at):
            if kind == "model":
                self.check_model(name, where)
            else:
                found.append(self._part(kind, name, where, entry))
        return _found(found)

    def _part(self, kind: str, name: str, at: Location, asker: Entry[Any]) -> Resolved[Any] | None:
        """Resolve an entry of the suite's `parsers`, or a component with its default options."""
        if kind == "parser" and name in self.names("parsers"):
            return self._parser(name, at)
        entry = self.referred(kind, name, at, asker.distribution)
        if entry is None:
            return None
        use = Use(name=name, component=entry.qualified, location=at)
        return self._guarded(f"{kind} '{entry.qualified}'", at, lambda: self._resolved(use, entry, ()))

    def _parser(self, name: str, at: Location) -> Resolved[ParserSpec] | None:
        use = self.suite.parsers.get(name)
        if use is None:  # it could not be read, which is reported already
            return None
        if name not in self._parsers:
            self._parsers[name] = self._guarded(
                f"parser '{name}'", at, lambda: self._use(use, self.plugins.parsers, syntax.PARSER)
            )
        return self._parsers[name]

    def _guarded(self, what: str, at: Location, resolve: Callable[[], Resolved[S] | None]) -> Resolved[S] | None:
        if what in self._under_way:
            self.problems.append(self.document.wrong(at, f"{what} refers to itself"))
            return None
        self._under_way.append(what)
        try:
            return resolve()
        finally:
            self._under_way.pop()

    def _model(self, name: str) -> Resolved[ModelSpec] | None:
        use = self.suite.models[name]
        entry = self.find(use, self.plugins.models, "provider") if use.component else None
        return None if entry is None else self._resolved(use, entry, _MODEL_KEYS)

    def _test(self, use: TestUse) -> ResolvedTest | None:
        if not use.steps:
            step = self._step(use)
            return None if step is None else ResolvedTest(use=use, steps=(step,))
        steps = [self._step(each) for each in use.steps]
        validators = [self._use(validator, self.plugins.validators, syntax.VALIDATOR) for validator in use.validate]
        if None in steps:
            return None
        test = ResolvedTest(use=use, steps=_found(steps), validators=_found(validators))
        self._check_chain(test)
        return test

    def _check_chain(self, test: ResolvedTest) -> None:
        """Report a chain whose perturbers fit tasks each, but no task together."""
        fits = [[applies(step.component, use.task) for use in self.suite.tasks] for step in test.steps]
        if all(map(any, fits)) and not any(map(all, zip(*fits, strict=True))):
            message = (
                f"the perturbers of '{test.use.name}' fit no task together; leave out the one that is for other modes"
            )
            self.problems.append(self.document.problem(test.use.location, message))

    def _step(self, use: TestUse) -> Step | None:
        component = self._use(use, self.plugins.perturbers, syntax.TEST)
        named = [self._use(validator, self.plugins.validators, syntax.VALIDATOR) for validator in use.validate]
        if component is None:
            return None
        self._check_modes(component)
        own = self._own_validators(component.entry, use)
        # A validator the suite names as well is asked once, with the suite's options.
        again = {validator.entry.qualified for validator in named if validator}
        validators = [validator for validator in own if validator.entry.qualified not in again]
        return Step(use=use, component=component, validators=(*validators, *_found(named)))

    def _own_validators(self, entry: Entry[PerturberSpec], test: TestUse) -> tuple[Resolved[ValidatorSpec], ...]:
        uses = [
            Use(name=name.rpartition("/")[2], component=name, location=test.location) for name in entry.spec.validators
        ]
        return _found(
            [self._use(use, self.plugins.validators, syntax.VALIDATOR, prefer=entry.distribution) for use in uses]
        )

    def _check_modes(self, component: Resolved[Any] | None) -> None:
        """Report a perturber or a judge that fits no task; one that fits some is used for those."""
        if component is None or any(applies(component, use.task) for use in self.suite.tasks):
            return
        tasks = self.section("tasks")
        if len(self.suite.tasks) < (len(tasks) if tasks and isinstance(tasks, list) else 1):
            return  # it may be made for a task that could not be read
        able = ", ".join(mode.value for mode in Mode if mode in component.entry.spec.modes)
        tasks = ", ".join(f"'{use.task.name}' is {use.task.mode.value}" for use in self.suite.tasks)
        self.problems.append(
            self.document.problem(
                component.use.location,
                f"'{component.use.name}' fits no task: {tasks}; '{component.entry.spec.name}' is for: {able}",
            )
        )

    def _metrics(self) -> tuple[Resolved[MetricSpec], ...]:
        registry = self.plugins.metrics
        if self.suite.metrics is None:
            return _found([self._default(entry, registry) for entry in registry if entry.spec.default])
        return _found([self._use(use, registry, syntax.METRIC) for use in self.suite.metrics])

    def _reporters(self) -> tuple[Resolved[ReporterSpec], ...]:
        registry = self.plugins.reporters
        if self.suite.reports is None:
            return _found([self._default(entry, registry) for entry in registry if entry.spec.default])
        found = _found([self._use(use, registry, syntax.REPORTER) for use in self.suite.reports])
        for place, one in enumerate(found):
            name = one.entry.spec.filename
            if name and name in [other.entry.spec.filename for other in found[:place]]:
                message = f"two reports are written to '{name}'; keep one of them"
                self.problems.append(self.document.wrong(one.use.location, message))
        return found

    def _default(self, entry: Entry[S], registry: Registry[S]) -> Resolved[S] | None:
        """Resolve a component that is used because it is installed."""
        alike = [other for other in registry if other.spec.name == entry.spec.name]
        name = entry.spec.name if len(alike) == 1 else entry.qualified
        use = Use(name=name, component=entry.qualified)
        return self._resolved(use, entry, ())


R = TypeVar("R")


def _found(parts: Sequence[R | None]) -> tuple[R, ...]:
    return tuple(part for part in parts if part is not None)


def _filtered(resolved: ResolvedSuite, judges: Sequence[str], tests: Sequence[str], limit: int | None) -> ResolvedSuite:
    kept_judges = tuple(judge for judge in resolved.judges if not judges or judge.use.name in judges)
    kept_tests = tuple(test for test in resolved.tests if not tests or test.use.name in tests)
    judge_names = [judge.use.name for judge in kept_judges]
    suite = attrs.evolve(
        resolved.suite,
        judges=tuple(use for use in resolved.suite.judges if use.name in judge_names),
        tests=tuple(test.use for test in kept_tests),
    )
    return attrs.evolve(resolved, suite=suite, judges=kept_judges, tests=kept_tests, limit=limit)
