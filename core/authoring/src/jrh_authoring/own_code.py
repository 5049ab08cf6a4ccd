"""Ask user-supplied code: questions as plain values, limited time and attempts, failures as outcomes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from attrs import asdict, frozen
from attrs.validators import ge, gt, le, optional
from jrh.plugins import option
from jrh.values.json_values import Json
from jrh.values.verdicts import Question, Status

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
    """Return what a user-supplied judge sees: task, labels, fields, repeat, seed; a new copy on every call.

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


@frozen(kw_only=True)
class Bounds:
    """Limits for a user-supplied judge."""

    timeout: float = option("seconds for one attempt", gt(0.0), default=60.0)
    attempts: int = option("total attempts if the judge fails or times out", ge(1), le(10), default=1)
    wait: float = option(
        "seconds before the second attempt; doubles with each further one", ge(0.0), le(300.0), default=1.0
    )
    concurrency: int = option("questions asked at the same time", gt(0), default=4)
    cost: float | None = option("US dollars per attempt; null: unknown, 0: free", optional(ge(0.0)), default=None)
    version: str = option(
        "free text; edit it after a change to the judge that jrh cannot see: jrh then asks everything again", default=""
    )


def decoded(text: str) -> object:
    """Return the JSON value of a text or, if it is not JSON, the stripped text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


class Asker:
    """Asks user-supplied code, with limited concurrency and time."""

    def __init__(self, call: Call, bounds: Bounds) -> None:
        """Keep the call for one question and its limits."""
        self._call = call
        self._bounds = bounds
        self._places = asyncio.Semaphore(bounds.concurrency)

    async def ask(self, values: Callable[[], dict[str, object]]) -> tuple[Outcome, int, float]:
        """Ask one question; return the outcome, the number of attempts and the seconds of the last one.

        Args:
            values: returns the question, new values on every call: user code may change what it gets.
        """
        async with self._places:
            return await self._attempts(values)

    async def _attempts(self, values: Callable[[], dict[str, object]]) -> tuple[Outcome, int, float]:
        for attempt in range(1, self._bounds.attempts + 1):
            if attempt > 1:
                await asyncio.sleep(min(self._bounds.wait * 2 ** (attempt - 2), _LONGEST_WAIT))
            started = time.perf_counter()
            outcome = await self._once(values)
            latency = time.perf_counter() - started
            if not outcome.retry:
                break
        return outcome, attempt, latency

    async def _once(self, values: Callable[[], dict[str, object]]) -> Outcome:
        try:
            async with asyncio.timeout(self._bounds.timeout) as clock:
                return await self._call(values())
        except TimeoutError:
            if not clock.expired():
                return failed("the judge reported a timeout", status=Status.TIMEOUT)
            return failed(f"no answer within {self._bounds.timeout:g} s", status=Status.TIMEOUT)
