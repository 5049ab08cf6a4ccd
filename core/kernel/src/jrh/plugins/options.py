"""Declare one option of a component: its help text, its checks and its default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

T = TypeVar("T")


def option(
    help: str, *validators: Callable[[Any, Any, Any], Any], default: Any = attrs.NOTHING, repr: bool = True
) -> Any:
    """Make a field of an options class; `jrh plugins show` prints its help text and its default.

    Example:
        `attempts: int = option("attempts per text", ge(1), le(20), default=3)`

    Args:
        help: what the option does, in one sentence.
        validators: attrs validators; a value has to pass all of them.
        default: the value where a suite says nothing, or an `attrs.Factory`; without one the option is required.
        repr: whether the value may be shown.
    """
    # attrs runs a single validator as it is, and several one after the other.
    check = validators[0] if len(validators) == 1 else list(validators) or None
    return attrs.field(default=default, validator=check, repr=repr, metadata={"help": help})


def read_value(value: Any, kind: type[T]) -> T:
    """Return a plain value, such as one from JSON, as a type, strictly: as the options of a suite are read.

    Raises:
        JrhError: it does not fit; the text says where.
    """
    from jrh.document.convert import structure  # declarations are made without cattrs

    return structure(value, kind)


def plain_value(value: object) -> Any:
    """Return a value as JSON can hold it; `read_value` reads it back."""
    from jrh.document.convert import to_json

    return to_json(value)
