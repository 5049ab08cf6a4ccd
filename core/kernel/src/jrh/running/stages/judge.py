"""Judge: cases in, records out. Every judge answers as its kind says; what it raises becomes a status."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from jrh.errors import RAISED, StopReason, StoreError
from jrh.models.client import Client
from jrh.models.ledger import JUDGE, Payer, paid_by
from jrh.plugins.specs import JudgeKind, JudgeSpec
from jrh.running.event_loop import for_each, for_each_taken
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.stages.coming_trials import ComingTrials, Pending, PlanFeed, in_folds
from jrh.running.stages.judgements import DETAIL, make_row, originals, question_of, truth
from jrh.running.units import ANSWERED, AT_ONCE, FITTED, Answered, answer_here, spreads
from jrh.suite.resolved import Resolved
from jrh.text.redact import error_line
from jrh.values.events import RecordCommitted
from jrh.values.items import Task
from jrh.values.verdicts import Example, Judgement, Status, Verdict

WORKERS: Final = 32
"""Trials under way at once for a judge that uses no model."""
READY: Final = 4
"""One question for so many in flight is made ready beforehand."""


async def judge_all(ready: Prepared, progress: Progress, feed: PlanFeed | None = None) -> None:
    """Put every trial of the plan that is still to be put; all judges at once.

    Args:
        ready: the run.
        progress: where the trials are counted.
        feed: tells of a plan that grows meanwhile; without it the plan is complete.

    Raises:
        StopRun: the run ended early; what was under way was finished and is written.
    """
    judges = ready.resolved.judges
    if feed is None:
        feed, waiting = PlanFeed(complete=True), ready.store.trials.judges_with_pending()
        judges = tuple(judge for judge in judges if judge.use.name in waiting)
    telling = asyncio.Lock()
    jobs = [_Judging(ready, progress, resolved, feed, telling) for resolved in judges]
    await for_each(jobs, lambda job: job.run(), max(len(jobs), 1))


def judges_at_once(kind: JudgeKind) -> bool:
    """Tell whether judges of a kind need all trials of the plan before the first."""
    return kind in (JudgeKind.BATCH, JudgeKind.TRAINED)


class _Judging:
    """The trials of one judge."""

    def __init__(
        self, ready: Prepared, progress: Progress, resolved: Resolved[JudgeSpec], feed: PlanFeed, telling: asyncio.Lock
    ) -> None:
        self.ready = ready
        self.progress = progress
        self.feed = feed
        self.resolved = resolved
        self.name = resolved.use.name
        self.telling = telling
        """Notifies plugins in the order in which records are written."""
        self.tells = ready.events.listens("jrh_record_committed")
        self.simulated = self.name in ready.simulated
        # The gateway sees what a model of the suite costs, and no simulated judge costs anything.
        self.states_cost = not self.simulated and not resolved.models

    def check(self) -> None:
        """Raise where the run is to end; one that is out of budget lets judges finish that cost nothing."""
        stop = self.ready.gateway.stopped
        if stop is not None and stop.reason is not StopReason.BUDGET:
            raise stop

    async def run(self) -> None:
        """Build the judge for each task and put its trials."""
        kind = self.resolved.entry.spec.kind
        if judges_at_once(kind):
            await self.feed.completed()
        trials = ComingTrials(self.ready.store, self.name, self.feed)
        while (name := await trials.task()) is not None:
            task = next(use.task for use in self.ready.suite.tasks if use.task.name == name)
            async with self.ready.builder.open_judge(self.resolved, task) as judge:
                if kind is JudgeKind.TRAINED:
                    await self._trained(judge, task, trials.rest(name))
                elif kind is JudgeKind.BATCH:
                    await self._batches(judge, task, trials.rest(name))
                else:
                    await self._one_by_one(judge, task, trials)

    async def _one_by_one(self, judge: Any, task: Task, trials: ComingTrials) -> None:
        simulated = self.resolved.entry.spec.kind is JudgeKind.SIMULATED
        original = originals(self.ready.store, self.ready.items, task.name)

        async def one(trial: Pending) -> None:
            self.check()
            question = question_of(task, trial)
            try:
                with paid_by(self._payer(trial)):
                    if simulated:
                        judgement = await judge.judge(question, truth(trial.case, original(trial.case.item_id)))
                    else:
                        judgement = await judge.judge(question)
            except StoreError:
                raise
            except RAISED as error:  # one trial must not cost the others
                judgement = self._raised(error)
            await self._keep(trial, judgement)

        await for_each_taken(lambda: trials.take(task.name), one, self._workers())

    def _payer(self, trial: Pending) -> Payer:
        return Payer(owner=trial.trial_id, role=JUDGE, name=self.name, task=trial.case.task, test=trial.case.test)

    def _workers(self) -> int:
        clients = [self.ready.builder.model(name) for name in self.resolved.models]
        most = max((each.at_once for each in clients if isinstance(each, Client)), default=None)
        # A few more than may be in flight: their questions are ready when a place at the model becomes free.
        return WORKERS if most is None else most + most // READY

    async def _batches(self, judge: Any, task: Task, trials: Iterable[Pending]) -> None:
        feed = iter(trials)

        def units() -> Iterator[tuple[Answered, list[Pending]]]:
            while batch := list(islice(feed, AT_ONCE)):
                self.check()
                yield self._unit(ANSWERED, task, batch), batch

        await self._work(judge, units())

    async def _work(self, judge: Any, units: Iterator[tuple[Answered, list[Pending]]]) -> None:
        """Work on units and keep what comes of them; where the run has an executor, they are worked on elsewhere."""
        spread, here = self.ready.builder.spread, partial(answer_here, judge)
        if spread is None or not spreads([self.resolved]):
            for unit, trials in units:
                await self._keep_all(trials, await here(unit))
            return
        async for trials, found in spread.results(units, [self.resolved], here):
            await self._keep_all(trials, found)

    def _unit(self, kind: str, task: Task, trials: Sequence[Pending], examples: Sequence[Example] = ()) -> Answered:
        questions = tuple(question_of(task, trial) for trial in trials)
        return Answered(kind=kind, judge=self.name, task=task.name, questions=questions, examples=tuple(examples))

    async def _keep_all(self, trials: Sequence[Pending], found: Sequence[Any]) -> None:
        for trial, each in zip(trials, found, strict=True):
            await self._keep(trial, self._failed(each) if isinstance(each, str) else each)

    async def _trained(self, judge: Any, task: Task, trials: Iterable[Pending]) -> None:
        """Judge every fold with a model that saw none of its items; holds all trials, to go from fold to fold."""

        def units() -> Iterator[tuple[Answered, list[Pending]]]:
            for members, examples in in_folds(trials, self.ready.items[task.name], self.resolved.use):
                self.check()
                yield self._unit(FITTED, task, members, examples), members

        await self._work(judge, units())

    def _raised(self, error: BaseException) -> Judgement:
        return self._failed(error_line(error))

    def _failed(self, why: str) -> Judgement:
        detail = self.ready.redact(why)[:DETAIL]
        self.ready.log.warning("judge raised", judge=self.name, error=detail)
        return Judgement(verdict=Verdict(status=Status.PLUGIN_ERROR, detail=detail))

    async def _keep(self, trial: Pending, judgement: Judgement) -> None:
        ready = self.ready
        try:
            row = make_row(trial, self.name, self.simulated, judgement, ready.redact)
        except RAISED as error:  # what a judge hands back may be anything
            row = make_row(trial, self.name, self.simulated, self._raised(error), ready.redact)
        ready.store.records.put([row])
        if ready.store.failure is not None:
            raise ready.store.failure
        if self.tells:
            async with self.telling:
                await asyncio.to_thread(ready.store.flush)
                ready.events.tell("jrh_record_committed", RecordCommitted(run_id=ready.run_id, record=row[0]))
        self.progress.advance()
        self._book(judgement)

    def _book(self, judgement: Judgement) -> None:
        """Book what the gateway does not see: the stated cost of a judge that asks no model of the suite."""
        if not self.states_cost:
            return
        reply = judgement.reply if isinstance(judgement, Judgement) else None
        if reply is not None and reply.cost:
            self.ready.gateway.ledger.note_stated(reply.cost)
            self.ready.progress.spent(self.ready.gateway.ledger.spent())
