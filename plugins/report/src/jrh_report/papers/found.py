"""The measures of a report by what they are about."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen
from jrh import Measure, RunReport
from jrh.values import MeasureRef

from jrh_report.sections import heat_parts
from jrh_report.tables import judge_label

Key = tuple[str, str, str, str, frozenset[tuple[str, str]]]


@frozen(kw_only=True)
class GridRow:
    """One judge."""

    judge: str
    label: str
    """The name, marked where the answers are made up."""
    measures: tuple[Measure | None, ...]
    """One for each test."""


@frozen(kw_only=True)
class Grid:
    """Judges by tests; tests and judges without the measure are left out."""

    title: str
    tests: tuple[str, ...]
    rows: tuple[GridRow, ...]


@frozen(kw_only=True)
class Found:
    """Look-ups in a report."""

    report: RunReport
    by_key: Mapping[Key, Measure] = Factory(dict)
    right: Mapping[str, Grid | None] = Factory(dict)
    """Task -> judges by tests: whether verdicts are right."""

    @classmethod
    def of(cls, report: RunReport) -> Found:
        """Index the measures."""
        return cls(
            report=report,
            by_key={
                (each.name, each.task, each.judge, each.test, frozenset(each.cell.items())): each
                for each in report.measures
            },
            right={each.task.name: _grid(report, each.task.name) for each in report.tasks},
        )

    def get(self, name: str, task: str, judge: str = "", test: str = "", **cell: str) -> Measure | None:
        """Return the measure, if there is one."""
        return self.by_key.get((name, task, judge, test, frozenset(cell.items())))

    def named(self, name: str, task: str, **cell: str) -> list[Measure]:
        """Return the measures of a name that have these levels, whatever other levels they have."""
        return [
            each
            for each in self.report.measures
            if each.name == name and each.task == task and cell.items() <= each.cell.items()
        ]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the names of the tasks."""
        return tuple(each.task.name for each in self.report.tasks)


def _grid(report: RunReport, task: str) -> Grid | None:
    """Arrange the first layer of the task's heat map; None where it is not about being right."""
    part = next(heat_parts(report, task), None)
    if part is None or not (part.layers[0].tabled and part.layers[0].drawn):
        return None
    layer = part.layers[0]
    cells = [
        [report.measures[cell.measure] if isinstance(cell, MeasureRef) else None for cell in row] for row in layer.cells
    ]
    shown = [place for place, _ in enumerate(part.columns) if any(row[place] for row in cells)]
    return Grid(
        title=layer.heading[:1].upper() + layer.heading[1:],
        tests=tuple(part.columns[place] for place in shown),
        rows=tuple(
            GridRow(judge=judge, label=judge_label(report, judge), measures=tuple(row[place] for place in shown))
            for judge, row in zip(part.rows, cells, strict=True)
            if any(row)
        ),
    )


def end_of(report: RunReport, task: str) -> str:
    """Return what file names of a task end with: nothing where there is one task only, otherwise what no other has."""
    if len(report.tasks) == 1 or not task:
        return ""
    taken: set[str] = set()
    ends = {each.task.name: unlike(slug(each.task.name), taken) for each in report.tasks}
    return f"-{ends[task]}"


def unlike(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken, and take it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free)
    return free


def slug(text: str) -> str:
    """Return a text as part of a file's name."""
    made = "".join(character if character.isascii() and character.isalnum() else "-" for character in text.casefold())
    return "-".join(part for part in made.split("-") if part)[:40] or "task"
