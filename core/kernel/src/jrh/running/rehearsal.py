"""Build every component once before anything is written, so that an error leaves nothing half-done.

To resume a run, build only what is still needed: finished work needs no key and no module.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from jrh.errors import JrhError
from jrh.models.client import OpenModel, StandIn, refuse_unknown_prices
from jrh.plugins.factories import WrongShapeError
from jrh.plugins.loading import Loaded, shipped_distributions
from jrh.plugins.protocols import Logger
from jrh.running.building import Builder
from jrh.running.run_log import Quiet
from jrh.running.schedule import judge_ids
from jrh.running.stages.cases_of_drafts import stage_digest
from jrh.running.stages.load import read
from jrh.store.cases_table import items_ids
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved, ResolvedSuite, applies, tests_of
from jrh.values.cases import REFERENCE
from jrh.values.items import Item

_JUDGES: Final = "judges"
"""Meta key of the ids of the judges in the plan."""


@frozen(kw_only=True)
class Todo:
    """The remaining work in a run directory."""

    tests: frozenset[tuple[str, str]]
    """Task and test."""
    judges: frozenset[str]


def rehearse(builder: Builder, todo: Todo | None = None) -> None:
    """Build the components the run needs, task by task, and discard them; reporters may fail, unless misshapen.

    Args:
        builder: builds the components.
        todo: build only what this needs; everything if None.

    Raises:
        JrhError: a component cannot be built.
    """
    resolved = builder.resolved
    for task in (use.task for use in resolved.suite.tasks):
        for test in tests_of(resolved, task):
            if todo is None or (task.name, test.use.name) in todo.tests:
                for component in test.components:
                    builder.build(component, task)
        for judge in resolved.judges:
            if applies(judge, task) and (todo is None or judge.use.name in todo.judges):
                builder.build(judge, task)
    # Whatever is made or asked, measures and reports follow.
    if todo is None or todo.tests or todo.judges:
        rules: list[Resolved[Any]] = [*resolved.metrics, *([resolved.allocator] if resolved.allocator else [])]
        for rule in filter(_may_be_wrong, rules):
            builder.build(rule)
        _rehearse_the_end(builder)
        for name in (name for stage in resolved.stages.values() for name in stage.all_models):
            builder.model(name)


def read_items(builder: Builder, say: Callable[[str], None]) -> dict[str, Sequence[Item]]:
    """Let declared stages refuse the suite, and read the items of every task; `say` gets what sources remark.

    Raises:
        JrhError: a stage refuses, or a source's data cannot be used.
    """
    for entry in builder.plugins.stages:
        # A stage that has no section in the suite has nothing to refuse.
        if entry.spec.of_data or entry.spec.name in builder.resolved.stages:
            builder.stage(entry).check(builder.resolved)
    return read(builder, say)


def _rehearse_the_end(builder: Builder) -> None:
    """Build what works after the last paid call: a mistake of shape is found now, and nothing else stops the run."""
    last: list[Resolved[Any]] = [*builder.resolved.reporters, *builder.resolved.stages.values()]
    for component in filter(_may_be_wrong, last):
        try:
            builder.build(component)
        # A mistake in the code of a plugin, which no other option or file would mend.
        except WrongShapeError:
            raise
        except JrhError:
            # It costs its own report and nothing else when the time comes.
            continue


def _may_be_wrong(component: Resolved[Any]) -> bool:
    """Return whether the suite names a component, or who wrote it is not us: defaults of jrh wait until they work."""
    return bool(component.use.location) or component.entry.distribution not in shipped_distributions()


def note_judges(store: Store, ids: Iterable[str]) -> None:
    """Store the ids of the judges in the plan: they could be built when it was made."""
    store.set_meta(_JUDGES, json.dumps(sorted(ids)))


def read_judges(store: Store) -> tuple[str, ...]:
    """Return the ids of the judges in the plan."""
    return tuple(json.loads(store.meta(_JUDGES) or "[]"))


def work_left(builder: Builder, store: Store, items: Mapping[str, Sequence[Item]]) -> Todo:
    """Return the tests without cases and the judges with trials to run; all judges if there are new cases.

    Args:
        builder: knows the suite.
        store: the run's.
        items: the items of every task.
    """
    resolved = builder.resolved
    ids = items_ids(items)
    tests = set()
    for task in (use.task for use in resolved.suite.tasks):
        made_of = {REFERENCE: None, **{test.use.name: test for test in tests_of(resolved, task)}}
        for name, test in made_of.items():
            if store.cases.digest(task.name, name) != stage_digest(builder, test, task, ids[task.name]):
                tests.add((task.name, name))
    planned = frozenset(read_judges(store))
    # By id, so that a judge whose code or options changed has all its trials to run.
    judges = {judge.use.name for judge, judge_id in judge_ids(resolved, ids) if tests or judge_id not in planned}
    return Todo(tests=frozenset(tests), judges=frozenset(judges) | store.trials.judges_with_pending())


def check_components(builder: Builder, store: Store | None, items: dict[str, Sequence[Item]]) -> None:
    """Build every component that is still needed once; what a run refuses, a plan refuses too.

    Args:
        builder: of the run or the plan.
        store: that of an earlier run in the directory, if there is one.
        items: task -> its items.

    Raises:
        JrhError: a component cannot be built, or the directory belongs to another suite.
    """
    if store is None:
        rehearse(builder)
        return
    store.check_owner(builder.resolved.suite.name)
    rehearse(builder, work_left(builder, store, items))


def suite_builder(
    resolved: ResolvedSuite, loaded: Loaded, open_model: OpenModel = StandIn, log: Callable[..., Logger] = Quiet
) -> Builder:
    """Return what builds the components of a suite; by default without a log, with models that send nothing."""
    return Builder(resolved, loaded.plugins, log, refuse_unknown_prices(resolved.suite.budget, open_model))
