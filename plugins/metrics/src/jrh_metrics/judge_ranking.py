"""Rank the judges of a task by agreement, and mark those that no test on the same items tells from the first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import frozen
from jrh import REFERENCE, MetricContext, RunReport
from jrh.text import count_noun
from jrh.values import MeasureRef, TaskSummary
from jrh_measuring import ReportMeasures
from jrh_stats import holm

from jrh_metrics.changes import reference_differences
from jrh_metrics.judges_by_tests import EXPECTED, RIGHT, name_accuracy
from jrh_metrics.rules.headline import KAPPA

MEAN: Final = "mean-over-tests"
TIE: Final = "=1"
_TIED: Final = (
    "=1: not shown to agree less with the labels than the first judge, by the paired difference on the same items"
)
DIGITS: Final = 2
_UNCOMPARED: Final = "not compared"
_COLUMNS: Final = frozenset({"judge", "task", "test", "status", "item_id"})


@frozen(kw_only=True)
class Ranked:
    """A judge's place in a task."""

    judge: str
    mark: str
    """The place; `=1` where a judge is not shown to agree less than the first."""
    agreement: MeasureRef | None


Rankings: TypeAlias = Mapping[str, Sequence[Ranked]]
"""Task -> its judges, the best first."""


@frozen(kw_only=True)
class Comparisons:
    """Which judges are shown to agree less than others on the same items."""

    level: float
    less: Mapping[tuple[str, str, str], bool]
    """(task, judge, other) -> whether the judge is shown to agree less; pairs that share no item are left out."""

    @classmethod
    def of(cls, report: RunReport) -> Comparisons:
        """Test all pairs of judges; the table is one family, because which judge is the first depends on the data."""
        records = report.records
        if not len(records) or len(report.judges) == 1 or not set(records.columns) >= _COLUMNS:
            return cls(level=report.level, less={})
        tasks = {summary.task.name: summary.task for summary in report.tasks}
        context = MetricContext(tasks=tasks, level=report.level, seed=report.seed)
        # Places rest on the reference condition: reading the rows of all tests again would take far longer.
        found = reference_differences(records.where(records.equals("test", REFERENCE)), context)
        tested = [(measure, test.p) for measure, test in found if test.p is not None]
        less = {}
        for (measure, _), p in zip(tested, holm([p for _, p in tested]) if tested else (), strict=True):
            shown, pair = p <= 1 - report.level, (measure.judge, measure.cell["against"])
            less[measure.task, *pair] = bool(shown and (measure.estimate or 0) < 0)
            less[measure.task, *pair[::-1]] = bool(shown and (measure.estimate or 0) > 0)
        return cls(level=report.level, less=less)

    @property
    def sentence(self) -> str:
        """Return what the mark of a tie says."""
        family = f"corrected for {count_noun(len(self.less) // 2, 'pair')} of judges (Holm, {1 - self.level:.0%})"
        return f"{_TIED}, {family}."


def rank_judges(measures: ReportMeasures, summary: TaskSummary, comparisons: Comparisons) -> Sequence[Ranked]:
    """Order the judges of a task by agreement with people; without labels, by verdicts as expected over the tests.

    Judges without any verdict come last.
    """
    report, task = measures.report, summary.task.name
    wanted = (
        (KAPPA, REFERENCE, "kappa"),
        (RIGHT, REFERENCE, name_accuracy(report, task)),
        (MEAN, "", "share as expected, mean over tests"),
        (EXPECTED, REFERENCE, "share as expected"),
    )
    for name, test, note in wanted:
        cells = {
            judge: MeasureRef(measure=place[0], digits=DIGITS, note=note)
            for judge in report.judges
            if (place := measures.whole(task, name, judge, test)) is not None
        }
        # Judges are compared by one measure: kappa of one and accuracy of another have no order.
        if any(report.measures[cell.measure].estimate is not None for cell in cells.values()):
            return tuple(_give_places(report, task, cells, comparisons))
    return tuple(_give_places(report, task, {}, comparisons))


def _give_places(
    report: RunReport, task: str, cells: Mapping[str, MeasureRef], comparisons: Comparisons
) -> Iterator[Ranked]:
    known = {judge: report.measures[cell.measure].estimate for judge, cell in cells.items()}
    estimates = {judge: estimate for judge, estimate in known.items() if estimate is not None}
    # Judges without any verdict come last.
    order = sorted(report.judges, key=lambda judge: (is_silent(report, judge, task), -estimates.get(judge, -math.inf)))
    less = {judge: comparisons.less.get((task, judge, order[0])) for judge in order[1:] if judge in estimates}
    for place, judge in enumerate(order, start=1):
        # Where nothing was compared the order is that of the estimates, and no place is claimed.
        if judge not in estimates or all(shown is None for shown in less.values()):
            mark = ""
        elif place == 1:
            mark = TIE if False in less.values() else "1"
        else:
            mark = {None: _UNCOMPARED, True: str(place), False: TIE}[less[judge]]
        yield Ranked(judge=judge, mark=mark, agreement=cells.get(judge))


def status_counts(report: RunReport, judge: str, task: str = "", test: str = "") -> Mapping[str, int]:
    """Count a judge's trials by status: of all tasks and tests, or of one."""
    records = report.records
    # Imported tables need not have every column.
    if not len(records) or not {"judge", "task", "test", "status"} <= set(records.columns):
        return {}
    for name, value in (("judge", judge), ("task", task), ("test", test)):
        records = records.where(records.equals(name, value)) if value else records
    return {str(status): number for status, number in records.counts("status").items()}


def is_silent(report: RunReport, judge: str, task: str) -> bool:
    """Tell whether a judge was asked and gave no verdict at all."""
    return "ok" not in (status_counts(report, judge, task) or ("ok",))
