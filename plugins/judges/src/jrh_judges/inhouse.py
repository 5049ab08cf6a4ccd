"""Ask user-supplied judges: questions as plain values, limited time, failures as statuses."""

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
"""Maximum length of an answer in bytes."""
_DETAIL = 300
_LONGEST_WAIT = 300.0


@frozen(kw_only=True)
class Outcome:
    """The outcome of one attempt."""

    status: Status = Status.OK
    value: object = None
    """The answer, with status `ok`."""
    text: str = ""
    """The answer as written, if it was text."""
    detail: str = ""
    retry: bool = False
    """Whether asking again can help."""


Call: TypeAlias = Callable[[dict[str, object]], Awaitable[Outcome]]
"""Asks one question once; returns expected failures as outcomes."""


def failed(detail: str, *, status: Status = Status.PROVIDER_ERROR, retry: bool = True) -> Outcome:
    """Return the outcome of an attempt that failed."""
    return Outcome(status=status, detail=detail[:_DETAIL], retry=retry)


def as_values(question: Question) -> dict[str, object]:
    """Return what a user-supplied judge sees: task, labels, fields, repeat, seed. New values on every call.

    The gold label and the condition are not included.
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
    """Asks a user-supplied judge, with limited concurrency and time."""

    def __init__(
        self, call: Call, bounds: Bounds, *, fingerprint: str, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Keep the call for one question, its limits, and the clean-up for the end."""
        self._call = call
        self._close = close
        self._bounds = bounds
        self._fingerprint = fingerprint
        self._places = asyncio.Semaphore(bounds.concurrency)

    async def judge(self, question: Question) -> Judgement:
        """Ask; timeouts and failures become statuses."""
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
        """Close the judge's resources; asking again reopens them."""
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
                return failed("the judge reported a timeout", status=Status.TIMEOUT)
            return failed(f"no answer within {self._bounds.timeout:g} s", status=Status.TIMEOUT)
