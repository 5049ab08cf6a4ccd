"""Execute a run: its stages in order, from items to records."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from attrs import define, evolve, field

from jrh.errors import StopReason, StopRun, StoreError
from jrh.plugins.protocols import StageOutcome
from jrh.running.component_changes import changes
from jrh.running.declared_stages import revision_of, run_stages, serve_in_background, stages_of_cases
from jrh.running.pipeline import Overlap, judge_cases, overlaps
from jrh.running.preflight import preflight
from jrh.running.prepare import Prepared
from jrh.running.stage_work import work_of
from jrh.running.stages.case_making import CaseMaking
from jrh.running.stages.stored import StoredCases
from jrh.running.stages.summary import note_interrupted, note_start, remember, summarise
from jrh.running.worker import open_executor
from jrh.store.temporary import spool_items
from jrh.values.cases import REFERENCE, Case
from jrh.values.items import Task


async def execute(ready: Prepared) -> Execution:
    """Run the stages until they end or the run has to stop; calls in flight are finished and written."""
    execution = Execution(ready, CaseMaking(ready))
    async with open_executor(ready.settings.executor, ready.builder, ready.log):
        with _interruptible(ready):
            with suppress(StopRun):  # where the budget does not allow it, the stages find out for themselves
                await preflight(ready)
            # After the preflight: a run whose key is rejected has not started, and nothing about the last one is lost.
            note_start(ready)
            execution.stop = await execution.run()
    return execution


@define
class Execution:
    """The stages of one run, and how they ended."""

    ready: Prepared
    making: CaseMaking
    stop: StopRun | None = field(default=None, init=False)
    """Why they stopped early; None if they did not."""
    declared: list[StageOutcome] = field(factory=list, init=False)
    """How the declared stages before the judges' end ended."""

    async def run(self) -> StopRun | None:
        """Run all stages; return why they stopped early, or None."""
        ready = self.ready
        try:
            items_ids = await self._load()
            # Before anything is made again, so that the user can still stop a costly change.
            self._say_what_changed(items_ids)
            remember(ready.store, summarise(ready))
            # Judging early changes no id, place or occasion of a trial, only when it is put: see `pipeline`.
            if overlaps(ready):
                cases, judged = await self._make_and_judge(items_ids)
            else:
                cases, judged = await self._make_cases(items_ids), False
            if not judged:
                await judge_cases(ready, cases, items_ids)
            ready.store.flush()
            self.declared += await run_stages("judge", work_of(ready), asking=True)
        except StopRun as stop:
            return stop
        finally:
            ready.progress.end()
            ready.store.flush()
        # No exception came this far, but the budget may have run out while judges that cost nothing finished.
        return ready.gateway.stopped

    async def _make_cases(self, items_ids: Mapping[str, str]) -> StoredCases:
        """Make the cases, while stages that work meanwhile see them; return those that count."""
        self.making.between = stages_of_cases(work := work_of(self.ready))
        async with serve_in_background(self.making.between, work):
            return await self._revise(await self.making.make_all(items_ids))

    async def _make_and_judge(self, items_ids: Mapping[str, str]) -> tuple[StoredCases, bool]:
        """Make the cases, and judge those of finished tests meanwhile; return whether that was all of the judging."""
        overlap = self.making.overlap = Overlap(self.ready, items_ids)
        async with overlap.open():
            cases = await self._revise(await self.making.make_all(items_ids))
            judged = cases.change is None  # else a stage has something to do by now
            if judged:
                overlap.finish(cases)
        return cases, judged

    async def _revise(self, cases: StoredCases) -> StoredCases:
        """Run the declared stages between perturbing and judging; return the cases that count by them."""
        outcomes = await run_stages("perturb", work_of(self.ready))
        self.declared += outcomes
        valid: dict[str, bool] = {}
        for outcome in outcomes:
            valid |= outcome.valid
            if outcome.cases is not None:
                cases = cases.with_change(revision_of(outcome.cases, self.ready.tasks))
        # Rows of the kernel are never overwritten: what a stage revises is a layer of its own, by the id of the case.
        self.ready.store.cases.keep_revised(list(cases.revisions()), valid)
        # Last: a run that waits for people keeps what they have decided so far.
        if waits_for := next((outcome.open for outcome in outcomes if outcome.open), ""):
            raise StopRun(StopReason.OPEN, waits_for)
        return cases

    async def _load(self) -> Mapping[str, str]:
        """Store the items, and let declared stages label them; return the ids of the items, labelled by then."""
        ready = self.ready
        items_ids = ready.store.items.write(ready.items)
        remember(ready.store, summarise(ready))  # the run may end here
        outcomes = await run_stages("load", evolve(work_of(ready), ask=partial(self._ask, items_ids)))
        self.declared += outcomes
        # Labels are part of what the cases depend on, so the items are stored again with them.
        labelled = {task: spool_items(items) for outcome in outcomes for task, items in outcome.items.items()}
        if not labelled:
            return items_ids
        ready.items.update(labelled)
        return ready.store.items.write(ready.items)

    async def _ask(self, items_ids: Mapping[str, str], task: Task, judge: str, wanted: Callable[[Case], bool]) -> bool:
        """Let a judge answer the reference cases that a stage wants; tell whether there are any.

        The questions are those of the reference condition, so a judge that asks a model pays for them once.
        """
        await self.making.make_reference(task, items_ids[task.name])
        cases = StoredCases(self.ready.store, [(task.name, REFERENCE)])
        cases = cases.with_change(lambda case: case if wanted(case) else None)
        if not any(cases.ids()):
            return False
        await judge_cases(self.ready, cases, items_ids, only=judge)
        self.ready.store.flush()
        return True

    def _say_what_changed(self, items_ids: Mapping[str, str]) -> None:
        ready = self.ready
        for sentence in changes(ready.store, ready.resolved, items_ids, ready.run_dir, ready.component_states):
            ready.log.info("component changed", what=sentence)
            ready.progress.say(sentence)


@contextmanager
def _interruptible(ready: Prepared) -> Iterator[None]:
    """Let the first signal, or the stopper, finish the calls in flight; a second signal ends the process."""
    loop = asyncio.get_running_loop()
    signals = _signals_to_handle(ready.settings.signals)

    def on_interrupt() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        # The handlers are gone: Python ends the process at the next signal, as the sentence below promises.
        with suppress(StoreError):  # `conclude` writes it again if the run gets there
            note_interrupted(ready.store)
        ready.gateway.stop(StopReason.INTERRUPTED, "interrupted")
        ready.progress.say("Interrupted: finishing the calls in flight. Press Ctrl-C again to leave at once.")

    if ready.settings.stopper is not None:
        ready.settings.stopper.attach(lambda: loop.call_soon_threadsafe(on_interrupt))
    for number in signals:
        loop.add_signal_handler(number, on_interrupt)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _signals_to_handle(signals: Iterable[signal.Signals]) -> tuple[signal.Signals, ...]:
    """Return the signals that this thread may handle and that are not ignored."""
    # Python lets only the main thread handle signals.
    if threading.current_thread() is not threading.main_thread():
        return ()
    # What was ignored when the process started stays ignored, as POSIX shells expect: `nohup jrh run` survives a closed
    # terminal, and a job that a script starts with `&` survives the Ctrl-C that ends the script.
    return tuple(number for number in signals if signal.getsignal(number) is not signal.SIG_IGN)
