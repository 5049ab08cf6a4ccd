"""Read secrets from the environment; a plan needs none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_PLACEHOLDER: Final = "not-set"

_optional: ContextVar[bool] = ContextVar("optional", default=False)
_noted: ContextVar[list[str] | None] = ContextVar("noted", default=None)


def read_secret(variable: str) -> str:
    """Return the value of an environment variable without spaces around it; empty if it is not set.

    Under `jrh plan` a variable that is not set has a placeholder, because a plan sends nothing.
    """
    noted = _noted.get()
    if noted is not None and variable not in noted:
        noted.append(variable)
    value = os.environ.get(variable, "").strip()
    return value or (_PLACEHOLDER if _optional.get() else "")


@contextmanager
def noting_secrets() -> Iterator[list[str]]:
    """Note the names of the variables that components read while they are built."""
    names: list[str] = []
    token = _noted.set(names)
    try:
        yield names
    finally:
        _noted.reset(token)


@contextmanager
def secrets_optional() -> Iterator[None]:
    """Let components be built without their secrets; they must not send anything."""
    token = _optional.set(True)
    try:
        yield
    finally:
        _optional.reset(token)
