"""The human ceiling: how far people agree with each other, beside how far every judge agrees with them."""

from __future__ import annotations

from typing import Final

from jrh import REFERENCE, Measure, RunReport
from jrh.text import counted, format_measure

from jrh_report.tables import Table, judge_label

PEOPLE: Final = "people-kappa"
JUDGE: Final = "judge-people-kappa"
DIFFERENCE: Final = "people-kappa-difference"
TITLE: Final = "Agreement of judges with people, and of people with each other"
NOTE: Final = (
    "Kappa (quadratically weighted on ordinal scales) on the items that two people or more labelled, in the reference "
    "condition. The difference compares both on the same items, clustered by item; below 0 the judge agrees less with "
    "people than they agree with each other. It holds for these people only."
)


def people(report: RunReport, digits: int = 2) -> Table | None:
    """Tabulate the human ceiling by judge; None where no item has labels of two people."""
    found = {
        (measure.judge, measure.task, measure.name): measure
        for measure in report.measures
        if measure.name in (PEOPLE, JUDGE, DIFFERENCE) and measure.test == REFERENCE and not measure.cell
    }
    keys = [(judge, summary.task.name) for summary in report.tasks for judge in report.judges]
    keys = [key for key in keys if (*key, DIFFERENCE) in found]
    if not keys:
        return None
    several = len(report.tasks) > 1
    head = ("judge", *(("task",) if several else ()))
    return Table(
        title=TITLE,
        columns=(*head, "judge and a person", "two people", "difference", "n"),
        rows=tuple(
            (
                judge_label(report, judge),
                *((task,) if several else ()),
                *(_written(found.get((judge, task, name)), digits) for name in (JUDGE, PEOPLE, DIFFERENCE)),
                _sizes(found[judge, task, DIFFERENCE]),
            )
            for judge, task in keys
        ),
        note=NOTE,
    )


def _written(measure: Measure | None, digits: int) -> str:
    return "" if measure is None else format_measure(measure, digits)


def _sizes(measure: Measure) -> str:
    return f"{counted(measure.n_items, 'item')}, {counted(measure.n_clusters, 'cluster')}"
