"""Reliability curves: how often verdicts are right that are given with a probability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from attrs import frozen
from jrh import Measure
from jrh.text import visible_line
from markupsafe import Markup

from jrh_report.html.axis import Axis, linear
from jrh_report.html.kinds import PlotKind
from jrh_report.html.svg import INK, SIZE, Drawing, colour

ABREAST: Final = 3
"""Curves beside each other at most."""
_SIDE: Final = 137
_STEP: Final = (173, 212)
"""From one curve to the next, across and down."""
_LEFT: Final = 40
_RIGHT: Final = 29
_HEAD: Final = 26
_ABOVE: Final = 18
"""Room above the share of 1, for the numbers of items. All sizes are points."""
_DIGIT: Final = 0.036
"""Width of a digit above the points, on the axis of probabilities."""
_TURNED: Final = 0.05
"""From one turned number to the next, at least."""
_NAME: Final = 26
_SHORT: Final = 14


@frozen(kw_only=True)
class Point:
    """One bin."""

    stated: float
    """Mean of the stated probabilities."""
    measure: Measure
    """Share of right verdicts, with an estimate."""
    place: int
    """Place of the measure among the report's."""


@frozen(kw_only=True)
class Curve:
    """One judge."""

    judge: str
    simulated: bool
    series: int
    points: tuple[Point, ...]


def draw_curves(curves: Sequence[Curve], task: str, key: str) -> Markup:
    """Draw the curves beside each other.

    Args:
        curves: one or more.
        task: the task's name.
        key: distinct for every figure of the page.
    """
    rows = -(-len(curves) // ABREAST)
    width = _LEFT + min(len(curves), ABREAST) * _STEP[0] - _RIGHT
    drawing = Drawing(kind=PlotKind.RELIABILITY, key=key, width=width, height=rows * _STEP[1])
    for place, curve in enumerate(curves):
        down, along = divmod(place, ABREAST)
        left, top = _LEFT + along * _STEP[0], _HEAD + down * _STEP[1]
        bottom = top + _ABOVE + _SIDE
        across = _shares(left, left + _SIDE)
        up = _shares(bottom, top + _ABOVE)
        drawing.text(left + _SIDE / 2, top - SIZE, _named(curve), anchor="middle", bold=True)
        drawing.across(across, top + _ABOVE, bottom, "mean stated probability")
        drawing.upwards(up, left, left + _SIDE, "share right" if along == 0 else "")
        drawing.line([(across.at(share), up.at(share)) for share in (0, 1)], INK, 1, dashed=True)
        _points(drawing, across, up, curve)
    return drawing.markup(
        f"Reliability curves, task {visible_line(task)}",
        "Share of right verdicts against the probability that each judge states, with intervals and numbers of items. "
        "The table below holds the same numbers.",
    )


def _shares(start: float, end: float) -> Axis:
    return linear(-0.03, 1.03, start, end, 3)


def _points(drawing: Drawing, across: Axis, up: Axis, curve: Curve) -> None:
    points = sorted(curve.points, key=lambda each: each.stated)
    places = [(across.at(each.stated), up.at(each.measure.estimate or 0.0)) for each in points]
    drawing.line(places, colour(curve.series), 0.8)
    for point, (x, y) in zip(points, places, strict=True):
        interval = point.measure.interval
        if interval is not None:
            ends = ((x, up.at(interval.low)), (x, up.at(interval.high)))
            drawing.line(ends, colour(curve.series), 1.6, of=(point.place, "interval-share"))
        drawing.marker(x, y, curve.series, (point.place, "share"))
    _items(drawing, across, up.at(1.0) - 7, points)


def _items(drawing: Drawing, across: Axis, y: float, points: Sequence[Point]) -> None:
    """Write the numbers of items above the points, turned and moved aside where they would run into each other."""
    longest = max(len(str(each.measure.n_items)) for each in points)
    turned = any(after.stated - before.stated < _DIGIT * longest + 0.01 for before, after in pairwise(points))
    at = -1.0
    for each in points:
        at = max(each.stated, at + _TURNED) if turned else each.stated
        anchor, x = ("start", across.at(at) + 2.5) if turned else ("middle", across.at(at))
        drawing.text(x, y, f"{each.measure.n_items}", anchor=anchor, size=7, turned=turned)


def _named(curve: Curve) -> str:
    name, limit = visible_line(curve.judge), _SHORT if curve.simulated else _NAME
    name = name if len(name) <= limit else f"{name[: limit - 1]}…"
    return f"{name} (simulated)" if curve.simulated else name
