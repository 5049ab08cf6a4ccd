"""Read option orders and polarities as logs write them, and tell what a presented label means under them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from jrh import JrhError, Polarity, ScaleKind, Task

_TWO: Final = 2
# `B/A`, `b, a` and `B > A` are one order.
_BETWEEN: Final = re.compile(r"[\s_\-/,;|>]+")
ORIGINAL: Final = ("original", "unswapped", "not swapped", "normal", "forward", "first", "a first")
"""Words for the item's own order, A before B."""
SWAPPED: Final = ("swapped", "swap", "reversed", "reverse", "flipped", "backward", "second", "b first")
"""Words for B before A; a task with more than two options has no single swapped order."""
POSITIVE: Final = ("positive", "pos", "normal", "original", "direct")
"""Words for a question that asks for the quality."""
INVERTED: Final = ("inverted", "inverse", "negative", "neg", "negated", "reversed")
"""Words for a question that asks for the opposite."""


def read_order(text: str, task: Task, orders: Mapping[str, str] | None = None) -> str:
    """Return an option order as letters, such as `BA`; empty text is the item's own order.

    Case and separators do not matter: `ba` and `B/A` are `BA`. For two options `original`, `swapped` and their
    synonyms are known. Codes such as 0 and 1 need `orders`: nothing else can say which of them is swapped.

    Args:
        text: the order as the log writes it.
        task: the task, whose scale has the options.
        orders: text in the log -> order.

    Raises:
        JrhError: the text is no order of the task's options.
    """
    bare = text.strip()
    written = (orders or {}).get(bare, bare)
    if not written.strip():
        return ""
    letters = task.scale.own_order
    if not letters:
        raise JrhError(
            f"an option order needs a pairwise scale; task '{task.name}' has the labels "
            f"{', '.join(task.scale.labels)}. Use `variant` for anything else that differs between questions"
        )
    order = _BETWEEN.sub("", written).upper()
    if sorted(order) == sorted(letters):
        return order
    word = _BETWEEN.sub(" ", written).strip().casefold()
    if word in ORIGINAL:
        return letters
    if word in SWAPPED and len(letters) == _TWO:
        return letters[::-1]
    raise JrhError(_no_order(written, letters))


def read_polarity(text: str, polarities: Mapping[str, str] | None = None) -> str:
    """Return a polarity, `positive` or `inverted`; empty text is positive.

    Args:
        text: the polarity as the log writes it; case does not matter.
        polarities: text in the log -> polarity, for codes such as 0 and 1.

    Raises:
        JrhError: the text is no polarity.
    """
    bare = text.strip()
    written = (polarities or {}).get(bare, bare).strip()
    word = written.casefold()
    if not word or word in POSITIVE:
        return Polarity.POSITIVE.value
    if word in INVERTED:
        return Polarity.INVERTED.value
    raise JrhError(
        f"'{written}' is not a polarity. Accepted: positive ({', '.join(POSITIVE[1:])}) or inverted "
        f'({", ".join(INVERTED[1:])}). Map other text, for example `polarities: {{"0": positive, "1": inverted}}`'
    )


def meanings(task: Task, option_order: str, polarity: str) -> Mapping[str, str]:
    """Return presented label -> canonical label of a question with this order and polarity.

    Raises:
        JrhError: the order or the polarity is not one of the task.
    """
    scale, order = task.scale, read_order(option_order, task)
    options = scale.options
    # A tie means a tie in every order: only the letters move.
    shown = scale.identity_map() | (dict(zip(options, order, strict=True)) if order else {})
    if read_polarity(polarity) != Polarity.INVERTED.value:
        return shown
    # Of three options, "the worst" says nothing about which of the others is the best.
    if scale.kind is ScaleKind.PAIRWISE and len(options) > _TWO:
        raise JrhError(f"inverted polarity has no single meaning with {len(options)} options; import canonical labels")
    opposite = scale.swap_map()
    return {presented: opposite[meant] for presented, meant in shown.items()}


def _no_order(written: str, own: str) -> str:
    if len(own) > _TWO:
        return (
            f"'{written}' is not an order of the options {', '.join(own)}. Accepted: the letters in the order in "
            f"which they were shown, such as {own} or {own[1:] + own[0]}; `original` for {own}"
        )
    other = own[::-1]
    return (
        f"'{written}' is not an option order. Accepted: {own} ({', '.join(ORIGINAL)}) or {other} "
        f'({", ".join(SWAPPED)}). Map other text, for example `orders: {{"0": {own}, "1": {other}}}`'
    )
