"""Whether the probabilities that judges state are those of being right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from jrh import REFERENCE, Measure

from jrh_report.html.curve import ABREAST, Curve, Point, draw_curves
from jrh_report.html.found import Found
from jrh_report.html.listing import Line, Table, by_test, columns, judge_mark, table
from jrh_report.html.section import Part, Plot

JUDGES: Final = 6
"""Judges of a task whose curves are drawn; those of the others stand in the table."""
_SCORES: Final = columns(("brier", "Brier score"), ("calibration-error", "calibration error (ECE)"))
_SHARE: Final = columns(("reliability", "right"))
_BIN: Final = ("Stated probability", "Mean stated")
_MEAN: Final = re.compile(r"mean stated probability ((?:0|1)\.\d+)")
"""What the metric `calibration` notes of every bin."""
_CAPTION: Final = (
    "Share of right verdicts and mean stated probability, bin by bin, in the reference condition of {}. Vertical lines "
    "are intervals, the numbers above are items. On the dashed line a judge is calibrated; below it, it is right less "
    "often than it says.{}"
)


def calibration(found: Found, number: int, task: str) -> Part | None:
    """Gather the scores, the curves of the reference condition and all bins; None where no judge states any."""
    bins = [each for each in found.parts.get((task, "reliability"), ()) if set(each.cell) == {"stated"}]
    reference = [each for each in bins if each.test == REFERENCE]
    others = [each for each in bins if each.test != REFERENCE]
    scores = by_test(found, task, _SCORES, "Scores of stated probabilities")
    here = _table(found, task, reference, "Right verdicts by stated probability, reference condition", named=False)
    there = _table(found, task, others, "Right verdicts by stated probability, other tests", named=True)
    if scores is None and here is None and there is None:
        return None
    return Part(
        task=task,
        lead=scores,
        tables=() if here is None else (here,),
        plots=_plots(found, number, task, reference),
        folded=() if there is None else (there,),
    )


def _table(found: Found, task: str, bins: Sequence[Measure], caption: str, *, named: bool) -> Table | None:
    """Tabulate bins judge by judge; the test is `named` where there are several."""
    places = {judge: place for place, judge in enumerate(found.report.judges)}
    lines = [
        Line(
            heads=(each.judge, *((each.test,) if named else ()), each.cell["stated"], _stated(each) or each.note),
            cells=(found.cell(each),),
            mark=judge_mark(found.report, each.judge),
        )
        for each in sorted(bins, key=lambda each: places.get(each.judge, len(places)))
    ]
    return table(task, caption, ("Judge", *(("Test",) if named else ()), *_BIN), _SHARE, lines)


def _stated(measure: Measure) -> str:
    """Return the mean stated probability as the metric wrote it; empty where it did not."""
    found = _MEAN.fullmatch(measure.note)
    return found[1] if found else ""


def _plots(found: Found, number: int, task: str, bins: Sequence[Measure]) -> tuple[Plot, ...]:
    points: dict[str, list[Point]] = {}
    for each in bins:
        stated = _stated(each)
        if stated and each.estimate is not None:
            point = Point(stated=float(stated), measure=each, place=found.place(each))
            points.setdefault(each.judge, []).append(point)
    curves = [
        Curve(judge=judge, simulated=judge in found.report.simulated, series=series, points=tuple(points[judge]))
        for series, judge in enumerate(found.report.judges)
        if judge in points
    ]
    if not curves:
        return ()
    more = f" The curves of the first {JUDGES} of {len(curves)} judges are drawn." if len(curves) > JUDGES else ""
    return (
        Plot(
            name=f"Reliability curves, task {task}",
            svg=draw_curves(curves[:JUDGES], task, f"reliability-{number}"),
            abreast=min(len(curves), ABREAST),
            caption=_CAPTION.format(task, more),
        ),
    )
