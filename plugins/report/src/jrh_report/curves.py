"""The section of curves: measures against a level of their cells, which a metric asks for (`Measure.curve`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport
from jrh.text import visible_line
from jrh.values import Curve, Section
from jrh_measuring import CurvePart, Panel, ReportMeasures, Series, Spot, format_counts, section_of_task

PLOTS: Final = 12
"""Figures of one task."""
_POINTS: Final = 400
_LARGEST: Final = 1e12
"""Beyond it an axis has no readable numbers; NaN is not below it either."""
_TEXT: Final = (
    "Curves that a metric draws through its measures. Vertical lines are intervals. A solid line without markers is "
    "fitted; a dashed line is the share of trials without a verdict, which is neither right nor wrong."
)


@frozen
class Curves:
    """Shows every measure that carries a curve."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task with curves."""
        measures = ReportMeasures.of(report)
        owners: dict[str, dict[tuple[str, str, str], list[int]]] = {}
        for place, measure in enumerate(report.measures):
            if measure.curve is not None:
                key = measure.test, measure.curve.of, measure.curve.over
                owners.setdefault(measure.task, {}).setdefault(key, []).append(place)
        for task in (summary.task.name for summary in report.tasks):
            parts = [_part(measures, places) for places in owners.get(task, {}).values()]
            yield section_of_task(task, _TEXT, [part for part in parts if part is not None][:PLOTS])


def _part(measures: ReportMeasures, owners: Sequence[int]) -> CurvePart | None:
    """Draw the curves of a test, a panel for each judge."""
    report = measures.report
    panels: dict[str, list[Series]] = {}
    for place in owners:
        owner = report.measures[place]
        if owner.curve is not None:
            panels.setdefault(owner.judge, []).extend(_series(measures, place, owner, owner.curve))
    first = report.measures[owners[0]]
    order = {judge: place for place, judge in enumerate(report.judges)}
    judges = sorted((judge for judge in panels if panels[judge]), key=lambda judge: order.get(judge, len(order)))
    if not judges or first.curve is None:
        return None
    what, label = visible_line(first.curve.points).capitalize(), visible_line(first.curve.label)
    lost: dict[str, int] = {}
    for spot in (spot for judge in judges for series in panels[judge] for spot in series.spots):
        for status, count in report.measures[spot.measure].missing.items():
            lost[status] = lost.get(status, 0) + count
    missing = f" Trials without a verdict: {format_counts(lost)}." if any(lost.values()) else ""
    return CurvePart(
        caption=f"{what} against {label}, test {first.test}.{missing}",
        heading="Judge",
        across=label,
        up=what,
        panels=tuple(Panel(heading=judge or "all judges", series=tuple(panels[judge])) for judge in judges),
        logarithmic=first.curve.logarithmic,
    )


def _series(measures: ReportMeasures, place: int, owner: Measure, curve: Curve) -> Iterator[Series]:
    """Yield the curves of a measure: one for each value of the other levels of its points."""
    by_rest: dict[tuple[tuple[str, str], ...], list[tuple[Spot, Measure]]] = {}
    for at, measure in measures.by_name.get((owner.task, curve.of), ()):
        if (measure.judge, measure.test) != (owner.judge, owner.test) or not owner.cell.items() <= measure.cell.items():
            continue
        value = _number(measure.cell.get(curve.over, ""))
        # A negative number has no place on a logarithmic axis.
        if value is not None and not (curve.logarithmic and value < 0):
            levels = tuple((name, level) for name, level in measure.cell.items() if name != curve.over)
            by_rest.setdefault(levels, []).append((Spot(at=value, measure=at), measure))
    for levels, points in by_rest.items():
        spots = sorted(points, key=lambda pair: pair[0].at)[:_POINTS]
        if any(measure.estimate is not None or measure.missing for _, measure in spots):
            yield Series(
                name=", ".join(f"{level} {value}" for level, value in levels),
                spots=tuple(spot for spot, _ in spots),
                line=curve.line[:_POINTS],
                threshold=None if curve.height is None else (place, curve.height),
            )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    # Infinity and NaN are numbers to `float`.
    return value if abs(value) <= _LARGEST else None
