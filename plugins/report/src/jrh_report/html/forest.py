"""Forest plots: every judge's estimate and interval, test by test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen
from jrh import Measure
from jrh.text import visible_line
from jrh_measuring import is_estimable
from markupsafe import Markup

from jrh_report.html.axis import linear
from jrh_report.html.found import Found
from jrh_report.html.heat import HeatMap, Row
from jrh_report.html.kinds import PlotKind
from jrh_report.html.svg import INK, LINE, SIZE, Drawing, colour
from jrh_report.plots.forest import ends

ROWS: Final = 80
"""Intervals that one plot holds; of more judges the first are drawn."""
_LETTER: Final = 5.4
"""Width of a letter of a name, about. All sizes are points."""
_MARGIN: Final = 29
_WIDTH: Final = 547
_RIGHT: Final = 14
_ROW: Final = 14.4
_HEAD: Final = 9
_FOOT: Final = 40
_EDGE: Final = 6
_GAP: Final = 4
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


@frozen(kw_only=True)
class _Mark:
    name: str
    series: int
    measure: Measure
    place: int


def forest(found: Found, heat: HeatMap, key: str) -> Forest | None:
    """Draw the measures of a heat map; None where none of them has an estimate."""
    groups = [(visible_line(test, _NAME), _marks(found, heat, place)) for place, test in enumerate(heat.tests)]
    groups = [(test, marks) for test, marks in groups if marks]
    estimable = sum(len(marks) for _, marks in groups)
    if not estimable:
        return None
    shown = max(1, ROWS // len(groups))
    groups = [(test, marks[:shown]) for test, marks in groups]
    drawing = _drawn(groups, heat, key)
    return Forest(
        task=heat.task,
        lens=heat.lens.key,
        svg=drawing.markup(
            f"Forest plot: {heat.lens.name}, task {visible_line(heat.task)}",
            "Estimate and interval of every judge, test by test; the table above holds the same numbers.",
        ),
        drawn=sum(len(marks) for _, marks in groups),
        estimable=estimable,
    )


def _drawn(groups: Sequence[tuple[str, Sequence[_Mark]]], heat: HeatMap, key: str) -> Drawing:
    """Draw groups of marks below each other."""
    lines = sum(len(marks) + 1 for _, marks in groups)
    bottom = _HEAD + lines * _ROW
    left, right = max(len(_named(row)) for row in heat.rows) * _LETTER + _MARGIN, _WIDTH - _RIGHT
    drawing = Drawing(kind=PlotKind.FOREST, key=key, width=_WIDTH, height=bottom + _FOOT)
    zero = heat.lens.zero
    axis = linear(*ends([mark.measure for _, marks in groups for mark in marks], zero), left, right)
    drawing.across(axis, _HEAD, bottom, heat.lens.name)
    if zero is not None:
        drawing.line(((axis.at(zero), _HEAD), (axis.at(zero), bottom)), INK, 0.9)
    y = _HEAD + _ROW / 2
    for number, (heading, marks) in enumerate(groups):
        if number:
            drawing.line(((left, y - _ROW / 2), (right, y - _ROW / 2)), LINE)
        drawing.text(_EDGE, y + 0.36 * SIZE, heading, bold=True)
        for mark in marks:
            y += _ROW
            drawing.text(left - _GAP, y + 0.36 * SIZE, mark.name, anchor="end")
            interval = mark.measure.interval
            if interval is not None:
                both = ((axis.at(interval.low), y), (axis.at(interval.high), y))
                drawing.line(both, colour(mark.series), 1.6, of=(mark.place, "interval"))
            drawing.marker(axis.at(mark.measure.estimate or 0.0), y, mark.series, (mark.place, "estimate"))
        y += _ROW
    return drawing


def _marks(found: Found, heat: HeatMap, test: int) -> list[_Mark]:
    """Return a line for every judge with an estimate in the test."""
    measures = [(place, row, row.measures[test]) for place, row in enumerate(heat.rows)]
    return [
        _Mark(name=_named(row), series=place, measure=measure, place=found.place(measure))
        for place, row, measure in measures
        if measure is not None and is_estimable(measure)
    ]


def _named(row: Row) -> str:
    return f"{visible_line(row.judge, _SHORT)} (simulated)" if row.simulated else visible_line(row.judge, _NAME)
