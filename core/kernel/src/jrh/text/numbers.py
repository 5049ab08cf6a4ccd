"""Format counts and amounts of money consistently."""

from __future__ import annotations

from typing import Final

_CENTS: Final = 0.0001
"""Smaller amounts of money are written as `<`."""


def counted(number: int, singular: str, plural: str = "") -> str:
    """Format a number with its noun: `1 item`, `1,680 trials`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def format_dollars(cost: float, unknown: int = 0, replies: int | None = None) -> str:
    """Format a cost; replies of unknown price never count as free.

    Args:
        cost: US dollars of the replies whose price is known.
        unknown: replies of unknown price.
        replies: number of all replies; if none has a price, the cost is `unknown`.
    """
    if unknown and replies is not None and unknown >= replies:
        return "unknown"
    known = f"<${_CENTS}" if 0 < cost < _CENTS else f"${cost:,.4f}" if cost else "$0"
    if not unknown:
        return known
    return f"{known} + {unknown:,} {'call' if unknown == 1 else 'calls'} of unknown price"
