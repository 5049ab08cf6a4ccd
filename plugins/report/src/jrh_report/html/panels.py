"""Tables of related measures: ordinal agreement, prompts, option order, wrong alarms and misses."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport, Scale
from jrh.text import is_estimable

from jrh_report.html.found import Cell, Found, sequential
from jrh_report.html.listing import Line, Table, columns, judge_mark, table

MATRICES: Final = 24
"""Confusion matrices of a task; those of the reference condition come first."""
_MATRIX_DIGITS: Final = 2


@frozen(kw_only=True)
class Matrix:
    """Verdicts by right label, of one judge in one test."""

    task: str
    judge: str
    test: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


BEYOND_CHANCE: Final = columns(("gold-kappa", "kappa with gold"), ("gold-mcc", "MCC with gold"))
PEOPLE: Final = columns(
    ("judge-people-kappa", "judge and a person, kappa"),
    ("people-kappa", "two people, kappa"),
    ("people-kappa-difference", "difference"),
)
ORDINAL: Final = columns(
    ("gold-kappa-quadratic", "quadratic kappa with gold"),
    ("concordance", "concordance (CCC)"),
    ("pearson", "Pearson"),
    ("spearman", "Spearman"),
    ("mean-absolute-error", "mean absolute error, levels"),
    ("bias", "bias, levels"),
)
ORDER: Final = columns(
    ("swap-consistency", "same choice in both orders"),
    ("right-in-both-orders", "right in both orders"),
    ("position-bias", "position bias"),
    ("position-bias-p", "test of position bias"),
    ("first-position-rate", "first place chosen"),
    ("second-position-rate", "second place chosen"),
    ("third-position-rate", "third place chosen"),
    ("fourth-position-rate", "fourth place chosen"),
    ("tie-rate", "ties"),
    ("identical-first-position-rate", "identical options: first place"),
    ("identical-second-position-rate", "identical options: second place"),
    ("identical-tie-rate", "identical options: ties"),
)
PREFERENCE: Final = "position-preference"
AGENTIC: Final = columns(
    ("agent-false-positive-rate", "false positives"),
    ("agent-false-negative-rate", "false negatives"),
    ("agent-accuracy", "as expected"),
    ("edit-sensitivity", "edits noticed"),
    ("evidence-localisation", "rationale points at an edit"),
    ("evidence-localisation-by-chance", "by chance"),
    ("evidence-localisation-above-chance", "above chance"),
)
ALARMS: Final = columns(("false-positive-rate", "false positives"), ("false-negative-rate", "false negatives"))


def preferences(found: Found, task: str) -> Table | None:
    """Tabulate, of three options or more, how much more often than the mean of all places each place is picked."""
    by_place: dict[tuple[str, str], dict[str, Measure]] = {}
    for each in found.parts.get((task, PREFERENCE), ()):
        if set(each.cell) == {"place"}:
            by_place.setdefault((each.judge, each.test), {})[each.cell["place"]] = each
    places = tuple(dict.fromkeys(place for measures in by_place.values() for place in measures))
    lines = [
        Line(
            heads=key,
            cells=tuple(found.maybe(measures.get(place)) for place in places),
            mark=judge_mark(found.report, key[0]),
        )
        for key, measures in by_place.items()
    ]
    caption = "Share of choices of each place, minus the mean over all places"
    of = columns(*((PREFERENCE, f"{place} place") for place in places))
    return table(task, caption, ("Judge", "Test"), of, lines)


def matrices(found: Found, task: str, scale: Scale) -> tuple[tuple[Matrix, ...], int]:
    """Return the confusion matrix of every judge and test, the reference condition first, and how many are left out."""
    cells: dict[tuple[str, str], dict[tuple[str, str], Measure]] = {}
    for measure in found.parts.get((task, "confusion"), ()):
        if set(measure.cell) == {"right", "verdict"}:
            key = measure.cell["right"], measure.cell["verdict"]
            cells.setdefault((measure.judge, measure.test), {})[key] = measure
    keys = _ordered(found.report, cells)
    shown = tuple(_matrix(found, task, scale, key, cells[key]) for key in keys[:MATRICES])
    return shown, len(keys[MATRICES:])


def _ordered(report: RunReport, cells: dict[tuple[str, str], dict[tuple[str, str], Measure]]) -> list[tuple[str, str]]:
    keys = ((judge, test) for test in report.tests for judge in report.judges)
    return sorted((key for key in keys if key in cells), key=lambda key: key[1] != REFERENCE)


def _matrix(
    found: Found, task: str, scale: Scale, key: tuple[str, str], cells: dict[tuple[str, str], Measure]
) -> Matrix:
    judge, test = key
    labels = tuple(scale.labels)
    rows = tuple(
        (
            right,
            tuple(
                found.cell(each, _MATRIX_DIGITS, sequential(each) if is_estimable(each) else "none")
                if (each := cells.get((right, verdict))) is not None
                else None
                for verdict in labels
            ),
        )
        for right in labels
        if any((right, verdict) in cells for verdict in labels)
    )
    return Matrix(task=task, judge=judge, test=test, labels=labels, rows=rows)
