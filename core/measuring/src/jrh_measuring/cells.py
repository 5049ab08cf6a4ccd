"""The cells that measures are reported for: task x judge x test, and the levels of one factor within a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from attrs import Factory, evolve, frozen
from jrh import MetricContext, derive_seed

from jrh_measuring.coded import Coded, Codes, combine_codes, split_rows
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


@frozen(eq=False)
class Basis:
    """The trials that one measure rests on."""

    cell: Cell
    """The cell that the measure is about."""
    rows: Codes
    """The trials it is about; those of them without a verdict are counted as missing."""
    usable: Codes
    """The trials it rests on."""
    labels: Codes | None = None
    """What the judge said, if not the canonical label, as codes of shape (n,) over all trials."""

    def part(self, levels: Mapping[str, str]) -> Basis:
        """Return the same trials under further levels."""
        return evolve(self, cell=self.cell.part(levels))


def cells_of(trials: Trials, factors: Sequence[str] = ()) -> Iterator[Cell]:
    """Yield the cells: tasks in the suite's order, judges by name, the reference before the other tests.

    After each whole test follow its parts by one `Factor` at a time, where it has two levels or more.
    """
    for rows, *parts in trials.compute_once(("cells", *factors), lambda: list(_cell_rows(trials, factors))):
        cell = _cell(rows, {"task": trials.task, "judge": trials.judge, "test": trials.test})
        yield cell
        for factor, levels in zip(factors, parts, strict=True):
            for level, part in levels:
                yield cell.part({factor: level}, part)


Levels: TypeAlias = list[tuple[str, Codes]]
"""Names of levels, and their rows."""


def _cell_rows(trials: Trials, factors: Sequence[str]) -> Iterator[tuple[Codes, *tuple[Levels, ...]]]:
    """Yield the rows of every task, judge and test, and for each factor the names and rows of its levels."""
    # Every metric walks the same cells.
    for place, rows in enumerate(trials.compute_once("cells", lambda: list(split_rows(_tests(trials))))):
        yield (
            rows,
            *(
                trials.compute_once(("levels", factor, place), partial(_levels, trials, factor, rows))
                for factor in factors
            ),
        )


def _tests(trials: Trials) -> Codes:
    return combine_codes(trials.task.codes, trials.judge.codes, trials.test.codes)


def panels_of(trials: Trials) -> Iterator[Cell]:
    """Yield one cell per task and test with the trials of all judges together; `judge` is empty."""
    return _cells_by(trials, "task", "test")


def tasks_of(trials: Trials) -> Iterator[Cell]:
    """Yield one cell per task and judge with the trials of all tests together; `test` is empty."""
    return _cells_by(trials, "task", "judge")


def tasks_of_all_judges(trials: Trials) -> Iterator[Cell]:
    """Yield one cell per task with the trials of all judges and tests; `judge` and `test` are empty."""
    return _cells_by(trials, "task")


def _cells_by(trials: Trials, *names: str) -> Iterator[Cell]:
    columns: dict[str, Coded] = {name: getattr(trials, name) for name in names}
    for rows in split_rows(combine_codes(*(column.codes for column in columns.values()))):
        yield _cell(rows, columns)


def _cell(rows: Codes, columns: Mapping[str, Coded]) -> Cell:
    """Return a cell of trials that agree in some columns, after the names in these; the others are empty."""
    named = {name: column.names[column.codes[rows[0]]] for name, column in columns.items()}
    return Cell(**{"task": "", "judge": "", "test": ""} | named, rows=rows)


def _levels(trials: Trials, factor: str, rows: Codes) -> Levels:
    attributes = ("variant", "stratum", "strength", "temperature")
    if factor == "gold":
        # One name more in front, for items without a gold label, whose code is -1.
        column = Coded(codes=trials.gold + 1, names=("", *trials.labels))
    else:
        column = getattr(trials, factor) if factor in attributes else trials.column(factor)
    parts = [rows[within] for within in split_rows(column.codes[rows])]
    # A single level is the whole test, which is measured anyway.
    if len(parts) == 1:
        return []
    named = [(column.names[column.codes[part[0]]], part) for part in parts]
    # Trials at which the factor is not stated are no level.
    return [(name, part) for name, part in named if name]
