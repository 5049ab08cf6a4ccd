"""The section on the judges as a panel: how far they agree, what they decide together, how their errors go together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from statistics import stdev
from typing import Final

import numpy as np
from jrh import REFERENCE, Measure, MetricContext, RunReport
from jrh.values import Cell, Column, Importance, MeasureRef, Row, TablePart
from jrh_measuring import MeasureTable, MeasureTables, ReportMeasures, ballots_of, mark_simulated, read_trials
from jrh_stats import majority_vote

from jrh_metrics.judges_by_tests import name_accuracy, right_verdicts
from jrh_metrics.panel import TRIO
from jrh_metrics.panel_by_test import CHOSEN, HELD_OUT, IN_SAMPLE, name_panel, panel_cells

PAIRS: Final = 40
"""Pairs of judges that are listed, the most alike in their errors first; the others are counted."""
_TEXT: Final = (
    "How the judges do as a panel. Agreement is corrected for chance: 1 is perfect agreement, 0 is what chance alone "
    "gives. A tied vote decides nothing and counts as wrong: an even number of judges loses whenever votes are split "
    "evenly, as those of two judges are whenever they differ.\n\nJudges that err on the same items are worth less than "
    "their number. The effective number is how many judges with independent errors would do as well; negatively "
    "correlated errors make it larger than the number of judges."
)
_AGREEMENT: Final = MeasureTable(
    caption="Agreement of the judges with each other",
    columns={
        "krippendorff-alpha": "Krippendorff's alpha",
        "icc-2-1": "ICC(2,1)",
    },
    panel=True,
    notes=True,
)
_AND: Final = " & "
_WHAT: Final = {
    "panel-accuracy": "gold accuracy",
    "best-trio": "gold accuracy",
    "panel-mean-absolute-error": "mean absolute error, levels",
    "effective-judges": "effective number of judges",
}
"""Measure -> what it is called, in the order of the table."""
_WHOLE: Final = {
    "panel-accuracy": "all judges, by majority",
    "best-trio": "the best three judges, by majority",
    "effective-judges": "all judges",
}
_RULES: Final = {
    "weighted": "all judges, by weighted votes",
    "mean": "all judges, by their mean level",
    "median": "all judges, by their median level",
}

_OUTCOMES: Final = {"accuracy": "accuracy", "false-positive-rate": "FPR", "false-negative-rate": "FNR"}
_ALL_TESTS: Final = "all tests"
_PANELS: Final = (
    ("majority", "", "all judges"),
    ("trio", HELD_OUT, "best three, held out"),
    ("trio", IN_SAMPLE, "best three, in sample (too good)"),
)
"""Begin of the names of a panel's measures, how its judges are chosen, and what it is called."""


def panel() -> MeasureTables:
    """Build the section on agreement, decisions and correlations of errors."""
    return MeasureTables(text=_TEXT, tables=(_AGREEMENT, _decisions, _pairs))


def over_tests() -> MeasureTables:
    """Build the section on every judge over its tests, every test over its judges, and panels test by test."""
    return MeasureTables(tables=(_over_tests, _over_judges, _panels, _confusion), importance=Importance.DETAIL)


def _over_tests(measures: ReportMeasures, task: str) -> TablePart:
    right = right_verdicts(measures, task)
    rows: list[Row] = []
    for place, mean in measures.select(task, "mean-over-tests"):
        cells = {test: cell for (judge, test), cell in right.items() if judge == mean.judge and test != REFERENCE}
        rows += _spread(measures, mean.judge, place, cells)
    return TablePart(
        caption="Every judge over its tests",
        heads=("Judge",),
        columns=_columns("tests", "mean", "SD", "lowest", "lowest in", "highest", "highest in"),
        rows=tuple(rows),
        note="Tests have equal weight, without the reference condition. The interval of the mean is by cluster and "
        "counts that the tests share items. SD: between tests, n - 1.",
        file="spread-over-tests",
    )


def _over_judges(measures: ReportMeasures, task: str) -> TablePart:
    right = right_verdicts(measures, task)
    rows: list[Row] = []
    for place, mean in measures.select(task, "mean-over-judges"):
        cells = {
            mark_simulated(measures.report, judge): cell for (judge, test), cell in right.items() if test == mean.test
        }
        rows += _spread(measures, mean.test, place, cells)
    return TablePart(
        caption="Every test over its judges",
        heads=("Test",),
        columns=_columns("judges", "mean", "SD", "lowest", "lowest by", "highest", "highest by"),
        rows=tuple(rows),
        note="Judges have equal weight. SD: between judges, n - 1.",
        file="spread-over-judges",
    )


def _columns(*headings: str) -> tuple[Column, ...]:
    return tuple(Column(heading=heading) for heading in headings)


def _spread(measures: ReportMeasures, head: str, mean: int, cells: Mapping[str, MeasureRef]) -> Iterator[Row]:
    """Yield the row of a judge or test with two estimates or more."""
    estimates = {name: measures.report.measures[cell.measure].estimate for name, cell in cells.items()}
    known = {name: value for name, value in estimates.items() if value is not None}
    # The spread of a single number is none.
    if len(known) > 1:
        low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        numbers: tuple[Cell, ...] = len(known), MeasureRef(measure=mean), stdev(known.values())
        yield Row(heads=(head,), cells=(*numbers, cells[low], low, cells[high], high))


def _panels(measures: ReportMeasures, task: str) -> TablePart:
    """Tabulate the majority of all judges and the best three of them, test by test and over all tests."""
    rows = []
    for test in (*measures.report.tests, ""):
        for panel, chosen, what in _PANELS:
            levels = {CHOSEN: chosen} if chosen else {}
            rates = {
                name: (place, measure)
                for name in _OUTCOMES
                for place, measure in measures.select(task, f"{panel}-{name}", *levels)
                if (measure.test, measure.cell) == (test, levels)
            }
            if "accuracy" in rates:
                cells = (MeasureRef(measure=rates[name][0]) if name in rates else None for name in _OUTCOMES)
                # The metric begins the note with the names of the judges.
                rows.append(Row(heads=(test or _ALL_TESTS, what, _judges_in(rates["accuracy"][1])), cells=tuple(cells)))
    return TablePart(
        caption="Panels: the majority of all judges, and the best three",
        heads=("Test", "Panel", "Judges"),
        columns=_columns(*_OUTCOMES.values()),
        rows=tuple(rows),
        note="Held out: the three are chosen on other clusters than they are scored on; expect this number. In "
        "sample: chosen and scored on the same cases, as in the paper; do not expect it. All tests: without the "
        "reference. n counts the verdicts of all judges, not only of the three.",
        file="best-panel",
    )


def _judges_in(measure: Measure) -> str:
    """Return the names of the judges of a panel, with which the metric begins its note."""
    return measure.note.rpartition("; ")[0] or measure.note


def _confusion(measures: ReportMeasures, task: str) -> TablePart | None:
    """Count what the best three judges decide on the cases of each label, test by test and over all tests."""
    report = measures.report
    tasks = {summary.task.name: summary.task for summary in report.tasks}
    chosen = {
        measure.test: _judges_in(measure)
        for _, measure in measures.select(task, "trio-accuracy", CHOSEN)
        if measure.cell[CHOSEN] == IN_SAMPLE
    }
    # A report that was read from its JSON has no records to count.
    if not chosen or not len(report.records):
        return None
    trials = read_trials(report.records, MetricContext(tasks=tasks, seed=report.seed, level=report.level))
    labels, rows = tasks[task].scale.labels, []
    for cell in panel_cells(trials):
        if cell.task != task or cell.test not in chosen:
            continue
        ballots = ballots_of(trials, cell, tasks[task].scale)
        names = {
            name_panel(ballots.judges[judge] for judge in trio): trio
            for trio in combinations(range(len(ballots.judges)), TRIO)
        }
        votes = ballots.votes[:, names[chosen[cell.test]]]
        decided = majority_vote(votes, n_labels=len(labels))
        decided[decided < 0] = len(labels)
        # Nothing is decided where none of the three answers, either, but that is no tie.
        decided[(votes < 0).all(axis=1)] = len(labels) + 1
        for truth, label in enumerate(labels):
            counts = np.bincount(decided[ballots.truth == truth], minlength=len(labels) + 2)
            rows.append(Row(heads=(cell.test or _ALL_TESTS, chosen[cell.test], label), cells=tuple(counts.tolist())))
    return TablePart(
        caption="Confusion matrix of the best three judges, by majority",
        heads=("Test", "Judges", "Expected"),
        columns=_columns(*labels, "no majority", "no verdict"),
        rows=tuple(rows),
        note="Counts of cases and repeats with an expected label. The three are chosen on the same cases: do not "
        "expect these numbers. A missing verdict has no vote; no verdict: all three are missing.",
        file="confusion-of-best-panel",
    )


def _decisions(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate what the judges decide together."""
    report = measures.report
    right = name_accuracy(report, task)
    rows = tuple(
        Row(
            heads=(what.replace("gold accuracy", right), _whose(report, measure)),
            cells=(MeasureRef(measure=place),),
            note=measure.note,
        )
        for name, what in _WHAT.items()
        # The whole panel first, then what it is without a judge or by another rule.
        for place, measure in sorted(measures.by_name.get((task, name), ()), key=lambda each: bool(each[1].cell))
        if not measure.judge
    )
    caption, columns = "Panel verdicts in the reference condition", (Column(heading="estimate"),)
    return TablePart(caption=caption, heads=("Measure", "Of"), columns=columns, rows=rows) if rows else None


def _whose(report: RunReport, measure: Measure) -> str:
    """Say whose decision it is, and by what rule."""
    cell = measure.cell
    if not cell:
        return _WHOLE.get(measure.name, "all judges")
    if set(cell) == {"without"}:
        return f"without {mark_simulated(report, cell['without'])}, by majority"
    if set(cell) == {"rule"} and cell["rule"] in _RULES:
        return _RULES[cell["rule"]]
    return ", ".join(f"{name} {value}" for name, value in cell.items())


def _pairs(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate the correlation of errors of every two judges, the strongest first."""
    pairs = list(measures.select(task, "error-correlation", "judges"))
    # What could not be estimated comes last.
    pairs.sort(key=lambda each: (each[1].estimate is None, -(each[1].estimate or 0.0)))
    if not pairs:
        return None
    return TablePart(
        caption="Correlation of the errors of two judges in the reference condition, highest first",
        heads=("Judge", "and"),
        columns=(Column(heading="correlation of errors", measure="error-correlation"),),
        rows=tuple(
            Row(
                heads=_two(measures.report, measure.cell["judges"]),
                cells=(MeasureRef(measure=place),),
                note=measure.note,
            )
            for place, measure in pairs[:PAIRS]
        ),
        more=len(pairs[PAIRS:]),
    )


def _two(report: RunReport, pair: str) -> tuple[str, str]:
    """Return the names of a pair, which the metric joined, each marked where its answers are made up."""
    for first in report.judges:
        # A name may hold the joint: the pair is split where both sides are judges.
        second = pair.removeprefix(f"{first}{_AND}")
        if second != pair and second in report.judges:
            return mark_simulated(report, first), mark_simulated(report, second)
    return pair, ""
