"""Cost and reliability: what a thousand questions cost a judge, against how often it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport
from jrh_measuring import is_estimable

from jrh_report.by_test import grid
from jrh_report.overview import HEADINGS, RIGHT
from jrh_report.plots.drawing import label, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_THOUSAND: Final = 1000


@frozen(kw_only=True)
class Point:
    """A judge with a known price and a gold accuracy in the reference condition."""

    label: str
    cost: float
    """US dollars of 1,000 trials."""
    right: Measure


def points(report: RunReport, task: str) -> tuple[tuple[Point, ...], int]:
    """Return the judges that can be drawn, and the number of those without a known price or gold accuracy."""
    found = grid(report, task, RIGHT)
    if found is None or REFERENCE not in found.tests:
        return (), len(report.judges)
    place = found.tests.index(REFERENCE)
    lines = {line.judge: line for line in report.costs if line.task == task and line.test == REFERENCE}
    drawn = []
    for row in found.rows:
        measure, line = row.measures[place], lines.get(row.judge)
        if measure is not None and is_estimable(measure) and line is not None and not line.unknown and line.trials:
            drawn.append(Point(label=row.label, cost=line.cost / line.trials * _THOUSAND, right=measure))
    return tuple(drawn), len(report.judges) - len(drawn)


def cost_plane(task: str, drawn: tuple[Point, ...], unknown: int, right: str = HEADINGS[RIGHT]) -> Figure:
    """Draw the judges; how many are not drawn is said below, and `right` names agreement with the gold labels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2))
    axes = figure.add_axes((0.11, 0.2, 0.86, 0.76))
    for place, point in enumerate(drawn):
        style, value = look(place), point.right.estimate or 0.0
        if point.right.interval is not None:
            ends = (point.right.interval.low, point.right.interval.high)
            axes.plot((point.cost, point.cost), ends, color=style["color"], linewidth=1)
        axes.plot((point.cost,), (value,), color=style["color"], marker=style["marker"], linewidth=0)
        axes.annotate(label(point.label), (point.cost, value), xytext=(6, 3), textcoords="offset points", size=7)
    axes.set_xlabel(f"US dollars per 1,000 questions of the reference condition, task {label(task)}")
    axes.set_ylabel(right.capitalize())
    axes.set_ylim(-0.02, 1.02)
    dearest = max(point.cost for point in drawn) or 1.0
    axes.set_xlim(-0.03 * dearest, 1.25 * dearest)
    axes.grid(linewidth=0.5)
    if unknown:
        figure.text(
            0.11,
            0.02,
            f"Not drawn (no price or no {right}): {unknown} of {unknown + len(drawn)} judges.",
            size=7,
        )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure
