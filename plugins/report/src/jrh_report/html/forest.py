"""Forest plots: every judge's estimate and interval, test by test."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh.text import is_estimable, visible_line
from markupsafe import Markup

from jrh_report.html.found import Found
from jrh_report.html.heat import HeatMap, Row
from jrh_report.html.svg import inline, measure_id, series
from jrh_report.plots.intervals import Look, Mark, forest_figure

ROWS: Final = 80
"""Intervals that one plot holds; of more judges the first are drawn."""
_LETTER: Final = 0.075
"""Width of a letter of a name in inches, about."""
_MARGIN: Final = 0.4
_SIZE: Final = 9
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
    groups = [(visible_line(test, _NAME), _marks(heat, place)) for place, test in enumerate(heat.tests)]
    groups = [(test, marks) for test, marks in groups if marks]
    estimable = sum(len(marks) for _, marks in groups)
    if not estimable:
        return None
    shown = max(1, ROWS // len(groups))
    groups = [(test, marks[:shown]) for test, marks in groups]
    look = Look(
        left=max(len(_named(row)) for row in heat.rows) * _LETTER + _MARGIN,
        size=_SIZE,
        series=series,
        gid=lambda measure, part: measure_id(found.place(measure), part),
    )
    return Forest(
        task=heat.task,
        lens=heat.lens.key,
        svg=inline(
            forest_figure(groups, look, heat.lens.name, heat.lens.zero),
            key,
            f"Forest plot: {heat.lens.name}, task {visible_line(heat.task)}",
            "Estimate and interval of every judge, test by test; the table above holds the same numbers.",
        ),
        drawn=sum(len(marks) for _, marks in groups),
        estimable=estimable,
    )


def _marks(heat: HeatMap, test: int) -> list[Mark]:
    """Return a line for every judge with an estimate in the test."""
    measures = [(place, row, row.measures[test]) for place, row in enumerate(heat.rows)]
    return [
        Mark(name=_named(row), series=place, measure=measure)
        for place, row, measure in measures
        if measure is not None and is_estimable(measure)
    ]


def _named(row: Row) -> str:
    return f"{visible_line(row.judge, _SHORT)} (simulated)" if row.simulated else visible_line(row.judge, _NAME)
