"""Axes of the page's plots: where a value stands, and which values are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from attrs import field, frozen

_STEPS: Final = (1.0, 2.0, 5.0, 10.0)
_DIGITS: Final = 6
"""After the point, at most; smaller steps are written with a power of ten."""
_FEW: Final = 3
"""Decades; where an axis has no more of them, 2 and 5 are written as well."""


@frozen(kw_only=True)
class Axis:
    """A scale from values to places of the drawing."""

    low: float
    high: float
    start: float
    """Place of `low`, in points."""
    end: float
    """Place of `high`."""
    ticks: Sequence[tuple[float, str]]
    """Values that are written, and how."""
    scale: Callable[[float], float] = field(default=float)
    """The place of a value is linear in `scale(value)`."""

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.scale(self.low), self.scale(self.high)
        return self.start + (self.end - self.start) * (self.scale(value) - low) / (high - low)


def linear(low: float, high: float, start: float, end: float, count: int = 7) -> Axis:
    """Return a linear axis with at most `count` round numbers."""
    step = _step(low, high, count)
    values = [place * step for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    return Axis(low=low, high=high, start=start, end=end, ticks=[(value, _written(value, step)) for value in values])


def logarithmic(values: Sequence[float], start: float, end: float, room: float) -> Axis:
    """Return a logarithmic axis for values of 0 or more; 0 stands a decade below the least of the others.

    Args:
        values: what has to fit, one of them above 0.
        start: place of the low end.
        end: place of the high end.
        room: beside the outermost values, as a share of their distance.
    """
    least = min(value for value in values if value)
    floor = least if min(values) > 0 else least / 10

    def scale(value: float) -> float:
        return math.log10(max(value, floor))

    first, last = math.log10(floor), math.log10(max(values))
    beside = room * (last - first)
    low, high = 10 ** (first - beside), 10 ** (last + beside)
    decades = range(math.floor(math.log10(least)), math.floor(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(decades) <= _FEW else (1,)
    written = [factor * 10.0**decade for decade in decades for factor in factors]
    ticks = [(value, f"{value:g}") for value in written if low <= value <= high and value >= least * 0.999]
    zero = [(floor, "0")] if min(values) <= 0 else []
    return Axis(low=low, high=high, start=start, end=end, ticks=[*zero, *ticks], scale=scale)


def _step(low: float, high: float, count: int) -> float:
    """Return the smallest round step of which at most `count` fit."""
    least = (high - low) / count
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in _STEPS if step * decade >= least * (1 - 1e-9))


def _written(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:.{digits}f}" if digits <= _DIGITS else f"{value:.3g}"
