"""Ask user-supplied code: questions as plain values, limits, failures as outcomes; callables of the user."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import asdict, frozen
from attrs.validators import ge, gt, le, matches_re, optional
from jrh import BuildContext, JrhError, Json, Question, Status
from jrh.hashing import RepeatedKeyError, distinct_keys
from jrh.plugins import option
from jrh.values import CodeName

# Far more than a label or a small object takes; a longer answer is refused before it fills the memory.
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


def failure(detail: str, *, status: Status = Status.PROVIDER_ERROR, retry: bool = True) -> Outcome:
    """Return the outcome of an attempt that failed."""
    # Details are stored with every record: a traceback of a megabyte must not be.
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
        # Settings that the suite leaves out are left out here as well: a judge must not read None as a temperature.
        "sampling": {name: value for name, value in asdict(question.sampling).items() if value is not None},
    }


def _plain(value: Json) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    # Fields are shared between cases: the user's code gets copies that it may change.
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


def parse_answer(text: str) -> object:
    """Return the JSON value of a text or, if it is not JSON, the stripped text; one with a key twice is no answer."""
    try:
        return json.loads(text, object_pairs_hook=distinct_keys)
    except RepeatedKeyError as error:
        return {"status": Status.UNPARSABLE.value, "detail": str(error)}
    except (ValueError, RecursionError):
        # A program that prints `YES` is as good as one that prints JSON.
        return text.strip()


class Asker:
    """Asks user-supplied code, with limited concurrency and time."""

    def __init__(self, call: Call, bounds: Bounds) -> None:
        """Keep the call for one question and its limits."""
        self._call = call
        self._bounds = bounds
        # The judge's own limit: the limits of models do not apply to code of the user.
        self._places = asyncio.Semaphore(bounds.concurrency)

    async def ask(self, values: Callable[[], dict[str, object]]) -> tuple[Outcome, int, float]:
        """Ask one question; return the outcome, the number of attempts and the seconds of the last one.

        Args:
            values: returns the question, new values on every call: user code may change what it gets.
        """
        async with self._places:
            for attempt in range(1, self._bounds.attempts + 1):
                if attempt > 1:
                    # The place is kept while waiting, so that a judge that is overloaded gets fewer questions, not
                    # others.
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
            # The user's own timeout and jrh's look alike; only the clock tells them apart.
            if not clock.expired():
                return failure("the judge reported a timeout", status=Status.TIMEOUT)
            return failure(f"no answer within {self._bounds.timeout:g} s", status=Status.TIMEOUT)


@frozen(kw_only=True)
class OwnFunction(Bounds):
    """The options that name a callable."""

    function: CodeName = option(
        "the callable, as module:name or path/to/file.py:name", matches_re(r"[^:\s][^:]*:[A-Za-z_][\w.]*")
    )
    concurrency: int = option(
        "questions asked at the same time; above 1 the callable must be thread-safe", gt(0), default=1
    )


def function_call(options: OwnFunction, context: BuildContext) -> Call:
    """Load the callable, and return the function that asks it.

    Raises:
        JrhError: The module or name does not exist, or is not callable.
    """
    function = load_function("function", options.function, context.code)
    # An object with an async `__call__` is no coroutine function itself, but must not go to a thread.
    direct = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    async def call(values: dict[str, object]) -> Outcome:
        try:
            answer = await function(values) if direct else await _in_thread(function, values)
            # A plain function may return a coroutine, such as a lambda around an async one.
            if inspect.isawaitable(answer):
                answer = await answer
        except TimeoutError:
            raise
        except Exception as error:  # a failing judge must not fail the run
            return failure(f"the judge raised {type(error).__name__}: {error}")
        return Outcome(value=answer, text=answer if isinstance(answer, str) else "")

    return call


def load_function(option: str, written: str, code: Callable[[str], Any]) -> Callable[..., Any]:
    """Return the function at `module:name` or `path/to/file.py:name`.

    Args:
        option: where it is named, for messages.
        written: as the option names it.
        code: loads it, such as `BuildContext.code`.

    Raises:
        JrhError: It cannot be loaded, or is not callable.
    """
    try:
        function = code(written)
    except Exception as error:  # the module is the user's, and may raise anything
        reason = str(error) if isinstance(error, JrhError) else f"{type(error).__name__}: {error}"
        raise JrhError(f"{option}: '{written}' cannot be loaded: {reason}") from error
    if not callable(function):
        raise JrhError(f"{option}: '{written}' is not callable (type {type(function).__name__})")
    return function  # type: ignore[no-any-return]


async def _in_thread(function: Callable[..., Any], values: dict[str, object]) -> Any:
    """Call the function in a new daemon thread.

    A thread cannot be stopped. As a daemon, a call that never returns cannot keep the program from exiting, as it would
    in a pool, whose threads are joined at exit.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def deliver(result: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((result, error))

    def work() -> None:
        result, raised = None, None
        try:
            result = function(values)
        # Also SystemExit: a judge that calls `sys.exit` must not end the thread silently and hang the question.
        except BaseException as error:  # re-raised in the caller: the thread itself has no one to report to
            raised = error
        # The run may have ended while the call went on in its thread.
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, result, raised)

    threading.Thread(target=work, name="jrh-function-judge", daemon=True).start()
    result, raised = await done
    if raised is None:
        return result
    # SystemExit and KeyboardInterrupt of the judge must not end the run.
    if isinstance(raised, Exception):
        raise raised
    raise RuntimeError(f"{type(raised).__name__}: {raised}") from raised
