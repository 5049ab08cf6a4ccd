"""Judges by tests of one task, seen through one measure at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from attrs import evolve, frozen
from jrh import REFERENCE, Measure

from jrh_report.html.found import Cell, Found, diverging, sequential
from jrh_report.overview import EXPECTED, MODEL_GOLD, RIGHT, of_models, overview

_DIGITS: Final = 2


@frozen(kw_only=True)
class Lens:
    """What the heat map and the forest plot can show."""

    key: str
    name: str
    meaning: str
    shade: Callable[[Measure], str]
    zero: float | None
    """Where the line of no effect is; None: there is none."""


LENSES: Final = (
    Lens(
        key=RIGHT,
        name="Gold accuracy",
        meaning="verdicts equal to the gold label",
        shade=sequential,
        zero=None,
    ),
    Lens(
        key="agreement",
        name="Agreement with reference",
        meaning="verdicts equal to the same judge's verdict on the item in the reference condition",
        shade=sequential,
        zero=None,
    ),
    Lens(
        key="excess-disagreement",
        name="Excess over noise floor",
        meaning="how much more verdicts differ from the reference condition than reruns differ from each other; "
        "0 means no more than reruns",
        shade=diverging,
        zero=0.0,
    ),
)

MIXED: Final = evolve(
    LENSES[0],
    name="Gold accuracy, or as expected",
    meaning="verdicts equal to the gold label; where a test changes the right answer, or without any gold label, "
    "verdicts that meet the test's expectation",
)
"""What the first lens is where it shows both."""
_EXPECTED_ALONE: Final = evolve(LENSES[0], name="As expected", meaning="verdicts that meet the test's expectation")


@frozen(kw_only=True)
class Row:
    """One judge: a measure for each test, None where there is none."""

    judge: str
    simulated: bool
    measures: tuple[Measure | None, ...]
    cells: tuple[Cell | None, ...]


@frozen(kw_only=True)
class HeatMap:
    """One task through one lens."""

    task: str
    lens: Lens
    tests: tuple[str, ...]
    moving: frozenset[str]
    """The tests that expect verdicts to change."""
    rows: tuple[Row, ...]


def heat_maps(found: Found, task: str, moving: Mapping[str, frozenset[str]]) -> tuple[HeatMap, ...]:
    """Return the maps of a task that have anything to show."""
    right = {(row.judge, row.test): row.cells.get(RIGHT) for row in overview(found.report, task).rows}
    maps = (_map(found, task, lens, right, moving.get(task, frozenset())) for lens in LENSES)
    return tuple(each for each in maps if each.rows)


def _map(
    found: Found, task: str, lens: Lens, right: Mapping[tuple[str, str], Measure | None], moving: frozenset[str]
) -> HeatMap:
    report = found.report

    def measure(judge: str, test: str) -> Measure | None:
        return right.get((judge, test)) if lens.key == RIGHT else found.whole(lens.key, task, judge, test)

    tests = tuple(test for test in report.tests if any(measure(judge, test) for judge in report.judges))
    shown = {each.name for judge in report.judges for test in tests if (each := measure(judge, test))}
    return HeatMap(
        task=task,
        lens=_named(lens, shown, models=of_models(report, task)),
        tests=tests,
        moving=moving - {REFERENCE},
        rows=tuple(_rows(found, lens, tests, measure)),
    )


def _named(lens: Lens, shown: AbstractSet[str], *, models: bool) -> Lens:
    """Name the first lens by what is seen through it; agreement with labels made by models is no accuracy."""
    if lens.key != RIGHT:
        return lens
    if EXPECTED in shown:
        lens = MIXED if RIGHT in shown else _EXPECTED_ALONE
    return evolve(lens, name=lens.name.replace("Gold accuracy", MODEL_GOLD.capitalize())) if models else lens


def _rows(
    found: Found, lens: Lens, tests: tuple[str, ...], measure: Callable[[str, str], Measure | None]
) -> Iterator[Row]:
    for judge in found.report.judges:
        measures = tuple(measure(judge, test) for test in tests)
        if any(measures):
            yield Row(
                judge=judge,
                simulated=judge in found.report.simulated,
                measures=measures,
                cells=tuple(None if each is None else found.cell(each, _DIGITS, lens.shade(each)) for each in measures),
            )
