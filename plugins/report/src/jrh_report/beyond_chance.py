"""Agreement with the gold labels beyond chance: kappa and MCC by judge, task and test."""

from __future__ import annotations

from typing import Final

from jrh import Measure, RunReport
from jrh.text import format_measure

from jrh_report.tables import Table, judge_label

KAPPA: Final = "gold-kappa"
QUADRATIC: Final = "gold-kappa-quadratic"
MCC: Final = "gold-mcc"
TITLE: Final = "Agreement with gold beyond chance"
NOTE: Final = (
    "Cohen's kappa (quadratically weighted on ordinal scales) and the Matthews correlation, MCC, of verdicts and gold "
    "labels: 1 is perfect, 0 is what chance gives. A judge that always gives the most common label has a kappa of 0."
)


def beyond_chance(report: RunReport, digits: int = 2) -> Table | None:
    """Tabulate kappa and MCC with gold; tests that do not keep the gold label are left out, None without any."""
    found = {
        (measure.judge, measure.task, measure.test, measure.name): measure
        for measure in report.measures
        if measure.name in (KAPPA, QUADRATIC, MCC) and not measure.cell and (measure.n_trials or measure.missing)
    }
    keys = [
        (judge, summary.task.name, test)
        for judge in report.judges
        for summary in report.tasks
        for test in report.tests
        if any((judge, summary.task.name, test, name) in found for name in (KAPPA, QUADRATIC))
    ]
    if not keys:
        return None
    several, matthews = len(report.tasks) > 1, any(name == MCC for *_, name in found)
    return Table(
        title=TITLE,
        columns=("judge", *(("task",) if several else ()), "test", "kappa", *(("MCC",) if matthews else ())),
        rows=tuple(
            (
                judge_label(report, judge),
                *((task,) if several else ()),
                test,
                _written(found.get((judge, task, test, KAPPA)) or found.get((judge, task, test, QUADRATIC)), digits),
                *((_written(found.get((judge, task, test, MCC)), digits),) if matthews else ()),
            )
            for judge, task, test in keys
        ),
        note=NOTE,
    )


def _written(measure: Measure | None, digits: int) -> str:
    return "" if measure is None else format_measure(measure, digits)
