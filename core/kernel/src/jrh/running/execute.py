"""Execute a run: its stages in order, from items to records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from attrs import define, field

from jrh.errors import StopReason, StopRun
from jrh.plugins.protocols import StageOutcome
from jrh.running.component_changes import changes
from jrh.running.declared_stages import revision_of, run_stages, serving, stages_of_cases, work_of
from jrh.running.judged_gold import graded
from jrh.running.pipeline import Overlap, judge_cases, overlaps
from jrh.running.preflight import preflight
from jrh.running.prepare import Prepared
from jrh.running.stages.cases import CaseMaking
from jrh.running.stages.stored import StoredCases
from jrh.running.stages.summary import note_start, remember, summarise
from jrh.running.stopping import interruptible
from jrh.values.cases import REFERENCE


async def execute(ready: Prepared) -> Execution:
    """Run the stages until they end or the run has to stop; calls in flight are finished and written."""
    execution = Execution(ready)
    with interruptible(ready):
        with suppress(StopRun):  # where the budget does not allow it, the stages find out for themselves
            await preflight(ready)
        note_start(ready)
        execution.stop = await execution.run()
    return execution


@define
class Execution:
    """The stages of one run, and how they ended."""

    ready: Prepared
    stop: StopRun | None = field(default=None, init=False)
    """Why they stopped early; None if they did not."""
    making: CaseMaking = field(init=False)
    declared: list[StageOutcome] = field(factory=list, init=False)
    """How the declared stages before the judges' end ended."""

    @making.default
    def _making(self) -> CaseMaking:
        return CaseMaking(self.ready)

    async def run(self) -> StopRun | None:
        """Run all stages; return why they stopped early, or None."""
        ready = self.ready
        try:
            items_ids = await self._grade(ready.store.items.write(ready.items))
            self._say_what_changed(items_ids)
            remember(ready.store, summarise(ready))
            self.declared += await run_stages("load", work_of(ready))
            if overlaps(ready):
                cases, judged = await self._overlapped(items_ids)
            else:
                cases, judged = await self._made(items_ids), False
            if not judged:
                await judge_cases(ready, cases, items_ids)
            ready.store.flush()
            self.declared += await run_stages("judge", work_of(ready), asking=True)
        except StopRun as stop:
            return stop
        finally:
            ready.progress.end()
            ready.store.flush()
        return ready.gateway.stopped

    async def _made(self, items_ids: Mapping[str, str]) -> StoredCases:
        """Make the cases, while stages that work meanwhile see them; return those that count."""
        self.making.between = stages_of_cases(work := work_of(self.ready))
        async with serving(self.making.between, work):
            return await self._revised(await self.making.make_all(items_ids))

    async def _overlapped(self, items_ids: Mapping[str, str]) -> tuple[StoredCases, bool]:
        """Make the cases, and judge those of finished tests meanwhile; return whether that was all of the judging."""
        overlap = self.making.overlap = Overlap(self.ready, items_ids)
        async with overlap.open():
            cases = await self._revised(await self.making.make_all(items_ids))
            judged = cases.change is None  # else a stage has something to do by now
            if judged:
                overlap.finish(cases)
        return cases, judged

    async def _revised(self, made: StoredCases) -> StoredCases:
        """Run the declared stages between perturbing and judging; return the cases that count by them."""
        outcomes = await run_stages("perturb", work_of(self.ready))
        self.declared += outcomes
        tasks = {use.task.name: use.task for use in self.ready.suite.tasks}
        valid: dict[str, bool] = {}
        for outcome in outcomes:
            valid |= outcome.valid
            if outcome.cases is not None:
                made = made.changed(revision_of(outcome.cases, tasks))
        self.ready.store.cases.keep_revised(list(made.revised()), valid)
        if waits_for := next((outcome.open for outcome in outcomes if outcome.open), ""):
            raise StopRun(StopReason.OPEN, waits_for)
        return made

    async def _grade(self, items_ids: Mapping[str, str]) -> Mapping[str, str]:
        """Let judges grade the originals of tasks with `gold_from`; return the ids of the items, labelled by then.

        The questions are those of the reference condition, so a judge that asks a model pays for them once.
        """
        ready = self.ready
        found = dict(ready.items)
        for use in ready.suite.tasks:
            if not use.data.gold_from:
                continue
            await self.making.make_reference(use.task, items_ids[use.task.name])
            reference = StoredCases(ready.store, [(use.task.name, REFERENCE)])
            cases = reference.changed(lambda case: case if case.gold is None else None)
            if any(cases.ids()):
                remember(ready.store, summarise(ready))  # the run may end here
                await judge_cases(ready, cases, items_ids, only=use.data.gold_from)
                ready.store.flush()
                found[use.task.name] = graded(use, ready.items[use.task.name], ready.store, ready.resolved)
        if found == ready.items:
            return items_ids
        ready.items.update(found)
        return ready.store.items.write(ready.items)

    def _say_what_changed(self, items_ids: Mapping[str, str]) -> None:
        ready = self.ready
        for sentence in changes(ready.store, ready.resolved, items_ids, ready.run_dir):
            ready.log.info("component changed", what=sentence)
            ready.progress.say(sentence)
