"""Judge: cases in, records out. Every judge answers as its kind says; what it raises becomes a status.

What a judge is asked about a trial comes first, then what is put down of its judgement: a row of the records.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from attrs import evolve

from jrh.document.convert import expectation_kind, to_text, to_text_once
from jrh.errors import RAISED, StopReason, StoreError
from jrh.models.client import Client
from jrh.models.ledger import JUDGE, Payer, book_to
from jrh.plugins.specs import JudgeKind, JudgeSpec
from jrh.running.event_loop import for_each, for_each_taken
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.schedule import seed_of
from jrh.running.stages.coming_trials import ComingTrials, Pending, PlanFeed, in_folds
from jrh.running.units import AT_ONCE, Answered, answer, spreads
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved
from jrh.text.display import utf8_text
from jrh.text.redact import Redactor, error_line
from jrh.values.cases import Case, Changes, Equals, Sampling
from jrh.values.clusters import ItemBlocks
from jrh.values.events import RecordCommitted
from jrh.values.items import Item, Task
from jrh.values.scales import invert
from jrh.values.verdicts import Judgement, Question, Record, Reply, Status, Truth, Verdict

DETAIL: Final = 2000
"""Characters of a detail or a rationale that a record keeps."""


def question_of(task: Task, trial: Pending) -> Question:
    """Return what a judge is asked."""
    case = trial.case
    seed = seed_of(trial.trial_id)
    # With one seed, repeats would be copies of the same draw.
    sampling = evolve(case.sampling, seed=seed) if case.vary_seed else case.sampling
    return Question(
        trial_id=trial.trial_id,
        task=case.presented_task or task,
        fields=case.fields,
        prompt=case.prompt,
        sampling=sampling,
        output=case.condition.output,
        occasion=trial.occasion,
        seed=seed,
    )


def make_row(
    trial: Pending, judge: str, simulated: bool, judgement: Judgement, redact: Redactor
) -> tuple[Record, str | None, str | None]:
    """Write a judgement down as a record, its reply and its label probabilities.

    Raises:
        TypeError: the judge returned something else.
    """
    if not isinstance(judgement, Judgement):
        raise TypeError(f"the judge returned {type(judgement).__name__}, not a Judgement")
    verdict = settle(judgement.verdict, trial.case)
    record = make_record(trial, judge, simulated, judgement, verdict, redact)
    reply = redact(to_text_once(judgement.reply)) if judgement.reply is not None else None
    chances = redact(to_text(dict(verdict.probabilities))) if verdict.probabilities else None
    return record, reply, chances


def settle(verdict: Verdict, case: Case) -> Verdict:
    """Bring a judge's verdict to the canonical scale, and a broken one to a status."""
    if verdict.status is not Status.OK:
        return evolve(verdict, presented=None, canonical=None, score=None)
    # Contradictions become a status: a score or a label that means nothing must not reach a mean.
    if verdict.presented is None:
        return evolve(verdict, status=Status.PLUGIN_ERROR, score=None, detail="the judge says ok and gives no label")
    score = verdict.score
    if score is not None and not math.isfinite(score):
        detail = f"the judge says ok and its score is {score}"
        return evolve(verdict, status=Status.PLUGIN_ERROR, presented=None, score=None, detail=detail)
    canonical = case.label_map.get(verdict.presented)
    if canonical is None:
        detail = f"'{verdict.presented[:80]}' is not one of {', '.join(case.label_map)}"
        return evolve(verdict, status=Status.OFF_SCALE, presented=None, score=None, detail=detail)
    # The score of a comparison changes its sign with the order of the options.
    if score is not None and case.condition.option_order == "BA":
        score = -score
    return evolve(verdict, canonical=canonical, score=score)


def make_record(
    trial: Pending, judge: str, simulated: bool, judgement: Judgement, verdict: Verdict, redact: Redactor
) -> Record:
    """Write one trial down as a row; the verdict is the judgement's, settled."""
    case, condition, reply = trial.case, trial.case.condition, judgement.reply
    usage = reply.usage if reply else None
    # A judge that hands back no reply may have called a model by itself: nothing is known of what it used.
    unused = 0 if simulated or verdict.status is Status.PLUGIN_ERROR else None
    return Record(
        trial_id=trial.trial_id,
        case_id=case.id,
        item_id=case.item_id,
        task=case.task,
        test=case.test,
        family=condition.family,
        variant=utf8_text(condition.variant),
        template=utf8_text(condition.template),
        option_order=utf8_text(condition.option_order),
        polarity=condition.polarity.value,
        strength=condition.strength,
        language=utf8_text(condition.language),
        output=output_level(condition.output, case.sampling),
        # What a model cannot be told is no level of a facet.
        temperature=None if reply and "temperature" in reply.not_settable else case.sampling.temperature,
        stratum=utf8_text(case.stratum),
        group=utf8_text(case.group),
        judge=judge,
        simulated=simulated,
        repeat=trial.repeat,
        gold=case.gold,
        expectation=None if case.expectation is None else expectation_kind(case.expectation),
        expected=case.expectation.label if isinstance(case.expectation, Equals) else None,
        status=verdict.status,
        presented=verdict.presented,
        canonical=verdict.canonical,
        probability=verdict.probabilities.get(verdict.presented) if verdict.presented else None,
        # A reply that several judgements share is paid once: each has its part.
        cost=_part(reply.cost, judgement.share) if reply else unused,
        prompt_tokens=_whole_part(usage.prompt_tokens, judgement.share) if usage else unused,
        completion_tokens=_whole_part(usage.completion_tokens, judgement.share) if usage else unused,
        latency=reply.latency if reply else None,
        attempts=reply.attempts if reply else 1,
        # Masked before it is cut: a part of a key would not be recognised.
        detail=utf8_text(redact(verdict.detail)[:DETAIL]),
        rationale=utf8_text(redact(verdict.rationale)[:DETAIL]),
        left_out=int(judgement.left_out),
        not_settable=", ".join(reply.not_settable) if reply else "",
        seed=_condition_seed(case, reply),
        # Nothing is read where no reply came, and jrh's own judges read one: asking until a verdict can be read would
        # choose among verdicts.
        parse_attempts=0 if reply is not None and not reply.ok else int(judgement.parse_attempts),
        score=verdict.score,
    )


def _part(amount: float | None, share: tuple[int, int]) -> float | None:
    return amount if amount is None or share[1] == 1 else amount / share[1]


def _whole_part(number: int | None, share: tuple[int, int]) -> int | None:
    """Divide a whole number so that the parts of all places add up to it."""
    place, of = share
    return None if number is None else number // of + (place < number % of)


def output_level(output: str, sampling: Sampling) -> str:
    """Return the level of the facet `output`: output mode, reasoning effort, longest reply, as far as stated."""
    settings = {"reasoning": sampling.reasoning_effort, "max_tokens": sampling.max_tokens}
    stated = [f"{name}={value}" for name, value in settings.items() if value is not None]
    return utf8_text(", ".join([output, *stated] if output else stated))


def _condition_seed(case: Case, reply: Reply | None) -> str:
    """Return the seed that the condition fixes; where every repeat has its own, or the model takes none, nothing."""
    seed = case.sampling.seed
    taken = not case.vary_seed and not (reply and "seed" in reply.not_settable)
    return str(seed) if taken and seed is not None else ""


_HELD: Final = 500
"""Items of a long list that are kept after they are read."""


def originals(store: Store, items: Mapping[str, Sequence[Item]], task: str) -> Callable[[str], Item]:
    """Return what finds an item by its id; the store is asked where there are too many to hold."""
    known = items[task]
    if isinstance(known, ItemBlocks):

        @lru_cache(maxsize=_HELD)
        def find_item(item_id: str) -> Item:
            item = store.items.find(task, item_id)
            assert item is not None
            return item

        return find_item
    return {item.id: item for item in known}.__getitem__


def truth(case: Case, item: Item) -> Truth:
    """Return the truth about a case of an item for a judge with planted behaviour."""
    changes = isinstance(case.expectation, Changes)
    right = case.expectation.label if isinstance(case.expectation, Equals) else None if changes else case.gold
    return Truth(
        item_id=case.item_id,
        gold=case.gold,
        expected=invert(case.label_map, right) if right is not None else None,
        changes=changes,
        condition=case.condition,
        label_map=case.label_map,
        reference_fields=item.fields,
    )


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
