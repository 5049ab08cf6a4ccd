"""Forest plot: every judge's estimate and interval, test by test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen
from jrh import Measure
from jrh_measuring import format_sizes, is_estimable, is_proportion

from jrh_report.by_test import Grid
from jrh_report.plots.drawing import label, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAME: Final = 60
_WIDTH: Final = 7.6
_LEFT: Final = 2.6
_RIGHT: Final = 0.2
_ROW: Final = 0.2
_HEAD: Final = 0.12
_FOOT: Final = 0.55
_EDGE: Final = 0.08
_GAP: Final = 0.06
"""All sizes are inches."""
_BESIDE: Final = 0.05
"""Room beside the outermost interval, as a share of the axis."""


@frozen(kw_only=True)
class Mark:
    """One line of the plot."""

    name: str
    series: int
    """Place among the series: its colour and marker."""
    measure: Measure | None
    """None: the name stands without a mark."""


def forest_plot(found: Grid, tests: range, judges: range) -> Figure:
    """Draw the measures of some judges and tests of a grid; what has no estimate is named without a mark."""
    groups = [(label(found.tests[test]), _marks(found, test, judges)) for test in tests]
    every = [each for row in found.rows for each in row.measures if each is not None]
    shares = all(is_proportion(each) and (each.estimate or 0) >= 0 for each in every)
    return _figure(groups, f"{label(found.title)}, task {label(found.task)}", None if shares else 0.0)


def _marks(found: Grid, test: int, judges: range) -> list[Mark]:
    """Return a line for every judge that has the measure in the test."""
    measures = [(judge, measure) for judge in judges if (measure := found.rows[judge].measures[test]) is not None]
    return [
        Mark(
            name=label(f"{found.rows[judge].label}{_rests_on(measure)}", _NAME),
            series=judge,
            measure=measure if is_estimable(measure) else None,
        )
        for judge, measure in measures
    ]


def _rests_on(measure: Measure) -> str:
    return f", {format_sizes(measure)}" if is_estimable(measure) else ", not estimable"


def _figure(groups: Sequence[tuple[str, Sequence[Mark]]], name: str, zero: float | None) -> Figure:
    """Draw groups of marks below each other.

    Names are texts and lines are put on the axes as they are: ticks and autoscaling would take twice as long.

    Args:
        groups: heading and lines of each.
        name: of the axis.
        zero: where the line of no effect is; None: there is none, and the axis goes from 0 to 1.
    """
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    lines = sum(len(marks) + 1 for _, marks in groups)
    height = lines * _ROW + _FOOT + _HEAD
    width = _WIDTH - _LEFT - _RIGHT
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((_LEFT / _WIDTH, _FOOT / height, width / _WIDTH, lines * _ROW / height))
    across: dict[str, Any] = {"transform": axes.get_yaxis_transform()}
    at, borders = 0, []
    for heading, marks in groups:
        borders.append(at - 0.5)
        axes.text((_EDGE - _LEFT) / width, at, heading, weight="bold", va="center", **across)
        for mark in marks:
            at += 1
            axes.text(-_GAP / width, at, mark.name, ha="right", va="center", size=7, **across)
            if mark.measure is not None:
                _draw(axes, mark.measure, at, mark.series)
        at += 1
    axes.hlines(borders[1:], 0, 1, colors=rcParams["grid.color"], linewidth=0.5, zorder=0.5, **across)
    _frame(axes, lines, name)
    measures = [mark.measure for _, marks in groups for mark in marks if mark.measure is not None]
    axes.set_xlim(*ends(measures, zero))
    if zero is not None:
        axes.axvline(zero, color=rcParams["text.color"], linewidth=0.9, zorder=1.9)
    return figure


def _draw(axes: Axes, measure: Measure, at: int, series: int) -> None:
    from matplotlib.lines import Line2D

    drawn: dict[str, Any] = dict(look(series))
    marker = drawn.pop("marker")
    if measure.interval is not None:
        ends = (measure.interval.low, measure.interval.high)
        axes.add_artist(Line2D(ends, (at, at), linewidth=1.6, **drawn))
    place = (measure.estimate or 0.0,), (at,)
    axes.add_artist(Line2D(*place, marker=marker, markersize=5, linewidth=0, **drawn))


def _frame(axes: Axes, lines: int, name: str) -> None:
    axes.set_ylim(lines - 0.5, -0.6)
    axes.yaxis.set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x", linewidth=0.5)
    axes.set_xlabel(name)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def ends(measures: Sequence[Measure], zero: float | None) -> tuple[float, float]:
    """Return where the axis begins and ends."""
    if zero is None:
        return -0.02, 1.02
    values = [zero, *(each.estimate or 0.0 for each in measures)]
    values += [end for each in measures if each.interval for end in (each.interval.low, each.interval.high)]
    room = _BESIDE * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room
