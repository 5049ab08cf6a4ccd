"""Judges by tests: which measure stands where in the main table of a task."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport

from jrh_report.steady import steady_tests

RIGHT = "gold-accuracy"
"""Whether verdicts are right; where a test does not keep the gold label, whether they are as the test expects."""

EXPECTED = "accuracy"

NOISE = "rerun-disagreement"

COLUMNS = (RIGHT, "flip-rate", NOISE, "jss", "kappa")
"""The measures of the main table, where the run has them."""

LEGEND = {
    RIGHT: "accuracy: verdicts equal to the gold label (gold-accuracy); where a test changes what is right, verdicts "
    "that are as it expects (accuracy)",
    "flip-rate": "flip rate: verdicts that differ from the same judge's verdict in the reference condition; where a "
    "test changes what is right, they should",
    NOISE: "noise floor: repeats of the identical question that disagree; for a test that asks once, the reference's",
    "jss": "JSS, judge sensitivity score: pairs of prompt templates under which a judge's verdicts on an item agree",
    "kappa": "kappa: Cohen's, with the verdicts of the reference condition; no merit where a test changes what is "
    "right",
}
HEADINGS = {RIGHT: "accuracy", "flip-rate": "flip rate", NOISE: "noise floor", "jss": "JSS", "kappa": "kappa"}


@frozen(kw_only=True)
class Row:
    """One judge in one test of a task."""

    judge: str
    test: str
    cells: dict[str, Measure]
    """Measures of the main table by name; a name may be absent."""
    own_noise: bool
    """The noise floor is the test's own, not the reference's."""


@frozen(kw_only=True)
class Overview:
    """The main table of a task."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def overview(report: RunReport, task: str) -> Overview:
    """Arrange the measures of a task; judges and tests in the suite's order, rows without any measure left out."""
    found = {
        (measure.judge, measure.test, measure.name): measure
        for measure in report.measures
        if measure.task == task and not measure.cell and measure.name in (*COLUMNS, EXPECTED)
    }
    rows = tuple(row for row in _rows(report, task, found) if row.cells)
    columns = tuple(name for name in COLUMNS if any(name in row.cells for row in rows))
    return Overview(columns=columns, rows=rows)


def _rows(report: RunReport, task: str, found: dict[tuple[str, str, str], Measure]) -> Iterator[Row]:
    steady = steady_tests(report, task) - {REFERENCE}
    for judge in report.judges:
        noise = found.get((judge, REFERENCE, NOISE))
        for test in report.tests:
            cells = {name: found[judge, test, name] for name in COLUMNS if (judge, test, name) in found}
            expected = (judge, test, EXPECTED) in found and test not in steady
            if expected and not _rests_on_something(cells.get(RIGHT)):
                cells[RIGHT] = found[judge, test, EXPECTED]
            own = NOISE in cells
            if cells and noise is not None and not own:
                cells[NOISE] = noise
            yield Row(judge=judge, test=test, cells=cells, own_noise=own)


def _rests_on_something(measure: Measure | None) -> bool:
    """Tell whether a test keeps the gold label at all: where it does not, there is no trial to compare with it."""
    return measure is not None and (measure.n_trials > 0 or bool(measure.missing))
