"""Read secrets from the environment; a plan needs none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")

_PLACEHOLDER: Final = "not-set"

# Context variables, so that tasks and threads that build components do not see each other's.
_optional: ContextVar[bool] = ContextVar("optional", default=False)
_noted: ContextVar[list[str] | None] = ContextVar("noted", default=None)


def read_secret(variable: str) -> str:
    """Return the value of an environment variable without spaces around it; empty if it is not set.

    Under `jrh plan` a variable that is not set has a placeholder, because a plan sends nothing.
    """
    # Also what is not set: the message about a refused key names the variables to check.
    noted = _noted.get()
    if noted is not None and variable not in noted:
        noted.append(variable)
    value = os.environ.get(variable, "").strip()
    return value or (_PLACEHOLDER if _optional.get() else "")


def note_secrets() -> AbstractContextManager[list[str]]:
    """Note the names of the variables that components read while they are built."""
    return _set_within(_noted, [])


def secrets_optional() -> AbstractContextManager[bool]:
    """Let components be built without their secrets; they must not send anything."""
    return _set_within(_optional, True)


@contextmanager
def _set_within(variable: ContextVar[Any], value: T) -> Iterator[T]:
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)
