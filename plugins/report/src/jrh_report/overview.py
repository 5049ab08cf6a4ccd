"""Judges by tests: which measure stands where in the main table of a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport
from jrh.values import has_model_gold
from jrh_measuring import steady_tests

RIGHT = "gold-accuracy"
"""Whether verdicts are right; where a test does not keep the gold label, whether they are as the test expects."""

EXPECTED = "as-expected"

NOISE = "rerun-disagreement"

COLUMNS = (RIGHT, "flip-rate", NOISE, "jss", "kappa")
"""The measures of the main table, where the run has them."""

GOLD_LEGEND = "gold accuracy: share of verdicts equal to the gold label (measure gold-accuracy)"
MIXED_LEGEND = (
    f"{GOLD_LEGEND}; as expected: where a test changes the right answer, share of verdicts that follow it "
    "(measure as-expected)"
)
EXPECTED_LEGEND = (
    "as expected: verdicts that meet the expectation: the gold label, a stated label, or relative to the same judge's "
    "verdict in the reference condition"
)
LEGEND = {
    "flip-rate": "flip rate: verdicts that differ from the same judge's verdict in the reference condition; expected "
    "if a test changes the right answer",
    NOISE: "noise floor: repeats of the identical question that disagree; for a test without repeats, the reference's",
    "jss": "JSS (judge sensitivity score): share of template pairs whose verdicts on an item agree",
    "kappa": "kappa: Cohen's, with the verdicts of the reference condition; low values are expected if a test "
    "changes the right answer",
}
MODEL_GOLD = "agreement with model labels"
"""What `gold-accuracy` is called where a model made gold labels."""
HEADINGS = {
    RIGHT: "gold accuracy",
    EXPECTED: "as expected",
    "flip-rate": "flip rate",
    NOISE: "noise floor",
    "jss": "JSS",
    "kappa": "kappa",
}


@frozen(kw_only=True)
class Row:
    """One judge in one test of a task."""

    judge: str
    test: str
    cells: dict[str, Measure]
    """Measures of the main table by name; a name may be absent."""
    own_noise: bool
    """The noise floor is the test's own, not the reference's."""

    def shows(self, column: str) -> str:
        """Return the name of the measure that stands in a column; empty where none does."""
        measure = self.cells.get(column)
        return "" if measure is None else measure.name


@frozen(kw_only=True)
class Overview:
    """The main table of a task."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    model_gold: bool = False
    """Some gold labels are a model's: agreement with them is not called accuracy."""

    @property
    def shows_gold(self) -> bool:
        """Tell whether some cell is about the gold label; then those that are not are marked."""
        return any(row.shows(RIGHT) == RIGHT for row in self.rows)

    def heading(self, column: str) -> str:
        """Return what stands above a column."""
        if column == RIGHT and self.shows_gold and self.model_gold:
            return MODEL_GOLD
        return HEADINGS[EXPECTED if column == RIGHT and not self.shows_gold else column]

    def as_expected(self, row: Row, column: str) -> bool:
        """Tell whether a cell of the column of gold accuracy is about what its test expects."""
        return column == RIGHT and self.shows_gold and row.shows(RIGHT) == EXPECTED

    @property
    def legend(self) -> Iterator[str]:
        """Yield a line for each column."""
        for column in self.columns:
            if column != RIGHT:
                yield LEGEND[column]
            elif not self.shows_gold:
                yield EXPECTED_LEGEND
            else:
                mixed = any(self.as_expected(row, column) for row in self.rows)
                line = MIXED_LEGEND if mixed else GOLD_LEGEND
                yield line.replace(HEADINGS[RIGHT], MODEL_GOLD, 1) if self.model_gold else line


def legend(mains: Iterable[Overview]) -> list[str]:
    """Return what the columns of some main tables mean, a line each."""
    lines = list(dict.fromkeys(line for main in mains for line in main.legend))
    return [line for line in lines if line != GOLD_LEGEND or MIXED_LEGEND not in lines]


def overview(report: RunReport, task: str) -> Overview:
    """Arrange the measures of a task; judges and tests in the suite's order, rows without any measure left out."""
    found = {
        (measure.judge, measure.test, measure.name): measure
        for measure in report.measures
        if measure.task == task and not measure.cell and measure.name in (*COLUMNS, EXPECTED)
    }
    rows = tuple(row for row in _rows(report, task, found) if row.cells)
    columns = tuple(name for name in COLUMNS if any(name in row.cells for row in rows))
    return Overview(columns=columns, rows=rows, model_gold=of_models(report, task))


def of_models(report: RunReport, task: str) -> bool:
    """Tell whether gold labels of a task were made by a model."""
    return any(has_model_gold(each.gold_sources) for each in report.tasks if each.task.name == task)


def _rows(report: RunReport, task: str, found: dict[tuple[str, str, str], Measure]) -> Iterator[Row]:
    steady = steady_tests(report.records, task)
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
