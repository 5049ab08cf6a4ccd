"""Forest plot: every judge's estimate and interval, test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jrh import Measure
from jrh.text import format_sizes, is_estimable, is_proportion

from jrh_report.by_test import Grid
from jrh_report.plots.drawing import label, look
from jrh_report.plots.intervals import Look, Mark, forest_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAME: Final = 60
_LOOK: Final = Look(left=2.6, size=7, series=look, gid=lambda _measure, _part: None)


def forest_plot(found: Grid, tests: range, judges: range) -> Figure:
    """Draw the measures of some judges and tests of a grid; what has no estimate is named without a mark."""
    groups = [(label(found.tests[test]), _marks(found, test, judges)) for test in tests]
    every = [each for row in found.rows for each in row.measures if each is not None]
    shares = all(is_proportion(each) and (each.estimate or 0) >= 0 for each in every)
    return forest_figure(groups, _LOOK, f"{label(found.title)}, task {label(found.task)}", None if shares else 0.0)


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
