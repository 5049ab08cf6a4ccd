"""Judge: cases in, records out. Every judge answers as its kind says; what it raises becomes a status."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from jrh.errors import RAISED, StopReason, StoreError
from jrh.models.client import Client
from jrh.models.ledger import JUDGE, Payer, book_to
from jrh.plugins.specs import JudgeKind, JudgeSpec
from jrh.running.event_loop import for_each, for_each_taken
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.stages.coming_trials import ComingTrials, Pending, PlanFeed, in_folds
from jrh.running.stages.judgements import DETAIL, make_row, originals, question_of, truth
from jrh.running.units import AT_ONCE, Answered, answer, spreads
from jrh.suite.resolved import Resolved
from jrh.text.redact import error_line
from jrh.values.events import RecordCommitted
from jrh.values.items import Task
from jrh.values.verdicts import Judgement, Status, Verdict

WORKERS: Final = 32
"""Trials under way at once for a judge that uses no model."""
READY: Final = 2
"""One question for so many in flight is made ready beforehand, also for those that wait for another attempt."""


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
    terminal = asyncio.Lock()
    jobs = [_Judging(ready, progress, resolved, feed, terminal) for resolved in judges]
    # All judges at once: each waits for its own model.
    await for_each(jobs, lambda job: job.run(), max(len(jobs), 1))


def judges_at_once(kind: JudgeKind) -> bool:
    """Tell whether judges of a kind need all trials of the plan before the first."""
    return kind in (JudgeKind.BATCH, JudgeKind.TRAINED)


class _Judging:
    """The trials of one judge."""

    def __init__(
        self, ready: Prepared, progress: Progress, resolved: Resolved[JudgeSpec], feed: PlanFeed, terminal: asyncio.Lock
    ) -> None:
        self.ready = ready
        self.progress = progress
        self.feed = feed
        self.resolved = resolved
        self.name = resolved.use.name
        self.terminal = terminal
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
            await self.feed.until_complete()
        trials = ComingTrials(self.ready.store, self.name, self.feed)
        while (name := await trials.task()) is not None:
            task = self.ready.tasks[name]
            async with self.ready.builder.open_judge(self.resolved, task) as judge:
                if judges_at_once(kind):
                    await self._judge_units(judge, self._units(task, trials.rest(name)))
                else:
                    await self._one_by_one(judge, task, trials)

    async def _one_by_one(self, judge: Any, task: Task, trials: ComingTrials) -> None:
        simulated = self.resolved.entry.spec.kind is JudgeKind.SIMULATED
        original = originals(self.ready.store, self.ready.items, task.name)

        async def one(trial: Pending) -> None:
            self.check()
            question = question_of(task, trial)
            try:
                with book_to(self._payer(trial)):
                    if simulated:
                        judgement = await judge.judge(question, truth(trial.case, original(trial.case.item_id)))
                    else:
                        judgement = await judge.judge(question)
            except StoreError:
                raise
            except RAISED as error:  # one trial must not cost the others
                judgement = self._failure(error_line(error))
            await self._keep(trial, judgement)

        await for_each_taken(lambda: trials.take(task.name), one, self._workers())

    def _payer(self, trial: Pending) -> Payer:
        return Payer(owner=trial.trial_id, role=JUDGE, name=self.name, task=trial.case.task, test=trial.case.test)

    def _workers(self) -> int:
        clients = [self.ready.builder.model(name) for name in self.resolved.models]
        most = max((client.at_once for client in clients if isinstance(client, Client)), default=None)
        # A few more than may be in flight: their questions are ready when a place at the model becomes free.
        return WORKERS if most is None else most + most // READY

    def _units(self, task: Task, trials: Iterable[Pending]) -> Iterator[tuple[Answered, list[Pending]]]:
        """Divide trials into batches; those of a trained judge into folds, each with the examples of all others."""
        feed, fit = iter(trials), self.resolved.entry.spec.kind is JudgeKind.TRAINED
        if fit:
            parts = in_folds(feed, self.ready.items[task.name], self.resolved.use)
        else:
            parts = ((batch, []) for batch in iter(lambda: list(islice(feed, AT_ONCE)), []))
        for members, examples in parts:
            self.check()
            questions = tuple(question_of(task, trial) for trial in members)
            unit = Answered(fit=fit, judge=self.name, task=task.name, questions=questions, examples=tuple(examples))
            yield unit, members

    async def _judge_units(self, judge: Any, units: Iterator[tuple[Answered, list[Pending]]]) -> None:
        """Judge units and keep the judgements; where the run has an executor, they are judged elsewhere."""

        async def judge_here(unit: Answered) -> list[Any]:
            return await asyncio.to_thread(answer, judge, unit)

        spread = self.ready.builder.spread
        if spread is None or not spreads([self.resolved]):
            results: AsyncIterator[tuple[list[Pending], list[Any]]] = (
                (trials, await judge_here(unit)) for unit, trials in units
            )
        else:
            results = spread.results(units, [self.resolved], judge_here)
        async for trials, judgements in results:
            for trial, judgement in zip(trials, judgements, strict=True):
                await self._keep(trial, self._failure(judgement) if isinstance(judgement, str) else judgement)

    def _failure(self, why: str) -> Judgement:
        detail = self.ready.redact(why)[:DETAIL]
        self.ready.log.warning("judge raised", judge=self.name, error=detail)
        return Judgement(verdict=Verdict(status=Status.PLUGIN_ERROR, detail=detail))

    async def _keep(self, trial: Pending, judgement: Judgement) -> None:
        ready = self.ready
        try:
            row = make_row(trial, self.name, self.simulated, judgement, ready.redact)
        except RAISED as error:  # what a judge hands back may be anything
            row = make_row(trial, self.name, self.simulated, self._failure(error_line(error)), ready.redact)
        ready.store.records.put([row])
        # The writer works in a thread. Without this look the run would go on paying for replies that are not kept.
        if ready.store.failure is not None:
            raise ready.store.failure
        # Durable first: a plugin may act on a record, which a kill must not take back.
        if self.tells:
            # Flushed and told under a lock: plugins hear of records in the order in which they are written.
            async with self.terminal:
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
            self.ready.progress.note_spent(self.ready.gateway.ledger.totals())
