"""Agreement with gold levels, and confusion matrices."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport, Scale
from jrh_measuring import is_estimable

from jrh_report.html.found import Cell, Found, sequential
from jrh_report.html.listing import columns

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


ORDINAL: Final = columns(
    ("gold-kappa-quadratic", "quadratic kappa with gold"),
    ("concordance", "concordance (CCC)"),
    ("pearson", "Pearson"),
    ("spearman", "Spearman"),
    ("mean-absolute-error", "mean absolute error, levels"),
    ("bias", "bias, levels"),
)


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
