"""Ask a Python callable of the user."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from typing import Any

from attrs import frozen
from attrs.validators import gt, matches_re
from jrh.errors import JrhError
from jrh.plugins import option
from jrh.plugins.protocols import BuildContext
from jrh.values.option_values import CodeName

from jrh_authoring.own_code import Bounds, Call, Outcome, failed


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
    return _caller(load_function("function", options.function, context.code))


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


def _caller(function: Callable[..., Any]) -> Call:
    direct = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    async def call(values: dict[str, object]) -> Outcome:
        try:
            answer = await function(values) if direct else await _in_thread(function, values)
            if inspect.isawaitable(answer):
                answer = await answer
        except TimeoutError:
            raise
        except Exception as error:  # a failing judge must not fail the run
            return failed(f"the judge raised {type(error).__name__}: {error}")
        return Outcome(value=answer, text=answer if isinstance(answer, str) else "")

    return call


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
        except BaseException as error:  # re-raised in the caller: the thread itself has no one to report to
            raised = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, result, raised)

    threading.Thread(target=work, name="jrh-function-judge", daemon=True).start()
    result, raised = await done
    if raised is None:
        return result
    if isinstance(raised, Exception):
        raise raised
    raise RuntimeError(f"{type(raised).__name__}: {raised}") from raised
