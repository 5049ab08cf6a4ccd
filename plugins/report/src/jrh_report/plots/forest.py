"""Forest plot: every judge's estimate and interval, test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jrh import Measure

from jrh_report import numbers
from jrh_report.by_test import Grid
from jrh_report.plots.drawing import label, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH: Final = 7.6
_LEFT: Final = 2.6
_ROW: Final = 0.2
_TOP: Final = 0.1
_FOOT: Final = 0.55


def forest_plot(found: Grid, tests: range, judges: range) -> Figure:
    """Draw the measures of some judges and tests of a grid; what has no estimate is named without a mark."""
    from matplotlib.figure import Figure

    lines = len(tests) * (len(judges) + 1)
    height = lines * _ROW + _TOP + _FOOT
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((_LEFT / _WIDTH, _FOOT / height, 1 - (_LEFT + 0.2) / _WIDTH, lines * _ROW / height))
    margin = (0.08 - _LEFT) / (_WIDTH - _LEFT - 0.2)
    ticks: list[tuple[int, str]] = []
    at = 0
    for test in tests:
        axes.text(
            margin, at, label(found.tests[test]), transform=axes.get_yaxis_transform(), va="center", weight="bold"
        )
        for judge in judges:
            at += 1
            measure = found.rows[judge].measures[test]
            if measure is not None:
                ticks.append((at, label(f"{found.rows[judge].label}{_missing(measure)}", 60)))
                _interval(axes, measure, at, judge)
        at += 1
    axes.set_ylim(lines - 0.5, -0.6)
    axes.set_yticks([place for place, _ in ticks], [name for _, name in ticks])
    axes.tick_params(axis="y", length=0, labelsize=7)
    axes.grid(axis="x", color="#cccccc", linewidth=0.5)
    axes.set_axisbelow(True)
    if all(numbers.is_proportion(each) and (each.estimate or 0) >= 0 for each in _all(found)):
        axes.set_xlim(-0.02, 1.02)
    else:
        axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel(f"{label(found.title)}, task {label(found.task)}")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return figure


def _all(found: Grid) -> list[Measure]:
    return [each for row in found.rows for each in row.measures if each is not None]


def _missing(measure: Measure) -> str:
    return f", {numbers.sizes(measure)}" if numbers.estimable(measure) else ", not estimable"


def _interval(axes: Any, measure: Measure, at: int, place: int) -> None:
    if not numbers.estimable(measure):
        return
    drawn = look(place)
    if measure.interval is not None:
        axes.plot((measure.interval.low, measure.interval.high), (at, at), color=drawn["color"], linewidth=1.6)
    axes.plot((measure.estimate,), (at,), color=drawn["color"], marker=drawn["marker"], markersize=5, linewidth=0)
