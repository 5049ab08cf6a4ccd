"""The first table of a report: which judge, good enough for what, what fails, what it costs, what next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import evolve, frozen
from jrh import REFERENCE, RunReport
from jrh.values import Cell, Column, Importance, MeasureRef, Row, Section, TablePart
from jrh_measuring import ReportMeasures

from jrh_metrics.judge_ranking import DIGITS, TIE, Comparisons, Rankings, rank_judges, status_counts
from jrh_metrics.judge_uses import USES, WHOLE, name_tasks, next_steps, planned_of_judge, use_of_task
from jrh_metrics.judges_by_tests import EXPECTED, price_of_verdicts
from jrh_metrics.rules.accuracy import RERUN


@frozen
class AnswerTable:
    """Shows a row for every judge and task, best first, and what each judge can be used for."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield the section: uses by judge, then numbers by task and judge."""
        if not report.judges or not report.tasks:
            return
        measures, comparisons = ReportMeasures.of(report), Comparisons.of(report)
        rankings = {summary.task.name: rank_judges(measures, summary, comparisons) for summary in report.tasks}
        parts = _table_of_uses(measures, rankings), _table_of_numbers(measures, rankings, comparisons)
        yield Section(importance=Importance.FIRST, parts=parts)


def _table_of_numbers(measures: ReportMeasures, rankings: Rankings, comparisons: Comparisons) -> TablePart:
    report = measures.report
    several = len(rankings) > 1
    rows = tuple(
        Row(
            heads=(ranked.judge, *((task,) if several else ()), ranked.mark),
            cells=(
                ranked.agreement,
                *_worst_test(measures, task, ranked.judge),
                _whole(measures, task, RERUN, ranked.judge, REFERENCE),
                _missing_verdicts(report, task, ranked.judge),
                price_of_verdicts([line for line in report.costs if (line.judge, line.task) == (ranked.judge, task)]),
            ),
        )
        for task, judges in rankings.items()
        for ranked in judges
    )
    names = {ranked.agreement.note for judges in rankings.values() for ranked in judges if ranked.agreement is not None}
    if len(names) == 1:
        # One name for all is said in the heading.
        rows = tuple(evolve(row, cells=(_without_note(row.cells[0]), *row.cells[1:])) for row in rows)
    agreement = f"agreement ({names.pop()})" if len(names) == 1 else "agreement"
    headings = (*(agreement, "worst test", "passes worst test", "changes when asked again", "missing", "$ per 1,000"),)
    return TablePart(
        caption="Judges, best first",
        heads=("Judge", *(("Task",) if several else ()), ""),
        note=comparisons.sentence if any(TIE in row.heads for row in rows) else "",
        **_used_columns(headings, rows),
    )


def _without_note(cell: Cell) -> Cell:
    return evolve(cell, note="") if isinstance(cell, MeasureRef) else cell


def _used_columns(headings: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """Return columns and rows without the columns that are empty in all rows."""
    used = [at for at in range(len(headings)) if any(row.cells[at] not in (None, "") for row in rows)]
    return {
        "columns": tuple(Column(heading=headings[at]) for at in used),
        "rows": tuple(evolve(row, cells=tuple(row.cells[at] for at in used)) for row in rows),
    }


def _worst_test(measures: ReportMeasures, task: str, judge: str) -> tuple[str, MeasureRef | None]:
    """Return the test whose expectation the fewest verdicts meet, with their share."""
    known = [
        (measure.estimate, place, measure.test)
        for place, measure in measures.select(task, EXPECTED)
        if measure.judge == judge and measure.estimate is not None and measure.test != REFERENCE
    ]
    if not known:
        return "", None
    # By place among equals: in the order of the suite.
    _, place, test = min(known, key=lambda entry: entry[:2])
    return test, MeasureRef(measure=place, digits=DIGITS)


def _whole(measures: ReportMeasures, task: str, name: str, judge: str, test: str) -> MeasureRef | None:
    entry = measures.whole(task, name, judge, test)
    return None if entry is None else MeasureRef(measure=entry[0], digits=DIGITS)


def _missing_verdicts(report: RunReport, task: str, judge: str) -> str:
    counts = status_counts(report, judge, task)
    trials = sum(counts.values())
    missing = f"{trials - counts.get('ok', 0):,}/{trials:,}" if trials else ""
    # How many are planned is known of a judge, and not of each of its tasks.
    if report.incomplete and len(report.tasks) == 1 and trials < (planned := planned_of_judge(report)):
        return f"{missing} ({trials:,} of {planned:,} done)".lstrip()
    return missing


def _table_of_uses(measures: ReportMeasures, rankings: Rankings) -> TablePart:
    report = measures.report
    rows = []
    for judge in _by_places(report, rankings):
        uses = [use_of_task(measures, rankings, judge, summary) for summary in report.tasks]
        cells = (
            name_tasks({use.task: WHOLE if use.good else "" for use in uses}),
            name_tasks({use.task: use.not_for for use in uses}),
            name_tasks({use.task: use.undecided for use in uses}),
            next(next_steps(report, judge, uses)),
        )
        rows.append(Row(heads=(judge,), cells=cells))
    table = _used_columns(("use for", "not for", "undecided", "next step"), rows)
    note = " ".join(USES[column.heading] for column in table["columns"] if column.heading in USES)
    return TablePart(caption="Judges and their uses", heads=("Judge",), note=note, **table)


def _by_places(report: RunReport, rankings: Rankings) -> Sequence[str]:
    """Order judges by the sum of their places in the tasks."""
    places = dict.fromkeys(report.judges, 0)
    for ranking in rankings.values():
        for place, ranked in enumerate(ranking):
            places[ranked.judge] += place
    return sorted(report.judges, key=places.__getitem__)
