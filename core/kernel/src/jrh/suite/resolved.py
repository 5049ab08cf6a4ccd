"""A suite that can be run: its components found, with typed options; and the part of it that is one shard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar, get_args

from attrs import Factory, evolve, frozen

from jrh.document import option_types
from jrh.document.positions import Location
from jrh.errors import Problem, SuiteError
from jrh.hashing import content_id
from jrh.plugins.component_identity import Source
from jrh.plugins.registry import Entry
from jrh.plugins.specs import (
    AllocatorSpec,
    DataSourceSpec,
    JudgeKind,
    JudgeSpec,
    MetricSpec,
    ModelSpec,
    ParserSpec,
    PerturberSpec,
    ReporterSpec,
    Scope,
    Spec,
    StageSpec,
    ValidatorSpec,
)
from jrh.suite.definition import ModelUse, Suite, TestUse, Use
from jrh.values.clusters import clusters_of
from jrh.values.items import Item, Task


@frozen
class Shard:
    """The part of a run that one process makes: number `number` of `count`, counted from 1."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> Shard | None:
        """Read `3/8`; None if it is no shard."""
        match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
        if match is None or int(match[1]) > int(match[2]):
            return None
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        """Return `3/8`."""
        return f"{self.number}/{self.count}"

    def items(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield the shard's items: clusters stay whole, and the identical question is always in the same shard."""
        cluster = clusters_of(items)
        for item in items:
            # By the content of the cluster and not by place: the same whatever the order of the data. 60 bits of it
            # divide evenly.
            if int(content_id("shard", cluster[item.id])[:15], 16) % self.count == self.number - 1:
                yield item

    def share(self, whole: int) -> int:
        """Return the shard's share of a number; those of all shards add up to it."""
        # The first shards take one more each, so that nothing is lost to rounding.
        return whole // self.count + (self.number <= whole % self.count)


S = TypeVar("S", bound=Spec)


@frozen(kw_only=True)
class Resolved(Generic[S]):
    """One component of the suite, found and with its options read."""

    use: Use
    entry: Entry[S]
    options: Any
    """An instance of the component's options class."""
    parts: tuple[Resolved[Any], ...] = ()
    """The parsers and validators its options refer to, each with its own options."""
    sources: tuple[Source, ...] = ()
    """The source that identifies it and the code its options name; nothing where all of it is an installed release."""

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Return the models that its own options refer to, by the suite's names."""
        return tuple(name for kind, name in references(self.options) if kind == "model")

    @property
    def all_models(self) -> tuple[str, ...]:
        """Return the models that it or one of its parts refers to."""
        return (*self.models, *(name for part in self.parts for name in part.all_models))


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
    sources: tuple[Resolved[DataSourceSpec], ...] = ()
    """One per task, in the order of `suite.tasks`."""
    models: Mapping[str, Resolved[ModelSpec]] = Factory(dict)
    tests: tuple[ResolvedTest, ...] = ()
    judges: tuple[Resolved[JudgeSpec], ...] = ()
    metrics: tuple[Resolved[MetricSpec], ...] = ()
    reporters: tuple[Resolved[ReporterSpec], ...] = ()
    stages: Mapping[str, Resolved[StageSpec]] = Factory(dict)
    """The declared stages that the suite has a section of, by name."""
    allocator: Resolved[AllocatorSpec] | None = None
    """What ends the judging early; None: nothing."""
    parsers: Mapping[str, Resolved[ParserSpec]] = Factory(dict)
    """The entries of the suite's `parsers`."""
    limit: int | None = None
    """Items taken of every task at most."""
    shard: Shard | None = None
    """The part of the items that is run; None: all of them."""

    @property
    def deferred_models(self) -> frozenset[str]:
        """Return the names of the models that answer hours later, and whose calls survive a kill."""
        return frozenset(name for name, model in self.models.items() if model.entry.spec.deferred)

    @property
    def simulated_judges(self) -> frozenset[str]:
        """Return the names of the judges whose answers are made up: by themselves, or by a model they ask."""
        return frozenset(
            judge.use.name
            for judge in self.judges
            if judge.entry.spec.kind is JudgeKind.SIMULATED or _asks_simulated(judge.options, self, frozenset())
        )

    def components(self) -> Iterator[Resolved[Any]]:
        """Yield the components of tests and the judges, each with its parts."""
        for component in (*(part for test in self.tests for part in test.components), *self.judges):
            yield from (component, *component.parts)

    def options(self) -> Iterator[object]:
        """Yield the options of every component that may need a secret."""
        components: tuple[Resolved[Any], ...] = (*self.sources, *self.models.values(), *self.components())
        for component in components:
            yield component.options


def applies(component: Resolved[Any], task: Task) -> bool:
    """Tell whether a perturber or a judge is made for the task's mode; a suite uses it for such tasks only."""
    return task.mode in component.entry.spec.modes


def is_made_for(test: ResolvedTest, task: Task) -> bool:
    """Tell whether every perturber of a test is made for the task's mode."""
    return all(applies(step.component, task) for step in test.steps)


def serves(test: TestUse, task: Task) -> bool:
    """Tell whether a test is one of the task's: a test of the whole suite, or one of the task's own."""
    return test.tasks is None or task.name in test.tasks


def tests_of(resolved: ResolvedSuite, task: Task) -> tuple[ResolvedTest, ...]:
    """Return the tests of a task that are made for its mode: the suite's, then its own."""
    return tuple(test for test in resolved.tests if serves(test.use, task) and is_made_for(test, task))


def references(options: object) -> list[tuple[str, str]]:
    """Return what options refer to, as (`model`, `parser` or `validator`; name), in the order of the fields."""
    return [(kind, name) for kind, name, _ in locate(options, type(options), (), option_types.REFERENCES)]


def locate(value: object, kind: Any, at: Location, wanted: Mapping[Any, str]) -> Iterator[tuple[str, str, Location]]:
    """Yield what is wanted in a value of a type, as (what it names; the name; location).

    Args:
        value: such as the options of a component.
        kind: its type.
        at: its location.
        wanted: types -> what they name: `REFERENCES` or `SOURCES` of `option_types`.
    """
    if option_types.is_union(kind):
        for member in get_args(kind):
            yield from locate(value, member, at, wanted)
    # By type and not by name: a field called `model` may hold something else.
    elif kind in wanted and isinstance(value, str):
        yield wanted[kind], value, at
    elif option_types.is_attrs(kind) and isinstance(value, kind):
        for attribute in option_types.settable_fields(kind):
            yield from locate(getattr(value, attribute.name), attribute.type, (*at, attribute.name), wanted)
    elif option_types.is_mapping(kind) and isinstance(value, Mapping):
        for key, part in value.items():
            yield from locate(part, (get_args(kind) or (str, str))[1], (*at, key), wanted)
    elif option_types.is_sequence(kind) and isinstance(value, tuple | list):
        members = get_args(kind)
        for position, part in enumerate(value):
            # A tuple of fixed length has a type for each place, any other one type for all.
            member = members[position] if len(members) == len(value) and Ellipsis not in members else members[0]
            yield from locate(part, member, (*at, position), wanted)


def parts_of(components: Iterable[Resolved[Any]]) -> Iterator[Resolved[Any]]:
    """Yield the parsers and validators that components refer to, and those that these refer to."""
    for component in components:
        yield from component.parts
        yield from parts_of(component.parts)


def _asks_simulated(options: object, resolved: ResolvedSuite, asked: frozenset[str]) -> bool:
    # Without those that were asked about: models may refer to each other in a circle.
    names = {name for kind, name in references(options) if kind == "model" and name in resolved.models} - asked
    models = [resolved.models[name] for name in sorted(names)]
    return any(
        model.entry.spec.simulated or _asks_simulated(model.options, resolved, asked | names) for model in models
    )


def judge_models(resolved: ResolvedSuite) -> Mapping[str, str]:
    """Return the name of the model that each judge asks, as its provider knows it; judges without one are left out."""
    by_judge: dict[str, str] = {}
    for judge in resolved.judges:
        # The first model that its options name counts as the one that judges.
        for name in judge.models:
            if name in resolved.models:
                by_judge.setdefault(judge.use.name, str(getattr(resolved.models[name].options, "model", name)))
    return by_judge


def shard_suite(resolved: ResolvedSuite, shard: Shard | None) -> ResolvedSuite:
    """Return the suite as one shard runs it, with its share of the budget, of the rates and of the concurrency.

    Raises:
        SuiteError: a component has to see all items, so that shards would not add up to the run.
    """
    if shard is None:
        return resolved
    problems = [Problem(message=f"--shard: {what}; run it without --shard") for what in _obstacles(resolved)]
    if problems:
        raise SuiteError(problems)
    budget = resolved.suite.budget
    # Shards do not see what the others spend.
    usd = None if budget.usd is None else budget.usd / shard.count
    calls = None if budget.calls is None else shard.share(budget.calls)
    return evolve(
        resolved,
        shard=shard,
        suite=evolve(resolved.suite, budget=evolve(budget, usd=usd, calls=calls)),
        models={name: _slower(model, shard) for name, model in resolved.models.items()},
    )


def _obstacles(resolved: ResolvedSuite) -> Iterator[str]:
    """Yield what needs all items at once."""
    for test in resolved.tests:
        for part in test.components:
            if part.entry.spec.scope is Scope.SET or getattr(part.entry.spec, "whole_data", False):
                yield f"'{part.entry.spec.name}' of test '{test.use.name}' sees all items at once"
        if test.use.sample is not None:
            yield f"the sample of test '{test.use.name}' is drawn from all items"
    for judge in resolved.judges:
        if judge.entry.spec.kind is JudgeKind.TRAINED:
            yield f"judge '{judge.use.name}' is trained on all items"


def _slower(model: Resolved[Any], shard: Shard) -> Resolved[Any]:
    """Return a model with the shard's share of its limits."""
    assert isinstance(model.use, ModelUse)
    limits = model.use.limits
    requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
    shared = evolve(
        limits,
        # With more shards than places each shard still needs one.
        concurrency=max(1, shard.share(limits.concurrency)),
        requests_per_minute=None if requests is None else requests / shard.count,
        tokens_per_minute=None if tokens is None else tokens / shard.count,
    )
    return evolve(model, use=evolve(model.use, limits=shared))
