"""The cells that measures are reported for: task x judge x test, and the levels of one factor within a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from attrs import Factory, evolve, frozen
from jrh.hashing import derive_seed
from jrh.plugins.protocols import MetricContext

from jrh_measuring.coded import Coded, Codes, grouped, numbered
from jrh_measuring.trials import Trials

_OF_JUDGES: Final = frozenset({"against", "judges", "with", "without"})
"""Levels of a cell that name judges."""


@frozen(kw_only=True, eq=False)
class Cell:
    """The trials one measure is about."""

    task: str
    judge: str
    test: str
    levels: Mapping[str, str] = Factory(dict)
    """Further factor levels; empty for the whole test."""
    rows: Codes
    """Row numbers of the trials."""

    def seed(self, context: MetricContext, draws: str) -> int:
        """Derive the seed of this cell: another task, test or level draws other numbers.

        Metrics with the same `draws` draw the same ones, so that two that are equal by definition also have equal
        intervals. So do all judges: equal verdicts have equal intervals, whatever the judges are called.
        """
        named = sorted(level for level in self.levels.items() if level[0] not in _OF_JUDGES)
        return derive_seed(context.seed, draws, self.task, self.test, *(part for level in named for part in level))

    def part(self, levels: Mapping[str, str], rows: Codes | None = None) -> Cell:
        """Return a part of this cell: by default the same trials under further levels."""
        return evolve(self, levels=levels, rows=self.rows if rows is None else rows)


VARIANT: Final = "variant"
FACTORS: Final = (VARIANT, "stratum", "gold", "strength", "temperature", "output")
"""What a test can be broken down by."""


def cells_of(trials: Trials, factors: Sequence[str] = ()) -> Iterator[Cell]:
    """Yield the cells: tasks in the suite's order, judges by name, the reference before the other tests.

    After each whole test follow its parts by one of the `FACTORS` at a time, where it has two levels or more.
    """
    for rows, *parts in trials.shared(("cells", *factors), lambda: list(_divided(trials, factors))):
        first = rows[0]
        task = trials.task.names[trials.task.codes[first]]
        judge = trials.judge.names[trials.judge.codes[first]]
        test = trials.test.names[trials.test.codes[first]]
        yield Cell(task=task, judge=judge, test=test, rows=rows)
        for factor, levels in zip(factors, parts, strict=True):
            for level, part in levels:
                yield Cell(task=task, judge=judge, test=test, levels={factor: level}, rows=part)


Levels: TypeAlias = list[tuple[str, Codes]]
"""Names of levels, and their rows."""


def _divided(trials: Trials, factors: Sequence[str]) -> Iterator[tuple[Codes, *tuple[Levels, ...]]]:
    """Yield the rows of every task, judge and test, and for each factor the names and rows of its levels."""
    whole = trials.shared("cells", lambda: list(grouped(_tests(trials))))
    for place, rows in enumerate(whole):
        yield (
            rows,
            *(trials.shared(("levels", factor, place), partial(_levels, trials, factor, rows)) for factor in factors),
        )


def _tests(trials: Trials) -> Codes:
    return numbered(trials.task.codes, trials.judge.codes, trials.test.codes)


def panels_of(trials: Trials) -> Iterator[Cell]:
    """Yield one cell per task and test with the trials of all judges together; `judge` is empty."""
    for rows in grouped(numbered(trials.task.codes, trials.test.codes)):
        task, test = (column.names[column.codes[rows[0]]] for column in (trials.task, trials.test))
        yield Cell(task=task, judge="", test=test, rows=rows)


def tasks_of(trials: Trials) -> Iterator[Cell]:
    """Yield one cell per task and judge with the trials of all tests together; `test` is empty."""
    for rows in grouped(numbered(trials.task.codes, trials.judge.codes)):
        task, judge = (column.names[column.codes[rows[0]]] for column in (trials.task, trials.judge))
        yield Cell(task=task, judge=judge, test="", rows=rows)


def judged_tasks_of(trials: Trials) -> Iterator[Cell]:
    """Yield one cell per task with the trials of all judges and tests; `judge` and `test` are empty."""
    for rows in grouped(trials.task.codes):
        yield Cell(task=trials.task.names[trials.task.codes[rows[0]]], judge="", test="", rows=rows)


def _levels(trials: Trials, factor: str, rows: Codes) -> Levels:
    column = _column(trials, factor)
    parts = [rows[within] for within in grouped(column.codes[rows])]
    if len(parts) == 1:
        return []
    named = [(column.names[column.codes[part[0]]], part) for part in parts]
    return [(name, part) for name, part in named if name]


def _column(trials: Trials, factor: str) -> Coded:
    if factor == "gold":
        return Coded(codes=trials.gold + 1, names=("", *trials.labels))
    columns = {
        VARIANT: trials.variant,
        "stratum": trials.stratum,
        "strength": trials.strength,
        "temperature": trials.temperature,
        "output": trials.column("output"),
    }
    return columns[factor]
