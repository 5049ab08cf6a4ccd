"""Run the stages that plugins declare, at their places between the stages of jrh, and let them add to the report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

from jrh.errors import RAISED, JrhError, StopRun
from jrh.plugins.protocols import Logger, Stage, StageOutcome, StageQuestion
from jrh.plugins.registry import Entry
from jrh.plugins.specs import OWN_STAGES, StageSpec
from jrh.running.building import Builder
from jrh.running.stage_work import StageWork
from jrh.running.stages.cases_of_drafts import assign_id
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved
from jrh.text.redact import error_line
from jrh.values.cases import Case
from jrh.values.items import Task
from jrh.values.report import RunReport


def between_stages(builder: Builder) -> list[Stage]:
    """Return the declared stages between perturbing and judging."""
    return [stage for _, stage in _stages_after(builder, "perturb")]


def questions_of(builder: Builder, store: Store | None, stage: Resolved[StageSpec]) -> Iterable[StageQuestion]:
    """Return what a stage of the suite would ask about what is stored."""
    return builder.stage(stage.entry).questions(builder, store, {}, {})


def stages_of_cases(work: StageWork) -> tuple[Stage, ...]:
    """Return the declared stages between perturbing and judging that have something to do: judges wait for them."""
    return tuple(stage for _, stage in _stages_after(work.builder, "perturb") if stage.applies(work))


@asynccontextmanager
async def serve_in_background(stages: Sequence[Stage], work: StageWork) -> AsyncIterator[None]:
    """Let stages work in the background, until the end."""
    tasks = [asyncio.ensure_future(stage.serve(work)) for stage in stages]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            # A cancelled stage has done what it was asked to; its CancelledError is no Exception.
            if isinstance(error, Exception):
                work.log.warning("stage raised", error=repr(error))


def revision_of(rule: Callable[[Case], Case | None], tasks: Mapping[str, Task]) -> Callable[[Case], Case | None]:
    """Return a stage's rule with what counts under the id of what it says: another text is another question."""

    def revise(case: Case) -> Case | None:
        counted = rule(case)
        return counted if counted is None or counted is case else assign_id(tasks[case.task], counted)

    return revise


async def run_stages(after: str, work: StageWork, *, asking: bool | None = None) -> tuple[StageOutcome, ...]:
    """Run the declared stages between one of jrh's and the next, in order; return how those that apply ended.

    Args:
        after: the stage of jrh.
        work: what they work on.
        asking: only those that ask models, or only those that do not; None: all.

    Raises:
        JrhError: the stages cannot be ordered or built, or the run directory cannot be written to.
        StopRun: the run has to stop.
    """
    outcomes = []
    for name, stage in _stages_after(work.builder, after, asking):
        if not stage.applies(work):
            continue
        try:
            outcomes.append(await stage.run(work))
        # A JrhError of a stage is meant for the user: it says what to do.
        except (JrhError, StopRun):
            raise
        except RAISED as error:  # what the other stages make is not lost with it
            outcomes.append(StageOutcome(complete=False, notes=(_failure_note(name, error, work.log),)))
    return tuple(outcomes)


def add_to_report(report: RunReport, work: StageWork) -> RunReport:
    """Return the report with what declared stages say in it, in their order."""
    for place in OWN_STAGES:
        for name, stage in _stages_after(work.builder, place):
            if not stage.applies(work):
                continue
            try:
                report = stage.report(report, work)
            except JrhError:
                raise
            except RAISED as error:
                report = report.add_notes([_failure_note(name, error, work.log)])
    return report


def _failure_note(name: str, error: BaseException, log: Logger) -> str:
    log.warning("stage raised", stage=name, error=repr(error))
    return f"stage '{name}' failed: {error_line(error)}"


def _stages_after(builder: Builder, after: str, asking: bool | None = None) -> Iterator[tuple[str, Stage]]:
    for entry in in_order(builder.plugins.stages)[after]:
        if asking in (None, entry.spec.asks):
            yield entry.spec.name, builder.stage(entry)


def in_order(entries: Iterable[Entry[StageSpec]]) -> Mapping[str, tuple[Entry[StageSpec], ...]]:
    """Return, for each stage of jrh, the declared ones that run between it and the next, in order.

    Stages that name no order among each other keep the order in which plugins are loaded.

    Raises:
        JrhError: an order that cannot be kept.
    """
    declared = {entry.spec.name: entry for entry in entries}
    earlier = {name: {*entry.spec.after} for name, entry in declared.items()}
    for name, entry in declared.items():
        for later in entry.spec.before:
            earlier.setdefault(later, set()).add(name)
    placed: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for place in OWN_STAGES:
        if late := sorted(earlier.get(place, set()) & (declared.keys() - done)):
            raise JrhError(f"stage '{late[0]}' cannot run before '{place}': it waits for a stage that runs after it")
        done.add(place)
        chosen: list[str] = []
        # A stage may name one that is not installed: then it waits for nothing.
        known = {*OWN_STAGES, *declared}
        # One stage at a time and again from the start, so that free places go by the order of loading.
        while ready := next((n for n in declared if n not in done and earlier[n] & known <= done), None):
            done.add(ready)
            chosen.append(ready)
        placed[place] = tuple(chosen)
    if stuck := sorted(declared.keys() - done):
        raise JrhError(f"the stages {', '.join(stuck)} wait for each other; see `after` and `before` of their plugins")
    return {place: tuple(declared[name] for name in names) for place, names in placed.items()}
