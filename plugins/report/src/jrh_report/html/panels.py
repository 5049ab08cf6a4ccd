"""Tables of related measures: ordinal agreement, prompts, option order, wrong alarms and misses."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport, Scale

from jrh_report import numbers
from jrh_report.html.found import Cell, Found, sequential

PAIRS: Final = 40
"""Template pairs of a task that are listed, worst first; the others are counted."""
LINES: Final = 150
"""Judges by tests that a panel lists; the others are counted."""
MATRICES: Final = 24
"""Confusion matrices of a task; those of the reference condition come first."""
_MATRIX_DIGITS: Final = 2
_EVERY: Final = ""
"""The test of a measure over several tests."""


@frozen(kw_only=True)
class Column:
    """One measure of a panel."""

    name: str
    heading: str


@frozen(kw_only=True)
class Line:
    """One judge in one test, or in one cell of it."""

    judge: str
    test: str
    part: str
    cells: tuple[Cell | None, ...]


@frozen(kw_only=True)
class Table:
    """One table of a panel."""

    task: str
    caption: str
    part: str
    """Heading of the column that tells parts of a test apart; empty: there is none."""
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    more: int = 0
    """Lines that are left out."""


@frozen(kw_only=True)
class Matrix:
    """Verdicts by right label, of one judge in one test."""

    task: str
    judge: str
    test: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def _columns(*pairs: tuple[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name=name, heading=heading) for name, heading in pairs)


ORDINAL: Final = _columns(
    ("concordance", "concordance (CCC)"),
    ("pearson", "Pearson"),
    ("spearman", "Spearman"),
    ("mean-absolute-error", "mean absolute error, levels"),
    ("bias", "bias, levels"),
)
SENSITIVITY: Final = _columns(
    ("jss-raw", "JSS, raw"),
    ("jss", "JSS, corrected"),
    ("template-flip-rate", "flip rate"),
    ("template-kappa", "kappa"),
)
ORDER: Final = _columns(
    ("swap-consistency", "same choice in both orders"),
    ("position-bias", "position bias"),
    ("first-position-rate", "first place chosen"),
    ("second-position-rate", "second place chosen"),
    ("tie-rate", "ties"),
    ("identical-first-position-rate", "identical options: first place"),
    ("identical-second-position-rate", "identical options: second place"),
    ("identical-tie-rate", "identical options: ties"),
)
AGENTIC: Final = _columns(
    ("agent-false-positive-rate", "false positives"),
    ("agent-false-negative-rate", "false negatives"),
    ("agent-accuracy", "accuracy"),
    ("edit-sensitivity", "edits noticed"),
    ("evidence-localisation", "rationale points at an edit"),
    ("evidence-localisation-by-chance", "by chance"),
    ("evidence-localisation-above-chance", "above chance"),
)
ALARMS: Final = _columns(("false-positive-rate", "false positives"), ("false-negative-rate", "false negatives"))


def by_test(found: Found, task: str, columns: tuple[Column, ...], caption: str) -> Table | None:
    """Tabulate measures of whole tests; columns and rows without any are left out."""
    used = tuple(column for column in columns if _occurs(found, task, column.name))
    if not used:
        return None
    lines = [
        Line(judge=judge, test=test, part="", cells=_cells(found, used, task, judge, test))
        for judge in found.report.judges
        for test in (_EVERY, *found.report.tests)
    ]
    filled = [each for each in lines if any(each.cells)]
    return Table(
        task=task,
        caption=caption,
        part="",
        columns=used,
        lines=tuple(filled[:LINES]),
        more=len(filled[LINES:]),
    )


def _occurs(found: Found, task: str, name: str) -> bool:
    report = found.report
    return any(found.whole(name, task, judge, test) for judge in report.judges for test in (_EVERY, *report.tests))


def _cells(found: Found, columns: tuple[Column, ...], task: str, judge: str, test: str) -> tuple[Cell | None, ...]:
    return tuple(found.maybe(found.whole(column.name, task, judge, test)) for column in columns)


def template_pairs(found: Found, task: str) -> Table | None:
    """Tabulate JSS per template pair, the least agreement first."""
    corrected = [each for each in found.parts.get((task, "jss"), ()) if set(each.cell) == {"pair"}]
    if not corrected:
        return None
    raw = {
        (each.judge, each.test, each.cell.get("pair")): each
        for each in found.parts.get((task, "jss-raw"), ())
        if set(each.cell) == {"pair"}
    }
    corrected.sort(key=lambda each: 2.0 if each.estimate is None else each.estimate)
    return Table(
        task=task,
        caption="Agreement of two templates' verdicts on the same items, least agreement first",
        part="templates",
        columns=SENSITIVITY[:2],
        lines=tuple(
            Line(
                judge=each.judge,
                test=each.test,
                part=each.cell["pair"],
                cells=(
                    found.maybe(raw.get((each.judge, each.test, each.cell["pair"]))),
                    found.cell(each),
                ),
            )
            for each in corrected[:PAIRS]
        ),
        more=len(corrected[PAIRS:]),
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
                found.cell(each, _MATRIX_DIGITS, sequential(each) if numbers.estimable(each) else "none")
                if (each := cells.get((right, verdict))) is not None
                else None
                for verdict in labels
            ),
        )
        for right in labels
        if any((right, verdict) in cells for verdict in labels)
    )
    return Matrix(task=task, judge=judge, test=test, labels=labels, rows=rows)
