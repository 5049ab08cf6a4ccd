"""Numbers and names as they are written."""

from __future__ import annotations

from collections.abc import Mapping

from jrh_compare.results import Point, SideName

_DIGITS = 3
_SHOWN = 160
_CENTS = 0.0001


def side(name: SideName) -> str:
    """Return a side's label, marked where its answers are made up."""
    return f"{name.label} (simulated)" if name.simulated else name.label


def number(value: float | None, *, signed: bool = False) -> str:
    """Write a number; what is not 0 is not written as 0, nor a share below 1 as 1."""
    if value is None:
        return "-"
    text = f"{value:+.{_DIGITS}f}" if signed else f"{value:.{_DIGITS}f}"
    step = 10.0**-_DIGITS
    if float(text) == 0:
        return f"{0:.{_DIGITS}f}" if not value else f"<{step:.{_DIGITS}f}" if value > 0 else f">-{step:.{_DIGITS}f}"
    return f">{1 - step:.{_DIGITS}f}" if float(text) == 1 and value < 1 else text


def dollars(point: Point, value: float | None) -> str:
    """Write a cost; trials of unknown price are never counted as free."""
    if value is None:
        return "unknown"
    known = f"<${_CENTS}" if 0 < value < _CENTS else f"${value:,.4f}" if value else "$0"
    return f"at least {known} ({point.unknown} of unknown price)" if point.unknown else known


def counts(found: Mapping[str, int]) -> str:
    """Write counts by name."""
    return ", ".join(f"{name} {count}" for name, count in found.items() if count)


def interval(low: float | None, high: float | None) -> str:
    """Write an interval after its estimate; nothing where there is none."""
    return "" if low is None or high is None else f" [{number(low)}, {number(high)}]"


def p_value(value: float | None) -> str:
    """Write a p-value."""
    return "-" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004


def cut(text: str) -> str:
    """Shorten a text that is only shown."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
