"""The first table of a report: which judge, good enough for what, what fails, what it costs, what next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen
from jrh import REFERENCE, Measure, RunReport
from jrh.text import clean_text, count_noun
from jrh.values import Cell, Column, Finding, Importance, MeasureRef, Row, Section, Severity, TablePart, TaskSummary
from jrh_measuring import STOPPED_EARLY, ReportMeasures, unsure

from jrh_metrics.judge_ranking import DIGITS, TIE, Comparisons, Rankings, is_silent, rank_judges, status_counts
from jrh_metrics.judges_by_tests import EXPECTED, RIGHT, price_of_verdicts
from jrh_metrics.rules.accuracy import RERUN
from jrh_metrics.rules.headline import KAPPA

ENOUGH: Final = 0.4
"""Where Landis and Koch's "moderate" agreement begins (1977, Biometrics 33:159-174)."""
_MISSING: Final = "missing"
_BUT: Final = ", but "
"""After it a finding says what contradicts its praise."""
WHOLE: Final = "this task"
_NAMED: Final = 3
"""Tests or tasks that are named in one place; the others are counted."""
_FAULTS: Final = frozenset({"unparsable", "off_scale"})
"""Statuses that a better parser or prompt would mend."""
_CALM: Final = "ask for a lower temperature or take a majority of repeats"
_UNSTABLE: Final = 0.2
"""A judge that is shown to change one verdict in five when asked again decides by chance what a single answer says."""
USES: Final = {
    "use for": f"Use for: kappa is above {ENOUGH:g} even at its lower limit, and no test failed. The limit is not "
    "corrected for the number of judges.",
    "not for": "Not for: tests that a bad finding or a warning names; tasks with a bad finding on their reference, "
    f"kappa shown below {ENOUGH:g}, or more than {_UNSTABLE:.0%} shown to change when asked again.",
}
"""Heading of a column -> when a judge is named there: the rules of this module in a sentence, under the table."""


@frozen(kw_only=True)
class TaskUse:
    """What the findings of one judge and task say."""

    task: str
    not_for: str
    undecided: str
    good: bool
    """Whether agreement is shown and nothing failed."""
    mends: tuple[str, ...]
    """What to do about what failed, the most urgent first."""
    decides: tuple[str, ...]
    """What to do about what is open, likewise."""


def name_tasks(texts: Mapping[str, str]) -> str:
    """Write what is said of each task; equal texts are written once, with their tasks where there are several."""
    tasks: dict[str, list[str]] = {}
    for task in filter(texts.get, texts):
        tasks.setdefault(texts[task], []).append(task)
    if len(texts) == 1:
        return "".join(tasks)
    named = {text: f"all {len(of)} tasks" if len(of) == len(texts) else ", ".join(of) for text, of in tasks.items()}
    return "; ".join(of if text == WHOLE else f"{text} ({of})" for text, of in named.items())


def use_of_task(measures: ReportMeasures, rankings: Rankings, judge: str, summary: TaskSummary) -> TaskUse:
    """Read the findings of a judge and task."""
    report, task = measures.report, summary.task.name
    findings = [
        finding
        for finding in report.findings
        # Tests that lost verdicts are not failed.
        if (finding.judge, finding.task) == (judge, task) and any(basis.name != _MISSING for basis in finding.basis)
    ]
    bad = [finding for finding in findings if finding.severity is Severity.BAD]
    against = [*bad, *(finding for finding in findings if finding.severity is Severity.WARNING)]
    unstable, changing = max((_rerun_changes(measures, finding) for finding in against), default=(0.0, ""))
    silent = _why_silent(report, judge, task)
    failed = () if silent else _tests_of(measures, task, judge, against)
    # What fails in no test of its own, such as circular preferences, fails the task.
    whole = any(_is_headline(finding) or set(finding.tests) <= {REFERENCE} for finding in bad) or unstable > 0
    agreed = next(ranked.agreement for ranked in rankings[task] if ranked.judge == judge)
    measure = None if agreed is None else report.measures[agreed.measure]
    weak = summary.labelled and measure is not None and _is_too_little(measure, report)
    agreement = "" if weak or any(map(_is_headline, bad)) else _why_open(summary, findings, measure)
    opened = [finding for finding in findings if finding.severity is Severity.INCONCLUSIVE]
    tests = tuple(test for test in _tests_of(measures, task, judge, opened) if test not in failed)
    mends = []
    if silent and summary.labelled:
        mends.append("remove the cause of the missing verdicts, then run the suite again")
    if unstable:
        mends.append(f"{_CALM}: it changes {unstable:.0%} of verdicts when asked again{changing}")
    elif not silent and (failed or whole):
        mends.append(f"see the failed cases in jrh view: {next(iter(failed), REFERENCE)}")
    if weak and not silent:
        mends.append(f"change the rubric or the judge: its agreement is below {ENOUGH:g}")
    named = "" if whole or weak else name_some(tests)
    undecided = "; ".join(filter(None, (agreement, named)))
    if len(report.tasks) > 1:
        # The reasons of every task would fill the screen that is to answer which judge.
        entries = ("agreement" if agreement else "", count_noun(len(tests), "test") if named else "")
        undecided = ", ".join(filter(None, entries))
    return TaskUse(
        task=task,
        not_for=WHOLE if (whole or weak) and not silent else name_some(failed),
        # What fails as a whole need not be tried in its tests.
        undecided=silent or undecided,
        good=not (silent or whole or weak or failed or agreement),
        mends=tuple(mends),
        decides=tuple(_steps_to_decide(summary, findings, agreement, tests)),
    )


def _is_headline(finding: Finding) -> bool:
    """Tell whether a finding is about agreement with the gold labels in the reference condition."""
    return any(basis.name in (KAPPA, RIGHT) and basis.test == REFERENCE for basis in finding.basis)


def _rerun_changes(measures: ReportMeasures, finding: Finding) -> tuple[float, str]:
    """Return the largest share of verdicts that change on reruns if it is beyond the bound, else 0, and in which test.

    The reference is not named: its share has a column of its own.
    """
    tests = [basis.test for basis in finding.basis if basis.name == RERUN]
    entries = [entry for test in tests if (entry := measures.whole(finding.task, RERUN, finding.judge, test))]
    shown = [noise for _, noise in entries if noise.interval is not None and noise.interval.low >= _UNSTABLE]
    changes = ((noise.estimate or 0.0, "" if noise.test == REFERENCE else f" in {noise.test}") for noise in shown)
    return max(changes, default=(0.0, ""))


def _tests_of(measures: ReportMeasures, task: str, judge: str, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the tests that findings name, those first whose expectation the fewest verdicts meet."""
    named = {test for finding in findings if not _is_headline(finding) for test in finding.tests} - {REFERENCE}
    expected = [measure for _, measure in measures.select(task, EXPECTED) if measure.judge == judge]
    shares = {measure.test: measure.estimate for measure in expected if measure.estimate is not None}
    tests = [test for test in measures.report.tests if test in named]
    return tuple(sorted(tests, key=lambda test: shares.get(test, 1)))


def _why_silent(report: RunReport, judge: str, task: str) -> str:
    """Return that a judge gave no verdict, with the commonest reason; empty where it gave one."""
    if len(report.records) and not status_counts(report, judge):
        return "not asked"
    if not is_silent(report, judge, task):
        return ""
    rows = report.records.where(report.records.equals("judge", judge) & report.records.equals("task", task))
    reasons = rows.counts("detail" if "detail" in rows.columns else "status")
    return f"gave no verdict: {clean_text(max(reasons, key=reasons.__getitem__) or 'no reason given', 100)}"


def _is_too_little(measure: Measure, report: RunReport) -> bool:
    """Tell whether agreement is shown to be below what a use takes: more labels would not change that."""
    interval = measure.interval
    return interval is not None and interval.high < ENOUGH and not unsure(measure, report.flags)


def _why_open(summary: TaskSummary, findings: Sequence[Finding], measure: Measure | None) -> str:
    """Return why agreement is not shown to be enough; empty where it is."""
    headlines = [finding for finding in findings if _is_headline(finding)]
    if not summary.labelled:
        return "agreement: no labels"
    if sum(count > 0 for count in summary.gold.values()) <= 1:
        return "agreement: all gold labels are the same"
    # "Beyond chance" alone is no recommendation: with many items a kappa of 0.1 is, too.
    if any(finding.severity is Severity.GOOD for finding in headlines):
        interval = None if measure is None else measure.interval
        if measure is None or interval is None or interval.low < ENOUGH:
            return f"agreement may be below {ENOUGH:g}"
        # Also where a flag doubts the interval: a good judge has few errors by nature. Of judges whose kappa is exactly
        # 0.4, 0.4 to 0.7% had such an interval above 0.4 in 250 simulated pages of eight, and 1 to 2% any.
        return "agreement: its judging ended early" if STOPPED_EARLY in measure.flags else ""
    for finding in headlines:
        if finding.severity is not Severity.INCONCLUSIVE:
            return f"agreement: {finding.statement.partition(_BUT)[2] or finding.statement}"
    return "agreement not shown"


def _steps_to_decide(
    summary: TaskSummary, findings: Sequence[Finding], agreement: str, undecided: Sequence[str]
) -> Iterator[str]:
    """Yield what would decide what is open in a task, agreement first."""
    headlines = [finding for finding in findings if _is_headline(finding)]
    if not summary.labelled:
        yield "label some items: without labels no agreement can be shown"
    elif sum(count > 0 for count in summary.gold.values()) <= 1:
        yield "add items with another gold label: agreement cannot be judged with one"
    elif any(_BUT in finding.statement for finding in headlines if finding.severity is Severity.INFO):
        yield f"balance the items: {agreement.partition(': ')[2]}"
    elif agreement:
        yield "; ".join(("label more items", *[finding.decide for finding in headlines if finding.decide][:1]))
    for test in undecided[:1]:
        bases = [basis for finding in findings for basis in finding.basis if basis.test == test and basis.decide]
        yield "; ".join((f"add items to decide {test}", *[basis.decide for basis in bases][:1]))


def name_some(names: Sequence[str]) -> str:
    """Join names; of many only the first."""
    more = len(names) - _NAMED
    return f"{', '.join(names[:_NAMED])} and {more} more" if more > 0 else ", ".join(names)


def next_steps(report: RunReport, judge: str, uses: Sequence[TaskUse]) -> Iterator[str]:
    """Yield what to do next, the most urgent first: finish the run, mend what is broken, decide what is open."""
    counts = status_counts(report, judge)
    yield from _steps_to_finish(report, judge, sum(counts.values()))
    faults = sum(number for status, number in counts.items() if status in _FAULTS)
    if faults:
        yield f"fix the parser or the prompt: {count_noun(faults, 'reply', 'replies')} without a label"
    steps = [(use.task, step) for use in uses for step in use.mends]
    steps += [(use.task, step) for use in uses for step in use.decides]
    for task, step in steps:
        yield f"{step} (task {task})" if len(uses) > 1 else step
    yield "use it"


def _steps_to_finish(report: RunReport, judge: str, done: int) -> Iterator[str]:
    """Yield that trials are still to be run, and in which tests."""
    if len(report.records) and not done:
        yield "jrh run again: this judge was not asked yet"
    planned = planned_of_judge(report)
    if report.incomplete and (done < planned or report.still_planning):
        behind = name_some([test for test in report.tests if _is_behind(report, judge, test)])
        yield f"jrh run again: {done:,} of {planned:,} trials done{behind and f'; unfinished: {behind}'}"


def planned_of_judge(report: RunReport) -> int:
    """Return how many trials are planned for each judge: all of them are asked the same."""
    return math.ceil(report.planned / max(len(report.judges), 1))


def _is_behind(report: RunReport, judge: str, test: str) -> bool:
    """Tell whether a judge has fewer trials in a test than it has cases, or than another judge has trials."""
    cases = sum(line.kept for line in report.attrition if line.test == test)
    trials = {other: sum(status_counts(report, other, test=test).values()) for other in report.judges}
    return trials[judge] < max(cases, *trials.values())


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
