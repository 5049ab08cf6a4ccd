"""Judges by tests: which measure stands where in the main table of a task."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport

COLUMNS = ("accuracy", "agreement", "flip-rate", "rerun-disagreement")
"""The measures of the main table, where the run has them."""

NOISE = "rerun-disagreement"

LEGEND = {
    "accuracy": "accuracy: verdicts that are as expected; the reference against gold, a test against its expectation",
    "agreement": "agreement: verdicts equal to the same judge's verdict in the reference condition",
    "flip-rate": "flip rate: 1 - agreement",
    NOISE: "noise floor: repeats of the identical question that disagree; for a test that asks once, the reference's",
}
HEADINGS = {"accuracy": "accuracy", "agreement": "agreement", "flip-rate": "flip rate", NOISE: "noise floor"}


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
        if measure.task == task and not measure.cell and measure.name in COLUMNS
    }
    rows = tuple(row for row in _rows(report, found) if row.cells)
    columns = tuple(name for name in COLUMNS if any(name in row.cells for row in rows))
    return Overview(columns=columns, rows=rows)


def _rows(report: RunReport, found: dict[tuple[str, str, str], Measure]) -> Iterator[Row]:
    for judge in report.judges:
        noise = found.get((judge, REFERENCE, NOISE))
        for test in report.tests:
            cells = {name: found[judge, test, name] for name in COLUMNS if (judge, test, name) in found}
            own = NOISE in cells
            if cells and noise is not None and not own:
                cells[NOISE] = noise
            yield Row(judge=judge, test=test, cells=cells, own_noise=own)
