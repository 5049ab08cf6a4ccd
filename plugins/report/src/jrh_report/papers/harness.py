"""Tables as in the Judge Reliability Harness: judges by tests, spreads, association, errors, panels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from statistics import mean
from typing import Final

import numpy as np
from jrh import REFERENCE, Measure

from jrh_report.papers.found import Found, end_of
from jrh_report.papers.sheet import Cell, Sheet
from jrh_report.tables import judge_label

MAJORITY: Final = "majority vote"
_ORDINAL: Final = {
    "concordance": "CCC",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "mean-absolute-error": "MAE",
    "root-mean-squared-error": "RMSE",
}
_AGENTIC: Final = {
    "agent-accuracy": "accuracy",
    "agent-false-positive-rate": "FPR",
    "agent-false-negative-rate": "FNR",
}
_BINARY: Final = {"false-positive-rate": "FPR", "false-negative-rate": "FNR"}
_PANELS: Final = {
    "accuracy": "accuracy",
    "false-positive-rate": "FPR",
    "false-negative-rate": "FNR",
}
_ALL: Final = "all tests"


def sheets(found: Found, *, apart: bool) -> Iterator[Sheet]:
    """Yield the tables that have rows, task by task; `apart`: one column for each variant of a test."""
    for task in found.tasks:
        end = end_of(found.report, task)
        made = (
            judges_by_tests(found, task, apart=apart),
            _over_tests(found, task),
            _over_judges(found, task),
            _ordinal(found, task),
            _errors(found, task),
            _panels(found, task),
        )
        for sheet in made:
            if sheet is not None and _says_something(sheet):
                yield Sheet(
                    name=f"{sheet.name}{end}",
                    title=f"{sheet.title}, task {task}" if end else sheet.title,
                    columns=sheet.columns,
                    rows=sheet.rows,
                    note=sheet.note,
                )


def _says_something(sheet: Sheet) -> bool:
    """Tell whether a table has verdicts, or tells that they are missing; without gold labels it has neither."""
    cells = [cell for row in sheet.rows for cell in row if isinstance(cell, Measure)]
    return bool(sheet.rows) and (not cells or any(cell.n_trials or cell.missing for cell in cells))


def columns_of(found: Found, task: str, *, apart: bool) -> list[tuple[str, str, str]]:
    """Return heading, test and variant of every column; the heading has the number of trials per judge."""
    grid = found.right.get(task)
    if grid is None:
        return []
    columns = []
    for place, test in enumerate(grid.tests):
        shown = [row.measures[place] for row in grid.rows if row.measures[place] is not None]
        own = _variants(found, task, test) if apart else []
        parts = sorted({each.cell["variant"] for each in own})
        if parts:
            columns += [
                (_with_n(f"{test}: {part}", [each for each in own if each.cell["variant"] == part]), test, part)
                for part in parts
            ]
        else:
            columns.append((_with_n(test, shown), test, ""))
    return columns


def cell_of(found: Found, task: str, judge: str, test: str, variant: str) -> Measure | None:
    """Return a judge's measure in a column."""
    if variant:
        names = (each.name for each in _variants(found, task, test) if each.judge == judge)
        return next((found.get(name, task, judge, test, variant=variant) for name in names), None)
    grid = found.right.get(task)
    row = next((row for row in grid.rows if row.judge == judge), None) if grid else None
    return None if grid is None or row is None or test not in grid.tests else row.measures[grid.tests.index(test)]


def _variants(found: Found, task: str, test: str) -> list[Measure]:
    """Return the measures of single variants that the main table shows of the whole test."""
    grid = found.right.get(task)
    if grid is None or test not in grid.tests:
        return []
    place = grid.tests.index(test)
    names = {row.measures[place].name for row in grid.rows if row.measures[place] is not None}  # type: ignore[union-attr]
    return [
        each
        for each in found.report.measures
        if each.task == task and each.test == test and each.name in names and set(each.cell) == {"variant"}
    ]


def _with_n(test: str, shown: Sequence[Measure | None]) -> str:
    sizes = sorted({each.n_trials for each in shown if each is not None})
    if not sizes:
        return test
    return f"{test} (N={sizes[0]:,})" if len(sizes) == 1 else f"{test} (N={sizes[0]:,} to {sizes[-1]:,})"


def judges_by_tests(found: Found, task: str, *, apart: bool) -> Sheet | None:
    """Tabulate the main measure of every judge and test, and of the majority of all judges."""
    grid = found.right.get(task)
    if grid is None:
        return None
    columns = columns_of(found, task, apart=apart)
    rows: list[tuple[Cell, ...]] = [
        (row.label, *(cell_of(found, task, row.judge, test, variant) for _, test, variant in columns))
        for row in grid.rows
    ]
    together = [None if variant else found.get("majority-accuracy", task, "", test) for _, test, variant in columns]
    if any(together):
        rows.append((MAJORITY, *together))
    return Sheet(
        name="judges-by-tests",
        title=f"Judges by tests: {grid.title.lower()}",
        columns=("judge", *(heading for heading, _, _ in columns)),
        rows=tuple(rows),
        note="N: trials of a judge in a test.",
    )


def _over_tests(found: Found, task: str) -> Sheet | None:
    grid = found.right.get(task)
    if grid is None:
        return None
    rows = []
    for row in grid.rows:
        own = {
            test: each.estimate
            for test, each in zip(grid.tests, row.measures, strict=True)
            if each is not None and each.estimate is not None and test != REFERENCE
        }
        if len(own) > 1:
            rows.append(
                (row.label, len(own), found.get("mean-over-tests", task, row.judge) or _mean(own), *_spread(own))
            )
    return Sheet(
        name="spread-over-tests",
        title=f"Every judge over its tests: {grid.title.lower()}",
        columns=("judge", "tests", "mean", "SD", "lowest", "lowest in", "highest", "highest in"),
        rows=tuple(rows),
        note="Tests have equal weight, without the reference condition. The interval of the mean is by cluster and "
        "counts that the tests share items; it needs the metric panel-by-test. SD: between tests, n - 1.",
    )


def _over_judges(found: Found, task: str) -> Sheet | None:
    grid = found.right.get(task)
    if grid is None:
        return None
    rows = []
    for place, test in enumerate(grid.tests):
        own = {
            row.label: each.estimate
            for row in grid.rows
            if (each := row.measures[place]) is not None and each.estimate is not None
        }
        if len(own) > 1:
            rows.append((test, len(own), found.get("mean-over-judges", task, "", test) or _mean(own), *_spread(own)))
    return Sheet(
        name="spread-over-judges",
        title=f"Every test over its judges: {grid.title.lower()}",
        columns=("test", "judges", "mean", "SD", "lowest", "lowest by", "highest", "highest by"),
        rows=tuple(rows),
        note="Judges have equal weight. SD: between judges, n - 1.",
    )


def _mean(own: dict[str, float]) -> float:
    return float(mean(own.values()))


def _spread(own: dict[str, float]) -> tuple[Cell, ...]:
    low, high = min(own, key=lambda name: own[name]), max(own, key=lambda name: own[name])
    with np.errstate(over="ignore"):
        spread = float(np.std(list(own.values()), ddof=1))
    return spread if isfinite(spread) else None, own[low], low, own[high], high


def _ordinal(found: Found, task: str) -> Sheet:
    return Sheet(
        name="ordinal",
        title="Agreement with the right level",
        columns=("judge", "test", *_ORDINAL.values()),
        rows=tuple(_by_judge_and_test(found, task, _ORDINAL)),
        note="CCC: Lin's concordance. MAE, RMSE: in levels; RMSE needs the metric ordinal-errors with all: true.",
    )


def _errors(found: Found, task: str) -> Sheet:
    rows = []
    for judge in found.report.judges:
        for test in found.report.tests:
            agentic = [found.get(name, task, judge, test) for name in _AGENTIC]
            right = cell_of(found, task, judge, test, "")
            own = agentic if any(agentic) else [right, *(found.get(name, task, judge, test) for name in _BINARY)]
            if any(own[1:]):
                rows.append((judge_label(found.report, judge), test, own[0], _complement(own[0]), *own[1:]))
    return Sheet(
        name="error-rates",
        title="Accuracy, error, false positives and false negatives",
        columns=("judge", "test", "accuracy", "error", "FPR", "FNR"),
        rows=tuple(rows),
    )


def _complement(measure: Measure | None) -> Measure | None:
    from jrh_measuring import mirrored

    return None if measure is None else mirrored(measure, "error")


def _panels(found: Found, task: str) -> Sheet:
    rows = []
    for test in (*found.report.tests, ""):
        for panel, cell, chosen in (
            ("majority", {}, "all judges"),
            ("trio", {"chosen": "held out"}, "best three, held out"),
            ("trio", {"chosen": "in sample"}, "best three, in sample (too good)"),
        ):
            own = [found.get(f"{panel}-{name}", task, "", test, **cell) for name in _PANELS]
            if own[0] is not None:
                rows.append((test or _ALL, chosen, own[0].note.partition(";")[0], *own))
    return Sheet(
        name="best-panel",
        title="Panels: the majority of all judges, and the best three",
        columns=("test", "panel", "judges", *_PANELS.values()),
        rows=tuple(rows),
        note="Held out: the three are chosen on other clusters than they are scored on; expect this number. In sample: "
        "chosen and scored on the same cases, as in the paper; do not expect it. All tests: without the reference. "
        "n counts the verdicts of all judges, not only of the three.",
    )


def _by_judge_and_test(found: Found, task: str, names: dict[str, str]) -> Iterator[tuple[Cell, ...]]:
    for judge in found.report.judges:
        for test in found.report.tests:
            own = [found.get(name, task, judge, test) for name in names]
            if any(own):
                yield (judge_label(found.report, judge), test, *own)
