"""The measures of a report by what they are about."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen
from jrh import Measure, RunReport

from jrh_report.by_test import Grid, grid
from jrh_report.overview import RIGHT

Key = tuple[str, str, str, str, frozenset[tuple[str, str]]]


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
            right={each.task.name: grid(report, each.task.name, RIGHT) for each in report.tasks},
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


def end_of(report: RunReport, task: str) -> str:
    """Return what file names of a task end with: nothing where there is one task only, otherwise what no other has."""
    if len(report.tasks) == 1:
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
