"""Forest plots: every judge's estimate and interval, test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import frozen
from jrh import Measure
from markupsafe import Markup

from jrh_report import numbers
from jrh_report.html.found import Found
from jrh_report.html.heat import HeatMap, Row
from jrh_report.html.svg import INK, LINE, inline, measure_id, series
from jrh_report.html.visible import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS: Final = 80
"""Intervals that one plot holds; of more judges the first are drawn."""
_WIDTH: Final = 7.6
_LETTER: Final = 0.075
"""Width of a letter of a name, about; all sizes are inches."""
_RIGHT: Final = 0.25
_MARGIN: Final = 0.4
_ROW: Final = 0.2
_FOOT: Final = 0.55
_HEAD: Final = 0.12
_NAME: Final = 26
_SHORT: Final = 16


@frozen(kw_only=True)
class Forest:
    """One plot, and what it leaves out."""

    task: str
    lens: str
    svg: Markup
    drawn: int
    estimable: int
    """Measures that have an estimate; the plot holds `drawn` of them."""


def forest(found: Found, heat: HeatMap, key: str) -> Forest | None:
    """Draw the measures of a heat map, within `settings()`; None where none of them has an estimate."""
    groups = [(test, _measures(heat, place)) for place, test in enumerate(heat.tests)]
    groups = [(test, some) for test, some in groups if some]
    estimable = sum(len(some) for _, some in groups)
    if not estimable:
        return None
    shown = max(1, ROWS // len(groups))
    groups = [(test, some[:shown]) for test, some in groups]
    drawn = sum(len(some) for _, some in groups)
    return Forest(
        task=heat.task,
        lens=heat.lens.key,
        svg=_draw(found, heat, groups, key),
        drawn=drawn,
        estimable=estimable,
    )


def _measures(heat: HeatMap, test: int) -> list[tuple[int, Row, Measure]]:
    """Return the place and the row of every judge with an estimate in the test, and the measure."""
    return [
        (place, row, measure)
        for place, row in enumerate(heat.rows)
        if (measure := row.measures[test]) is not None and numbers.estimable(measure)
    ]


def _draw(found: Found, heat: HeatMap, groups: list[tuple[str, list[tuple[int, Row, Measure]]]], key: str) -> Markup:
    from matplotlib.figure import Figure

    lines = sum(len(some) + 1 for _, some in groups)
    height = lines * _ROW + _FOOT + _HEAD
    left = max(len(_named(row)) for row in heat.rows) * _LETTER + _MARGIN
    edge = -(left - _MARGIN / 2) / (_WIDTH - left - _RIGHT)
    figure = Figure(figsize=(_WIDTH, height), facecolor="none")
    axes = figure.add_axes(
        (left / _WIDTH, _FOOT / height, 1 - (left + _RIGHT) / _WIDTH, lines * _ROW / height), facecolor="none"
    )
    ticks: list[tuple[int, str]] = []
    at = 0
    for test, some in groups:
        axes.text(
            edge,
            at,
            line(test, _NAME),
            transform=axes.get_yaxis_transform(),
            va="center",
            weight="bold",
            color=INK,
        )
        for place, row, measure in some:
            at += 1
            ticks.append((at, _named(row)))
            _interval(axes, found, place, measure, at)
        at += 1
        if at < lines:
            axes.axhline(at - 0.5, color=LINE, linewidth=0.5)
    _frame(axes, heat, lines, ticks)
    return inline(
        figure,
        key,
        f"Forest plot: {heat.lens.name}, task {line(heat.task)}",
        "Estimate and interval of every judge, test by test; the table above holds the same numbers.",
    )


def _named(row: Row) -> str:
    return f"{line(row.judge, _SHORT)} (simulated)" if row.simulated else line(row.judge, _NAME)


def _interval(axes: Axes, found: Found, place: int, measure: Measure, at: int) -> None:
    look = series(place)
    number = found.place(measure)
    if measure.interval is not None:
        axes.plot(
            (measure.interval.low, measure.interval.high),
            (at, at),
            color=look["color"],
            linewidth=1.6,
            gid=measure_id(number, "interval"),
        )
    axes.plot(
        (measure.estimate or 0.0,),
        (at,),
        color=look["color"],
        marker=look["marker"],
        markersize=5,
        linewidth=0,
        gid=measure_id(number, "estimate"),
    )


def _frame(axes: Axes, heat: HeatMap, lines: int, ticks: list[tuple[int, str]]) -> None:
    axes.set_ylim(lines - 0.5, -0.6)
    axes.set_yticks([at for at, _ in ticks], [name for _, name in ticks])
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=LINE, linewidth=0.5)
    if heat.lens.zero is None:
        axes.set_xlim(-0.02, 1.02)
    else:
        axes.axvline(heat.lens.zero, color=INK, linewidth=1)
    axes.set_xlabel(heat.lens.name)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
