"""Execute a run: its stages, from items to records, and stopping early."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from attrs import define, field, frozen

from jrh.document.long_ids import listed_id
from jrh.errors import StopReason, StopRun, StoreError
from jrh.models.payer import WRITER, Payer, paid_by
from jrh.plugins.protocols import Stage, StageOutcome
from jrh.plugins.specs import JudgeSpec
from jrh.running.component_changes import changes, components, note_components
from jrh.running.declared_stages import revision_of, run_stages, serving, stages_of_cases, work_of
from jrh.running.dry_build import note_judges
from jrh.running.judged_gold import graded, notes_of_gold
from jrh.running.outcome import INTERRUPTED, Ended
from jrh.running.pipeline import Overlap, asks_models, overlaps
from jrh.running.preflight import preflight
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.schedule import AskedCases, judge_ids, plan_trials
from jrh.running.stages import judge as judging
from jrh.running.stages import perturb as perturbing
from jrh.running.stages import summary as reporting
from jrh.running.stages.stored_cases import StoredCases
from jrh.running.stages.summary import notes_of_plan, summarise
from jrh.suite.resolved import Resolved, ResolvedTest, tests_of
from jrh.values.cases import REFERENCE
from jrh.values.events import CaseReady, RunStarted
from jrh.values.item_blocks import in_small_parts
from jrh.values.items import Task
from jrh.version import __version__

_UNSEEN: Final = "unseen"
"""Judge -> number of cases of the plan that change only what it never sees."""


@frozen(kw_only=True)
class Executed:
    """How the stages ended."""

    stop: StopRun | None
    """Why they stopped early; None if they did not."""
    unfinished: tuple[str, ...]
    """Tests with missing drafts, because a provider failed or a plugin raised."""
    declared: tuple[StageOutcome, ...] = ()
    """How the declared stages before the judges' end ended."""


async def execute(ready: Prepared) -> Executed:
    """Run the stages until they end or the run has to stop; calls in flight are finished and written."""
    stages = _Stages(ready)
    with _interruptible(ready):
        with suppress(StopRun):  # where the budget does not allow it, the stages find out for themselves
            await preflight(ready)
        reporting.note_start(ready.store, ready.resolved)
        ready.log.info("run started", suite=ready.suite.name, version=__version__, plugins=list(ready.loaded.names))
        ready.events.tell(
            "jrh_run_started", RunStarted(run_id=ready.run_id, suite=ready.suite.name, run_dir=ready.run_dir)
        )
        stop = await stages.run()
    return Executed(
        stop=stop,
        unfinished=tuple(stages.unfinished),
        declared=tuple(stages.declared),
    )


@contextmanager
def _interruptible(ready: Prepared) -> Iterator[None]:
    """Let the first signal, or the stopper, finish the calls in flight; a second signal ends the process."""
    loop = asyncio.get_running_loop()
    signals = _heeded(ready.settings.signals)

    def interrupted() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
        with suppress(StoreError):  # `conclude` writes it again if the run gets there
            reporting.note_end(ready.store, Ended(exit_code=INTERRUPTED, message="interrupted", complete=False))
        ready.gateway.stop(StopReason.INTERRUPTED, "interrupted")
        ready.progress.say("Interrupted: finishing the calls in flight. Press Ctrl-C again to leave at once.")

    if ready.settings.stopper is not None:
        ready.settings.stopper.attach(lambda: loop.call_soon_threadsafe(interrupted))
    for number in signals:
        loop.add_signal_handler(number, interrupted)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _heeded(signals: Iterable[signal.Signals]) -> tuple[signal.Signals, ...]:
    """Return the signals that this thread may handle and that are not ignored."""
    if threading.current_thread() is not threading.main_thread():
        return ()
    # What was ignored when the process started stays ignored, as POSIX shells expect: `nohup jrh run` survives a closed
    # terminal, and a job that a script starts with `&` survives the Ctrl-C that ends the script.
    return tuple(number for number in signals if signal.getsignal(number) is not signal.SIG_IGN)


@define
class _Stages:
    """The stages of one run, in order."""

    ready: Prepared
    unfinished: list[str] = field(factory=list, init=False)
    declared: list[StageOutcome] = field(factory=list, init=False)
    between: tuple[Stage, ...] = field(default=(), init=False)
    """The declared stages between perturbing and judging that apply."""
    overlap: Overlap | None = field(default=None, init=False)
    """What judges meanwhile; None where judges wait for all cases."""

    async def run(self) -> StopRun | None:
        """Run all stages; return why they stopped early, or None."""
        ready = self.ready
        try:
            items_ids = await self._grade(ready.store.items.write(ready.items))
            self._say_what_changed(items_ids)
            reporting.remember(ready.store, summarise(ready))
            self.declared += await run_stages("load", work_of(ready))
            if overlaps(ready):
                await self._overlapped(items_ids)
            else:
                self.between = stages_of_cases(work := work_of(ready))
                async with serving(self.between, work):
                    cases = await self._revised(await self._perturb(items_ids))
                await self._judge(cases, items_ids)
            ready.store.flush()
            self.declared += await run_stages("judge", work_of(ready), asking=True)
        except StopRun as stop:
            return stop
        finally:
            ready.progress.end()
            ready.store.flush()
        return ready.gateway.stopped

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

    def _tell_of_cases(self) -> None:
        """Let stages that work meanwhile see the cases that are stored by now."""
        for stage in self.between:
            stage.grown(work_of(self.ready))

    async def _grade(self, items_ids: Mapping[str, str]) -> Mapping[str, str]:
        """Let judges grade the originals of tasks with `gold_from`; return the ids of the items, labelled by then.

        The questions are those of the reference condition, so a judge that asks a model pays for them once.
        """
        ready = self.ready
        found = dict(ready.items)
        for use in ready.suite.tasks:
            if not use.data.gold_from:
                continue
            await self._reference(use.task, items_ids[use.task.name])
            reference = StoredCases(ready.store, [(use.task.name, REFERENCE)])
            cases = reference.changed(lambda case: case if case.gold is None else None)
            if any(cases.ids()):
                reporting.remember(ready.store, summarise(ready))  # the run may end here
                await self._judge(cases, items_ids, only=use.data.gold_from)
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

    async def _overlapped(self, items_ids: Mapping[str, str]) -> None:
        """Make the cases, and judge those of finished tests meanwhile."""
        ready = self.ready
        judges = judge_ids(ready.resolved, items_ids)
        note_components(ready.store, components(ready.resolved, ready.run_dir), ("judge",))
        self.overlap = Overlap(ready, judges)
        async with self.overlap.open(self._bench(self.overlap.shown)):
            cases = await self._revised(await self._perturb(items_ids))
            if cases.change is None:
                self.overlap.finish(_plan_id(cases, judges))
                self._note_plan(judges, self.overlap.unseen)
                self.overlap.show()
        if cases.change is not None:  # a stage has something to do by now
            await self._judge(cases, items_ids)

    async def _perturb(self, items_ids: Mapping[str, str]) -> StoredCases:
        """Make the cases of every task and test, in plan order."""
        ready = self.ready
        tasks = [use.task for use in ready.suite.tasks]
        tests = {task.name: tests_of(ready.resolved, task) for task in tasks}
        ready.progress.begin("perturb", sum(len(ready.items[name]) * len(some) for name, some in tests.items()))
        places: list[tuple[str, str]] = []
        for task in tasks:
            asked = await self._reference(task, items_ids[task.name])
            places.append((task.name, REFERENCE))
            await self._made(*places[-1], asked)
            for test in tests[task.name]:
                asked = await self._cases(task, test, items_ids[task.name])
                places.append((task.name, test.use.name))
                await self._made(*places[-1], asked)
        ready.progress.end()
        return StoredCases(ready.store, places)

    async def _made(self, task: str, test: str, asked: AskedCases | None) -> None:
        """Let judges be asked about the cases of a finished test."""
        if self.overlap is not None:
            await self.overlap.plan(task, test, asked)

    def _asked(self, task: Task) -> AskedCases | None:
        return None if self.overlap is None else AskedCases(task)

    def _slice(self, test: ResolvedTest) -> int | None:
        """Return how many items are treated together; None for the usual number.

        What asks no model never waits, and would keep the answers waiting that judges get meanwhile.
        """
        if self.between and any(stage.live(test.use.name, work_of(self.ready)) for stage in self.between):
            return perturbing.AT_ONCE
        blocks = self.overlap is not None and self.ready.builder.spread is None and not asks_models(test)
        return perturbing.BETWEEN_ANSWERS if blocks else None

    async def _reference(self, task: Task, items_id: str) -> AskedCases | None:
        """Make the reference cases, unless those stored are still valid; return what a plan needs of them."""
        ready = self.ready
        digest = perturbing.stage_digest(ready.builder, None, task, items_id)
        if ready.store.cases.digest(task.name, REFERENCE) == digest:
            return None
        ready.store.trials.reopen()
        asked = self._asked(task)
        writing = perturbing.Writing(ready.store, task.name, REFERENCE, asked)
        for some in in_small_parts(ready.items[task.name], perturbing.SLICE):
            made = perturbing.reference_cases(task, some, ready.suite.reference_repeats)
            writing.put(perturbing.Perturbed(cases=made, outcomes=()))
            await asyncio.sleep(0)
        await asyncio.to_thread(writing.finish, digest)
        self._announce(task.name, REFERENCE)
        return asked

    async def _cases(self, task: Task, test: ResolvedTest, items_id: str) -> AskedCases | None:
        """Make the cases of one test, unless those stored are still valid; return what a plan needs of them."""
        ready, name = self.ready, test.use.name
        items = ready.items[task.name]
        digest = perturbing.stage_digest(ready.builder, test, task, items_id)
        if ready.store.cases.digest(task.name, name) == digest:
            ready.progress.advance(len(items))
            return None
        ready.store.trials.reopen()
        failed = ready.gateway.failed_drafts
        ready.store.spending.forget_drafts(task.name, name, digest)
        asked = self._asked(task)
        writing = perturbing.Writing(ready.store, task.name, name, asked)
        with paid_by(Payer(owner=digest, role=WRITER, task=task.name, test=name)):
            size = self._slice(test)
            async for made in perturbing.in_slices(ready.builder, test, task, items, ready.progress, ready.log, size):
                writing.put(made)
                await asyncio.sleep(0)
                if size == perturbing.AT_ONCE:
                    writing.show(f"{digest}:unfinished")
                    self._tell_of_cases()
        if ready.gateway.failed_drafts > failed or writing.raised:
            # Another digest makes the next run draft again. Calls that were answered are not repeated.
            digest = f"{digest}:unfinished"
            self.unfinished.append(name)
        await asyncio.to_thread(writing.finish, digest)
        self._tell_of_cases()
        self._announce(task.name, name)
        return asked

    def _announce(self, task: str, test: str) -> None:
        events = self.ready.events
        if events.listens("jrh_case_ready"):
            for case in self.ready.store.cases.iterate(task, test):
                events.tell("jrh_case_ready", CaseReady(run_id=self.ready.run_id, case=case))

    async def _judge(self, cases: StoredCases, items_ids: Mapping[str, str], only: str = "") -> None:
        ready, store = self.ready, self.ready.store
        judges = [each for each in judge_ids(ready.resolved, items_ids) if only in ("", each[0].use.name)]
        digest = _plan_id(cases, judges)
        unseen: Counter[str] = Counter(json.loads(store.meta(_UNSEEN) or "{}"))
        if store.trials.digest() != digest:
            tasks = {use.task.name: use.task for use in ready.suite.tasks}
            unseen.clear()
            store.trials.replace(digest, plan_trials(cases, judges, tasks, store.trials.occasions(), unseen))
        self._note_plan(judges, unseen)
        pending = store.trials.count_pending()
        planned = store.trials.count()
        ready.progress.begin("judge", planned, done=planned - pending)
        await judging.judge_all(self._bench(ready.progress))

    def _note_plan(self, judges: Sequence[tuple[Resolved[JudgeSpec], str]], unseen: Mapping[str, int]) -> None:
        """Note what the report says of a plan that is complete."""
        ready, store = self.ready, self.ready.store
        text = json.dumps(unseen)
        if store.meta(_UNSEEN) != text:
            store.set_meta(_UNSEEN, text)
        store.records.rename_judges()
        note_judges(store, (judge_id for _, judge_id in judges))
        note_components(store, components(ready.resolved, ready.run_dir), ("perturber", "validator", "judge"))
        notes = notes_of_plan(ready.resolved, unseen)
        reporting.note_plan(store, [*notes, *notes_of_gold(ready.resolved, ready.items)])

    def _bench(self, progress: Progress) -> judging.Bench:
        ready = self.ready
        return judging.Bench(
            builder=ready.builder,
            store=ready.store,
            items=ready.items,
            simulated=ready.simulated,
            progress=progress,
            events=ready.events,
            log=ready.log,
            redact=ready.redact,
            run_id=ready.run_id,
            stated=ready.gateway.ledger.note_stated,
            told=lambda: ready.progress.spent(ready.gateway.ledger.spent()),
            stopped=lambda: ready.gateway.stopped,
        )


def _plan_id(cases: StoredCases, judges: Sequence[tuple[Resolved[JudgeSpec], str]]) -> str:
    return listed_id(cases.ids(), [(judge.use.name, judge_id) for judge, judge_id in judges])
