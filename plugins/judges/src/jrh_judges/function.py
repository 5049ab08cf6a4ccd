"""Call a Python callable as a judge."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from jrh import BuildContext, JrhError, content_id
from jrh.plugins import Judge

from jrh_judges.inhouse import Call, InHouseJudge, Outcome, failed
from jrh_judges.options import FunctionOptions


def function_judge(options: FunctionOptions, context: BuildContext) -> Judge:
    """Load the callable and make a judge of it.

    Raises:
        JrhError: The module or name does not exist, or is not callable.
    """
    call = _caller(_load(options.function, context.base))
    return InHouseJudge(call, options, fingerprint=f"function/{options.function}")


def _load(written: str, base: Path) -> Callable[..., Any]:
    place, _, name = written.rpartition(":")
    found: Any = _file(base / place) if place.endswith(".py") else _module(place)
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise JrhError(f"function '{written}': {place} has no '{name}'") from None
    if not callable(found):
        raise JrhError(f"function '{written}' is not callable (type {type(found).__name__})")
    return found  # type: ignore[no-any-return]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise JrhError(
            f"function: module '{name}' cannot be imported ({error}); install it, or write path/to/file.py:name"
        ) from error
    except Exception as error:  # the module is the user's and may raise anything
        raise JrhError(f"function: module '{name}' fails when imported: {type(error).__name__}: {error}") from error


def _file(path: Path) -> ModuleType:
    absolute = path.absolute()
    name = f"jrh_judge_{content_id(str(absolute))[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    if not absolute.is_file():
        raise JrhError(f"function: file '{path}' not found; paths are relative to the suite's directory")
    spec = importlib.util.spec_from_file_location(name, absolute)
    if spec is None or spec.loader is None:
        raise JrhError(f"function: '{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Register the module before it runs, as the import system does: dataclasses and attrs look it up.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise JrhError(f"function: '{path}' fails when loaded: {type(error).__name__}: {error}") from error
    return module


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
