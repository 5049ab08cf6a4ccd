"""Numbers and names as they are written."""

from __future__ import annotations

from jrh import Interval
from jrh.text import format_dollars
from jrh_measuring import format_ends, format_number

from jrh_compare.results import Point, SideName

_DIGITS = 3
_SHOWN = 160


def side(name: SideName) -> str:
    """Return a side's label, marked where its answers are made up."""
    return f"{name.label} (simulated)" if name.simulated else name.label


def number(value: float | None, *, proportion: bool = True) -> str:
    """Write a number; `-` where there is none."""
    return "-" if value is None else format_number(value, _DIGITS, proportion=proportion)


def difference(value: float, low: float | None, high: float | None) -> str:
    """Write a difference with its sign and its interval, as reports do."""
    return f"{format_number(value, _DIGITS, proportion=False, signed=True, nonzero=True)}{_ends(low, high)}"


def dollars(point: Point, value: float | None) -> str:
    """Write a cost; trials of unknown price are never counted as free."""
    return "unknown" if value is None else format_dollars(value, point.unknown)


def interval(low: float | None, high: float | None) -> str:
    """Write the interval of a share after its estimate; nothing where there is none."""
    return _ends(low, high, proportion=True)


def _ends(low: float | None, high: float | None, *, proportion: bool = False) -> str:
    if low is None or high is None:
        return ""
    return f" {format_ends(Interval(low=low, high=high), _DIGITS, proportion=proportion)}"


def cut(text: str) -> str:
    """Shorten a text that is only shown."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
