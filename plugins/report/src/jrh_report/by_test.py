"""One measure of a task as judges by tests."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport

from jrh_report.overview import HEADINGS, MODEL_GOLD, RIGHT, of_models, overview
from jrh_report.tables import judge_label


@frozen(kw_only=True)
class GridRow:
    """One judge."""

    judge: str
    label: str
    """The name, marked where the answers are made up."""
    simulated: bool
    measures: tuple[Measure | None, ...]
    """One for each test."""


@frozen(kw_only=True)
class Grid:
    """Judges by tests; tests and judges without the measure are left out."""

    task: str
    name: str
    title: str
    tests: tuple[str, ...]
    rows: tuple[GridRow, ...]


_MIXED: Final = "gold accuracy, or as expected if a test changes the right answer"


def grid(report: RunReport, task: str, name: str) -> Grid | None:
    """Arrange a measure; None where the task has none.

    `gold-accuracy` is that of the main table: where a test changes what is right, its cells are as expected, and the
    title says so.
    """
    found = _right(report, task) if name == RIGHT else _measures(report, task, name)
    tests = tuple(test for test in report.tests if any((judge, test) in found for judge in report.judges))
    rows = tuple(
        GridRow(
            judge=judge,
            label=judge_label(report, judge),
            simulated=judge in report.simulated,
            measures=tuple(found.get((judge, test)) for test in tests),
        )
        for judge in report.judges
        if any((judge, test) in found for test in tests)
    )
    title = _title(name, {measure.name for measure in found.values()})
    if of_models(report, task):
        title = title.replace(HEADINGS[RIGHT], MODEL_GOLD)
    return Grid(task=task, name=name, title=title[:1].upper() + title[1:], tests=tests, rows=rows) if rows else None


def _title(name: str, shown: AbstractSet[str]) -> str:
    """Name a measure by what is shown of it."""
    if name != RIGHT:
        return HEADINGS.get(name, name.replace("-", " "))
    return _MIXED if len(shown) > 1 else HEADINGS[next(iter(shown), name)]


def _right(report: RunReport, task: str) -> dict[tuple[str, str], Measure]:
    return {(row.judge, row.test): row.cells[RIGHT] for row in overview(report, task).rows if RIGHT in row.cells}


def _measures(report: RunReport, task: str, name: str) -> dict[tuple[str, str], Measure]:
    return {
        (measure.judge, measure.test): measure
        for measure in report.measures
        if measure.task == task and measure.name == name and not measure.cell
    }
