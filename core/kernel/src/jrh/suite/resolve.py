"""A suite and the installed plugins to a suite whose components are known and whose options are typed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import attrs

from jrh.document.convert import Node
from jrh.document.option_types import field_names
from jrh.document.positions import Document, did_you_mean
from jrh.document.yaml_reader import document_of, in_order, read_document
from jrh.errors import Problem, SuiteError
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import MetricSpec, ModelSpec, PerturberSpec, ReporterSpec, Spec, ValidatorSpec
from jrh.suite import syntax
from jrh.suite.definition import Suite, TestUse, Use
from jrh.suite.lookup import Lookup, refuse_keys
from jrh.suite.overrides import JudgeArgument, add_judges, override, with_data, with_objects
from jrh.suite.parse import MODEL_SETTINGS, parse_suite, read_metrics
from jrh.suite.resolved import Resolved, ResolvedSuite, ResolvedTest, Step, applies, serves
from jrh.values.cases import REFERENCE
from jrh.values.items import Mode
from jrh.values.json_values import Json

R = TypeVar("R")
S = TypeVar("S", bound=Spec)

_MODEL_KEYS: Final = ("provider", *(name for cls in MODEL_SETTINGS for name in field_names(cls)))


def load_suite(
    suite: Path | str | Mapping[str, Any],
    plugins: Plugins,
    *,
    overrides: Sequence[str] = (),
    judges: Sequence[JudgeArgument] = (),
    tests: Sequence[str] = (),
    limit: int | None = None,
    data: object = None,
) -> ResolvedSuite:
    """Read a suite and find everything it names.

    Args:
        suite: a YAML or JSON file, or the same as a dict; a dict's paths are relative to the current directory.
        plugins: what is installed.
        overrides: settings such as `data.sample.n=10`, applied in order.
        judges: the judges to keep, by name, and judges to add, as callables or entries; all of the suite where empty.
        tests: names of the tests to keep; all where empty. `reference` alone keeps none.
        limit: at most so many items of every task.
        data: rows or a table to read the items from, in place of the suite's data.

    Raises:
        SuiteError: with every mistake of the suite at once.
        JrhError: no installed plugin takes a Python object that the suite holds.
    """
    # Before anything is read, so that what follows sees entries only.
    document, base = _document(with_objects(suite, plugins))
    value, names = add_judges(with_data(document.value, data, plugins), judges, plugins)
    if value is not document.value:
        document = attrs.evolve(document, value=document_of(value).value)
    # After judges were added, so that a setting can change them.
    for setting in overrides:
        document = override(document, setting)
    refuse_keys(document, base)
    parsed = parse_suite(document, plugins, base)
    lookup = Lookup(document=document, plugins=plugins, suite=parsed.suite, problems=parsed.problems)
    for alone in parsed.data_alone:
        lookup.component(alone, syntax.DATA)
    resolved = _resolve(lookup, names)
    # A judge that could not be read must not be called unknown as well.
    problems = lookup.problems or _filter_problems(parsed.suite, names, tests, limit)
    if problems:
        raise SuiteError(in_order(dict.fromkeys(problems)))
    return _filter(resolved, tests, limit)


def resolve_metrics(written: Path | Json, plugins: Plugins) -> tuple[Resolved[MetricSpec], ...]:
    """Resolve a section `metrics` outside a suite: what it names, or adds to the defaults.

    Args:
        written: a file with the key `metrics`, or what that key holds.
        plugins: what is installed.

    Raises:
        SuiteError: with every mistake of the section.
    """
    document, base = _document(written if isinstance(written, Path) else {"metrics": written})
    root = Node(value=document.value, document=document, base=base)
    metrics, added = read_metrics(root, plugins)
    suite = Suite(name="metrics", tasks=(), judges=(), metrics=metrics, added_metrics=added, base=base)
    lookup = Lookup(document=document, plugins=plugins, suite=suite, problems=root.problems)
    resolved = _metrics(lookup)
    if lookup.problems:
        raise SuiteError(in_order(dict.fromkeys(lookup.problems)))
    return resolved


def _document(suite: Path | str | Mapping[str, Any]) -> tuple[Document, Path]:
    if isinstance(suite, Mapping):
        return document_of(suite), Path()
    return read_document(Path(suite)), Path(suite).parent


def _resolve(lookup: Lookup, judges: Sequence[str]) -> ResolvedSuite:
    """Resolve section by section; the result is complete if there is no problem."""
    suite = lookup.suite
    # Whoever asks for some judges need not have the code of the others.
    wanted = [judge for judge in suite.judges if not judges or judge.name in judges]
    metrics = _metrics(lookup)
    registry = lookup.plugins.stages
    stages = [lookup.resolve_options(use, registry.find(use.component), ()) for use in suite.stages]
    for name, message in lookup.plugins.wrong_floors(suite.findings.floors).items():
        lookup.problems.append(lookup.document.problem(("findings", "floors", name), message))
    return ResolvedSuite(
        suite=suite,
        sources=_drop_none([lookup.component(task.data, syntax.DATA) for task in suite.tasks]),
        models={name: model for name, use in suite.models.items() if (model := _model(use, lookup))},
        parsers={name: parser for name, use in suite.parsers.items() if (parser := lookup.parser(name, use.location))},
        tests=_drop_none([_test(test, lookup) for test in suite.tests]),
        judges=_drop_none([_check_modes(lookup.component(judge, syntax.JUDGE), lookup) for judge in wanted]),
        metrics=metrics,
        allocator=None if suite.allocate is None else lookup.component(suite.allocate, syntax.ALLOCATOR),
        reporters=_reporters(lookup),
        stages={stage.use.name: stage for stage in _drop_none(stages)},
    )


def _model(use: Use, lookup: Lookup) -> Resolved[ModelSpec] | None:
    entry = lookup.entry(use, lookup.plugins.models, "provider") if use.component else None
    return None if entry is None else lookup.resolve_options(use, entry, _MODEL_KEYS)


def _test(use: TestUse, lookup: Lookup) -> ResolvedTest | None:
    if not use.steps:
        step = _step(use, lookup)
        return None if step is None else ResolvedTest(use=use, steps=(step,))
    steps = [_step(step, lookup) for step in use.steps]
    validators = [lookup.component(validator, syntax.VALIDATOR) for validator in use.validate]
    # A step is missing, and its mistake is reported: whether the others fit means nothing.
    if None in steps:
        return None
    test = ResolvedTest(use=use, steps=_drop_none(steps), validators=_drop_none(validators))
    _check_chain(test, lookup)
    return test


def _step(use: TestUse, lookup: Lookup) -> Step | None:
    component = lookup.component(use, syntax.TEST)
    named = _drop_none([lookup.component(validator, syntax.VALIDATOR) for validator in use.validate])
    if component is None:
        return None
    _check_modes(component, lookup)
    declared = _own_validators(component.entry, use, lookup)
    # A validator the suite names as well is asked once, with the suite's options.
    again = {validator.entry.qualified for validator in named}
    return Step(
        use=use,
        component=component,
        validators=(*(validator for validator in declared if validator.entry.qualified not in again), *named),
    )


def _own_validators(entry: Entry[PerturberSpec], test: TestUse, lookup: Lookup) -> tuple[Resolved[ValidatorSpec], ...]:
    """Resolve the validators that a perturber declares for whatever it drafts."""
    uses = [Use(name=name.rpartition("/")[2], component=name, location=test.location) for name in entry.spec.validators]
    return _drop_none([lookup.component(use, syntax.VALIDATOR, prefer=entry.distribution) for use in uses])


def _check_chain(test: ResolvedTest, lookup: Lookup) -> None:
    """Report a chain whose perturbers fit tasks each, but no task together."""
    tasks = [use.task for use in lookup.suite.tasks if serves(test.use, use.task)]
    fits = [[applies(step.component, task) for task in tasks] for step in test.steps]
    # A perturber that fits no task at all is reported on its own.
    if all(map(any, fits)) and not any(map(all, zip(*fits, strict=True))):
        message = f"no task fits all perturbers of '{test.use.name}'; leave out the one for other modes"
        lookup.problems.append(lookup.document.problem(test.use.location, message))


def _check_modes(component: Resolved[S] | None, lookup: Lookup) -> Resolved[S] | None:
    """Report a perturber or a judge that fits no task; one that fits some is used for those."""
    if component is None:
        return None
    suite, use = lookup.suite, component.use
    limited = isinstance(use, TestUse) and use.tasks is not None
    meant = [other.task for other in suite.tasks if not isinstance(use, TestUse) or serves(use, other.task)]
    if any(applies(component, task) for task in meant):
        return component
    written = lookup.section("tasks")
    unread = not meant if limited else len(suite.tasks) < (len(written) if written and isinstance(written, list) else 1)
    if unread:
        return component  # it may be made for a task that could not be read
    able = ", ".join(mode.value for mode in Mode if mode in component.entry.spec.modes)  # type: ignore[attr-defined]
    tasks = ", ".join(f"'{task.name}' is {task.mode.value}" for task in meant)
    message = f"'{component.use.name}' fits no task: {tasks}; '{component.entry.spec.name}' is for: {able}"
    lookup.problems.append(lookup.document.problem(component.use.location, message))
    return component


def _resolve_uses(
    uses: Sequence[Use] | None, role: syntax.Role, lookup: Lookup, *, apart: Collection[str] = ()
) -> tuple[Resolved[Any], ...]:
    """Resolve what the suite names or, where it names nothing, the defaults among what is installed.

    Defaults whose qualified names are in `apart` are left out.
    """
    if uses is not None:
        return _drop_none([lookup.component(use, role) for use in uses])
    registry: Registry[Any] = getattr(lookup.plugins, role.plural)
    defaults = [entry for entry in registry if entry.spec.default and entry.qualified not in apart]
    return _drop_none([_default(entry, registry, lookup) for entry in defaults])


def _metrics(lookup: Lookup) -> tuple[Resolved[MetricSpec], ...]:
    """Resolve the metrics; one that is added replaces the default of the same component."""
    added = _drop_none([lookup.component(use, syntax.METRIC) for use in lookup.suite.added_metrics])
    again = {metric.entry.qualified for metric in added}
    return (*_resolve_uses(lookup.suite.metrics, syntax.METRIC, lookup, apart=again), *added)


def _default(entry: Entry[S], registry: Registry[S], lookup: Lookup) -> Resolved[S] | None:
    alike = [other for other in registry if other.spec.name == entry.spec.name]
    # Two plugins may each have a default of one name, and reports distinguish them by name.
    name = entry.spec.name if len(alike) == 1 else entry.qualified
    return lookup.resolve_options(Use(name=name, component=entry.qualified), entry, ())


def _reporters(lookup: Lookup) -> tuple[Resolved[ReporterSpec], ...]:
    reporters = _resolve_uses(lookup.suite.reports, syntax.REPORTER, lookup)
    for place, reporter in enumerate(reporters if lookup.suite.reports is not None else ()):
        name = reporter.entry.spec.filename
        # The second would overwrite what the first wrote.
        if name and name in [other.entry.spec.filename for other in reporters[:place]]:
            message = f"two reports are written to '{name}'; keep one of them"
            lookup.problems.append(lookup.document.wrong(reporter.use.location, message))
    return reporters


def _drop_none(parts: Iterable[R | None]) -> tuple[R, ...]:
    return tuple(part for part in parts if part is not None)


def _filter_problems(suite: Suite, judges: Sequence[str], tests: Sequence[str], limit: int | None) -> list[Problem]:
    """Report filters that name nothing of the suite, and limits that leave nothing."""
    known_judges = [use.name for use in suite.judges]
    known_tests = [REFERENCE, *dict.fromkeys(use.name for use in suite.tests)]
    problems = [
        Problem(
            message=f"the suite has no {role} '{name}'\n{did_you_mean(name, known)}It has: {', '.join(known)}.",
            source=f"--{role}",
        )
        for role, names, known in (("judge", judges, known_judges), ("test", tests, known_tests))
        for name in names
        if name not in known
    ]
    if limit is not None and limit < 1:
        problems.append(Problem(message=f"must be at least 1, got {limit}", source="--limit"))
    return problems


def _filter(resolved: ResolvedSuite, tests: Sequence[str], limit: int | None) -> ResolvedSuite:
    kept_tests = tuple(test for test in resolved.tests if not tests or test.use.name in tests)
    judge_names = [judge.use.name for judge in resolved.judges]
    suite = attrs.evolve(
        resolved.suite,
        # The suite says what runs: a judge that is left out has no part in ids and messages.
        judges=tuple(use for use in resolved.suite.judges if use.name in judge_names),
        tests=tuple(test.use for test in kept_tests),
    )
    return attrs.evolve(resolved, suite=suite, tests=kept_tests, limit=limit)
