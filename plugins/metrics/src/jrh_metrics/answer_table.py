"""The first table of a report: which judge, good enough for what, what fails, what it costs, what next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen
from jrh import REFERENCE, Measure, RunReport
from jrh.text import count_noun
from jrh.values import Cell, Column, Finding, Importance, MeasureRef, Row, Section, Severity, TablePart, TaskSummary
from jrh_measuring import ReportMeasures

from jrh_metrics.judges_by_tests import EXPECTED, RIGHT, name_accuracy, price_of_verdicts
from jrh_metrics.rules.headline import KAPPA

_MEAN: Final = "mean-over-tests"
_NOISE: Final = "rerun-disagreement"
_DIGITS: Final = 2
_NAMED: Final = 3
"""Tests or tasks that are named in one place; the others are counted."""
_FAULTS: Final = frozenset({"unparsable", "off_scale"})
"""Statuses that a better parser or prompt would mend."""
_TIE: Final = "=1"
_TIES: Final = "=1: the interval overlaps that of the first judge, so that neither is shown to agree more."
_ENOUGH: Final = 0.4
"""Where Landis and Koch's "moderate" agreement begins (1977, Biometrics 33:159-174)."""
_USES: Final = (
    f"'Use for': shown to agree beyond chance, with an interval above {_ENOUGH:g}, and no failed test. "
    "'Not for': shown to fail."
)


@frozen
class AnswerTable:
    """Shows a row for every judge and task, best first, and what each judge can be used for."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield the section: uses by judge, then numbers by task and judge."""
        if not report.judges or not report.tasks:
            return
        measures = ReportMeasures.of(report)
        rankings = {summary.task.name: _rank_judges(measures, summary) for summary in report.tasks}
        parts = _table_of_uses(measures, rankings), _table_of_numbers(measures, rankings)
        yield Section(importance=Importance.FIRST, parts=parts)


@frozen(kw_only=True)
class _Ranked:
    """A judge's place in a task."""

    judge: str
    mark: str
    """The place; `=1` where a judge is not shown to agree less than the first."""
    agreement: MeasureRef | None


_Rankings: TypeAlias = Mapping[str, Sequence[_Ranked]]
"""Task -> its judges, the best first."""


def _rank_judges(measures: ReportMeasures, summary: TaskSummary) -> Sequence[_Ranked]:
    """Order the judges of a task by agreement with people; without labels, by verdicts as expected over the tests."""
    report, task = measures.report, summary.task.name
    wanted = (
        (KAPPA, REFERENCE, "kappa"),
        (RIGHT, REFERENCE, name_accuracy(report, task)),
        (_MEAN, "", "share as expected, mean over tests"),
        (EXPECTED, REFERENCE, "share as expected"),
    )
    for name, test, note in wanted:
        cells = {
            judge: MeasureRef(measure=place[0], digits=_DIGITS, note=note)
            for judge in report.judges
            if (place := measures.whole(task, name, judge, test)) is not None
        }
        # Judges are compared by one measure: kappa of one and accuracy of another have no order.
        if any(report.measures[cell.measure].estimate is not None for cell in cells.values()):
            return tuple(_give_places(report, cells))
    return tuple(_Ranked(judge=judge, mark="", agreement=None) for judge in report.judges)


def _give_places(report: RunReport, cells: Mapping[str, MeasureRef]) -> Iterator[_Ranked]:
    known = {judge: report.measures[cell.measure] for judge, cell in cells.items()}

    def agreement(judge: str) -> float:
        estimate = known[judge].estimate if judge in known else None
        return -math.inf if estimate is None else estimate

    order = sorted(report.judges, key=agreement, reverse=True)
    first = known.get(order[0])
    ties = {judge for judge in order[1:] if judge in known and first is not None and _overlap(known[judge], first)}
    for place, judge in enumerate(order, start=1):
        if agreement(judge) == -math.inf or len(order) == 1:
            mark = ""
        elif judge in ties or (ties and place == 1):
            mark = _TIE
        else:
            mark = str(place)
        yield _Ranked(judge=judge, mark=mark, agreement=cells.get(judge))


def _overlap(lower: Measure, higher: Measure) -> bool:
    # Without an interval nothing shows a difference.
    if lower.interval is None or higher.interval is None:
        return lower.estimate is not None
    return lower.interval.high >= higher.interval.low


def _table_of_numbers(measures: ReportMeasures, rankings: _Rankings) -> TablePart:
    report = measures.report
    several = len(rankings) > 1
    rows = tuple(
        Row(
            heads=(ranked.judge, *((task,) if several else ()), ranked.mark),
            cells=(
                ranked.agreement,
                *_worst_test(measures, task, ranked.judge),
                _whole(measures, task, _NOISE, ranked.judge, REFERENCE),
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
    headings = (agreement, "worst test", "as expected there", "reruns differ", "missing", "$ per 1,000")
    return TablePart(
        caption="Judges, best first",
        heads=("Judge", *(("Task",) if several else ()), ""),
        note=_TIES if any(ranked.mark == _TIE for judges in rankings.values() for ranked in judges) else "",
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
    return test, MeasureRef(measure=place, digits=_DIGITS)


def _whole(measures: ReportMeasures, task: str, name: str, judge: str, test: str) -> MeasureRef | None:
    entry = measures.whole(task, name, judge, test)
    return None if entry is None else MeasureRef(measure=entry[0], digits=_DIGITS)


def _missing_verdicts(report: RunReport, task: str, judge: str) -> str:
    counts = _status_counts(report, judge, task)
    trials = sum(counts.values())
    return f"{trials - counts.get('ok', 0):,}/{trials:,}" if trials else ""


def _status_counts(report: RunReport, judge: str, task: str = "") -> Mapping[str, int]:
    records = report.records
    # Imported tables need not have every column.
    if not len(records) or not {"judge", "task", "status"} <= set(records.columns):
        return {}
    of_judge = records.where(records.equals("judge", judge))
    rows = of_judge.where(of_judge.equals("task", task)) if task else of_judge
    return {status: len(group) for (status,), group in rows.split("status")}


def _table_of_uses(measures: ReportMeasures, rankings: _Rankings) -> TablePart:
    uses = {judge: _uses(measures, rankings, judge) for judge in _by_places(measures.report.judges, rankings)}
    rows = tuple(
        Row(heads=(judge,), cells=(*use, next(_steps(measures.report, judge, use[-1]), "")))
        for judge, use in uses.items()
    )
    headings = ("use for", "not for", "undecided", "next step")
    return TablePart(caption="Judges and their uses", heads=("Judge",), note=_USES, **_used_columns(headings, rows))


def _by_places(judges: Sequence[str], rankings: _Rankings) -> Sequence[str]:
    """Order judges by the sum of their places in the tasks."""
    places = dict.fromkeys(judges, 0)
    for ranking in rankings.values():
        for place, ranked in enumerate(ranking):
            places[ranked.judge] += place
    return sorted(judges, key=places.__getitem__)


def _uses(measures: ReportMeasures, rankings: _Rankings, judge: str) -> tuple[str, str, str]:
    """Return the tasks a judge is shown to be good for, those it fails, and the undecided ones; failed tests named."""
    report = measures.report
    good, failed, undecided = [], [], []
    for task, ranking in rankings.items():
        findings = [finding for finding in report.findings if (finding.judge, finding.task) == (judge, task)]
        bad = [finding for finding in findings if finding.severity is Severity.BAD]
        name = task if len(rankings) > 1 else "this task"
        tests = {test for finding in bad for test in finding.tests if test != REFERENCE}
        # What fails in no test of its own, such as circular preferences, fails the task.
        if any(_is_headline(finding) or set(finding.tests) <= {REFERENCE} for finding in bad):
            failed.append(name)
        elif tests:
            named = _name_some([test for test in report.tests if test in tests])
            failed.append(f"{named} ({name})" if len(rankings) > 1 else named)
        elif _agrees_enough(report, findings, next(ranked for ranked in ranking if ranked.judge == judge)):
            good.append(name)
        else:
            undecided.append(name)
    return _name_tasks(good, report), "; ".join(failed), _name_tasks(undecided, report)


def _name_tasks(names: Sequence[str], report: RunReport) -> str:
    return f"all {len(names)} tasks" if 1 < len(names) == len(report.tasks) else "; ".join(names)


def _agrees_enough(report: RunReport, findings: Sequence[Finding], ranked: _Ranked) -> bool:
    # "Beyond chance" alone is no recommendation: with many items a kappa of 0.1 is, too.
    interval = None if ranked.agreement is None else report.measures[ranked.agreement.measure].interval
    claimed = any(finding.severity is Severity.GOOD and _is_headline(finding) for finding in findings)
    return claimed and interval is not None and interval.low >= _ENOUGH


def _is_headline(finding: Finding) -> bool:
    """Tell whether a finding is about agreement with the gold labels in the reference condition."""
    return any(basis.name in (KAPPA, RIGHT) and basis.test == REFERENCE for basis in finding.basis)


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])} and {more} more" if more > 0 else ", ".join(names)


def _steps(report: RunReport, judge: str, undecided: str) -> Iterator[str]:
    """Yield what to do next, the most urgent first: mend what is broken, look at what failed, label what is open."""
    several = len(report.tasks) > 1
    counts = _status_counts(report, judge)
    if len(report.records) and not counts:
        yield "run the suite again: this judge was not asked yet"
    faults = sum(number for status, number in counts.items() if status in _FAULTS)
    if faults:
        yield f"fix the parser or the prompt: {count_noun(faults, 'reply', 'replies')} without a label"
    findings = [finding for finding in report.findings if finding.judge == judge]
    for finding in findings:
        if finding.severity is Severity.BAD:
            where = " ".join(name for name in (finding.task if several else "", *finding.tests[:1]) if name)
            yield f"look at its cases{f': {where}' if where else ''}"
    if not any(summary.labelled for summary in report.tasks):
        yield "label some items: without labels no agreement can be shown"
    for finding in findings:
        if _is_headline(finding) and finding.decide:
            yield f"{f'{finding.task}: ' if several else ''}label more items: {finding.decide}"
    if all(sum(count > 0 for count in summary.gold.values()) <= 1 for summary in report.tasks):
        yield "add items with another gold label: agreement cannot be judged with one"
    if undecided:
        yield f"label more items{f' of {undecided}' if several else ''}"
