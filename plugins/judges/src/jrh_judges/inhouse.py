"""What judges of one's own have in common: a question as plain values, bounded time, failures as statuses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from attrs import asdict, frozen
from jrh import Json, Judgement, Question, Reply, Status, Verdict

from jrh_judges.answers import verdict_of
from jrh_judges.options import Bounds

MAX_ANSWER = 1_000_000
"""Most bytes of an answer that are taken."""
_DETAIL = 300
_LONGEST_WAIT = 300.0


@frozen(kw_only=True)
class Outcome:
    """What one attempt came to."""

    status: Status = Status.OK
    value: object = None
    """The answer, with status `ok`."""
    text: str = ""
    """The answer as it was written, where it was text."""
    detail: str = ""
    retry: bool = False
    """Whether asking again can help."""


Call: TypeAlias = Callable[[dict[str, object]], Awaitable[Outcome]]
"""Puts one question once; failures it knows of are outcomes."""


def failed(detail: str, *, status: Status = Status.PROVIDER_ERROR, retry: bool = True) -> Outcome:
    """Return the outcome of an attempt that failed."""
    return Outcome(status=status, detail=detail[:_DETAIL], retry=retry)


def as_values(question: Question) -> dict[str, object]:
    """Return what a judge of one's own is told: task, labels, fields, repeat, seed. New values on every call.

    Neither the gold label nor the condition is among them.
    """
    task = question.task
    return {
        "task": {
            "name": task.name,
            "instruction": task.instruction,
            "rubric": task.rubric,
            "mode": task.mode.value,
            "scale": task.scale.kind.value,
        },
        "labels": list(task.scale.labels),
        "fields": {name: _plain(value) for name, value in question.fields.items()},
        "repeat": question.occasion,
        "seed": question.seed,
        "sampling": {name: value for name, value in asdict(question.sampling).items() if value is not None},
    }


def _plain(value: Json) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(entry) for entry in value]
    return value


class InHouseJudge:
    """Puts questions to a judge of one's own, so many at a time, each within its time."""

    def __init__(
        self, call: Call, bounds: Bounds, *, fingerprint: str, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Keep how one question is put, what bounds it, and what is to be done when all are answered."""
        self._call = call
        self._close = close
        self._bounds = bounds
        self._fingerprint = fingerprint
        self._places = asyncio.Semaphore(bounds.concurrency)

    async def judge(self, question: Question) -> Judgement:
        """Ask; lateness and failure are statuses."""
        async with self._places:
            outcome, attempts, latency = await self._attempts(question)
        reply = Reply(
            status=outcome.status,
            text=outcome.text,
            cost=None if self._bounds.cost is None else self._bounds.cost * attempts,
            latency=latency,
            fingerprint=self._fingerprint,
            detail=outcome.detail,
            attempts=attempts,
        )
        if not reply.ok:
            return Judgement(verdict=Verdict(status=outcome.status, detail=outcome.detail), reply=reply)
        return Judgement(verdict=verdict_of(outcome.value, question.task.scale), reply=reply)

    async def aclose(self) -> None:
        """Close what was opened for the questions; asking again opens it again."""
        if self._close is not None:
            await self._close()

    async def _attempts(self, question: Question) -> tuple[Outcome, int, float]:
        for attempt in range(1, self._bounds.attempts + 1):
            if attempt > 1:
                await asyncio.sleep(min(self._bounds.wait * 2 ** (attempt - 2), _LONGEST_WAIT))
            started = time.perf_counter()
            outcome = await self._once(question)
            latency = time.perf_counter() - started
            if not outcome.retry:
                break
        return outcome, attempt, latency

    async def _once(self, question: Question) -> Outcome:
        try:
            async with asyncio.timeout(self._bounds.timeout) as clock:
                return await self._call(as_values(question))
        except TimeoutError:
            if not clock.expired():
                return failed("the judge reports that it was too late", status=Status.TIMEOUT)
            return failed(f"no answer within {self._bounds.timeout:g} s", status=Status.TIMEOUT)
