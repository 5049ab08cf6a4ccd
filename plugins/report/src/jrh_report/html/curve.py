"""Reliability curves: how often verdicts are right that are given with a probability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen
from jrh import Measure
from jrh.text import visible_line
from markupsafe import Markup

from jrh_report.html.svg import INK, inline, measure_id, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ABREAST: Final = 3
"""Curves beside each other at most."""
_SIDE: Final = 1.9
_STEP: Final = (2.4, 2.95)
"""From one curve to the next, across and down."""
_LEFT: Final = 0.55
_RIGHT: Final = 0.4
_FOOT: Final = 0.5
"""All sizes are inches."""
_DIGIT: Final = 0.036
"""Width of a digit above the points, on the axis of probabilities."""
_ABOVE: Final = 1.05
"""Where the numbers of items stand."""
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
    """Draw the curves beside each other, within `settings()`.

    Args:
        curves: one or more.
        task: the task's name.
        key: distinct for every figure of the page.
    """
    from matplotlib.figure import Figure

    rows = -(-len(curves) // ABREAST)
    width, height = _LEFT + min(len(curves), ABREAST) * _STEP[0] - _RIGHT, rows * _STEP[1] + _FOOT / 2
    figure = Figure(figsize=(width, height))
    for place, curve in enumerate(curves):
        down, across = divmod(place, ABREAST)
        left, bottom = _LEFT + across * _STEP[0], (rows - 1 - down) * _STEP[1] + _FOOT
        axes = figure.add_axes((left / width, bottom / height, _SIDE / width, (_SIDE + 0.25) / height))
        _frame(axes, curve, first=across == 0)
        _points(axes, curve)
    return inline(
        figure,
        key,
        f"Reliability curves, task {visible_line(task)}",
        "Share of right verdicts against the probability that each judge states, with intervals and numbers of items. "
        "The table below holds the same numbers.",
    )


def _frame(axes: Axes, curve: Curve, *, first: bool) -> None:
    axes.set_title(_named(curve), size=9, weight="bold", color=INK)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.17), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    axes.set_xlabel("mean stated probability")
    axes.set_ylabel("share right" if first else "")
    axes.set_axisbelow(True)
    axes.grid(linewidth=0.5)
    axes.plot((0, 1), (0, 1), color=INK, linewidth=1, linestyle="--")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _points(axes: Axes, curve: Curve) -> None:
    look: dict[str, Any] = dict(series(curve.series))
    points = sorted(curve.points, key=lambda each: each.stated)
    stated, shares = [each.stated for each in points], [each.measure.estimate or 0.0 for each in points]
    axes.plot(stated, shares, color=look["color"], linewidth=0.8)
    for point, share in zip(points, shares, strict=True):
        interval, x = point.measure.interval, point.stated
        if interval is not None:
            gid = measure_id(point.place, "interval-share")
            axes.plot((x, x), (interval.low, interval.high), color=look["color"], linewidth=1.6, gid=gid)
        axes.plot((x,), (share,), markersize=5, linewidth=0, gid=measure_id(point.place, "share"), **look)
    _items(axes, points)


def _items(axes: Axes, points: Sequence[Point]) -> None:
    """Write the numbers of items above the points, turned and moved aside where they would run into each other."""
    longest = max(len(str(each.measure.n_items)) for each in points)
    turned = any(after.stated - before.stated < _DIGIT * longest + 0.01 for before, after in pairwise(points))
    at = -1.0
    for each in points:
        at = max(each.stated, at + _TURNED) if turned else each.stated
        axes.text(at, _ABOVE, f"{each.measure.n_items}", size=7, ha="center", va="bottom", rotation=90 if turned else 0)


def _named(curve: Curve) -> str:
    name, limit = visible_line(curve.judge), _SHORT if curve.simulated else _NAME
    name = name if len(name) <= limit else f"{name[: limit - 1]}…"
    return f"{name} (simulated)" if curve.simulated else name
