"""Read the result folder of the Judge Reliability Harness (RAND) as it is: no description is needed.

The format is that of its repository, `RANDCorporation/judge-reliability-harness`: one table per test and judge,
`TEST_results_JUDGE.csv` or `.xlsx`, with the columns below. A row passes there if `autograder_score` equals
`validation_score`, so that is the expected label here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from jrh import JrhError, Mode, Record, Scale, Task
from jrh.errors import OtherToolError
from jrh.values import ImportedLog
from jrh_interchange import Row, imported_record, infer_scale

from jrh_import.mapping import Format
from jrh_import.options import HarnessOptions
from jrh_import.tables import read_table

SCORE: Final = "autograder_score"
# `TEST_results_JUDGE`: neither part of the name is in the table.
_RESULTS: Final = "_results_"
_SUFFIXES: Final = {".csv": Format.CSV, ".xlsx": Format.XLSX}
_EXPECTED: Final = ("validation_score", "expected", "original_expected")
"""The first that a row has; tables of repeated questions have `expected` only."""
_YES: Final = frozenset({"true", "yes", "y", "pass"})
_NO: Final = frozenset({"false", "no", "n", "fail"})


_UNMAPPED: Final = (
    "generated texts and validation of the synthetic data",
    "configurations (`jrh init-from` reads them)",
)


class Harness:
    """Read a result folder of the Judge Reliability Harness."""

    def __init__(self, options: HarnessOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of all its tables."""
        if not path.is_dir():
            raise OtherToolError(f"'{path}' is not a directory; the harness writes a folder of result tables")
        return read_folder(path, self._options.scale)


_Place: TypeAlias = tuple[str, str, Row]
"""A row with the test and the judge that its table is named after."""


def read_folder(folder: Path, scale: str | None) -> ImportedLog:
    """Read all tables of results in a folder; rubric entries become tasks.

    Args:
        folder: such as `outputs/persuade_20251103_1222`.
        scale: `1-6` or `YES,NO`; None: from the scores and the expected labels.

    Raises:
        JrhError: there is no table of results, a table is not one, or a label is off the scale.
    """
    tables = [path for path in sorted(folder.iterdir()) if _RESULTS in path.name and path.suffix in _SUFFIXES]
    if not tables:
        raise JrhError(f"'{folder}' has no table of results; they are named TEST_results_JUDGE.csv or .xlsx")
    by_task: dict[str, list[_Place]] = {}
    for path in tables:
        test, _, judge = path.stem.partition(_RESULTS)
        for row in _rows(path):
            # Entries of a rubric are questions of their own, each with its own labels.
            by_task.setdefault(row["rubric_id"] or "judged", []).append((test, judge, row))
    tasks, records, origins = [], [], []
    for name, rows in by_task.items():
        task = Task(name=name, scale=_scale(scale, [row for *_, row in rows], folder))
        tasks.append(task)
        records += list(_records(task, rows))
        origins += [row.place for *_, row in rows]
    return ImportedLog(tasks=tuple(tasks), records=tuple(records), origins=tuple(origins), unmapped=_UNMAPPED)


def _rows(path: Path) -> Sequence[Row]:
    table = read_table(path, _SUFFIXES[path.suffix])
    absent = [name for name in ("original_idx", SCORE) if name not in table.columns]
    if absent:
        raise JrhError(f"'{path}' is not a table of results: it has no column '{absent[0]}'")
    return table.rows


def _scale(written: str | None, rows: Sequence[Row], folder: Path) -> Scale:
    labels = {_label(row[name]) for row in rows for name in (SCORE, *_EXPECTED)} - {None}
    # 1 first: by custom the first of two labels is the positive one.
    if written is None and labels <= {"0", "1"}:
        return Scale.of_labels("1", "0")
    return infer_scale(written, sorted(label for label in labels if label), Mode.POINTWISE, str(folder))


def _label(text: str) -> str | None:
    """Write a score as that harness compares it: truth values and words for them are 1 and 0, 3.0 is 3."""
    plain = text.strip()
    if plain.lower() in _YES | _NO:
        return "1" if plain.lower() in _YES else "0"
    # Programs that rewrite a table turn 3 into 3.0.
    integer, point, fraction = plain.partition(".")
    if point and integer.lstrip("-").isdecimal() and not fraction.strip("0"):
        return integer
    return plain or None


def _on(task: Task, text: str, row: Row) -> str | None:
    label = _label(text)
    if label is None or label in task.scale:
        return label
    # A scale given by --scale may use the words themselves.
    match = task.scale.match(text)
    if match is None:
        raise JrhError(f"{row.place}: '{text}' is not on the scale {', '.join(task.scale.labels)}; pass --scale")
    return match


def _records(task: Task, rows: Sequence[_Place]) -> Iterator[Record]:
    for named, judge, row in rows:
        test = row["test_name"] or named
        label = _on(task, row[SCORE], row)
        expected_text = next((row[name] for name in _EXPECTED if row[name]), "")
        expected = _on(task, expected_text, row)
        yield imported_record(
            task=task,
            item_id=row["original_idx"],
            judge=judge,
            label=label,
            gold=_on(task, row["original_expected"] or row["expected"], row),
            test=test,
            variant=_variant(row),
            # No expected label, no expectation: `same` would be a guess.
            expectation="equals" if expected is not None else "",
            expected=expected,
            rationale=row["autograder_reasoning"],
            # Items of the same response are one cluster, also if tests number them differently.
            content=row["original_response"],
            **_identity(test, row),
        )


def _variant(row: Row) -> str:
    if row["prompted_bucket"]:
        return f"level-{_label(row['prompted_bucket'])}"
    return f"seed={_label(row['seed'])}" if row["seed"] else row["generation_mode"]


def _identity(test: str, row: Row) -> dict[str, Any]:
    """Return what tells the rows of one item apart: seed and repeat, or the perturbed text."""
    if row["seed"]:
        return {"seed": _label(row["seed"]) or "", "repeat": int(_label(row["retry_idx"]) or 0)}
    # Several perturbed texts of one item are several questions, not repeats of one.
    return {"case": f"{test}/{row['perturbed_idx']}"} if row["perturbed_idx"] else {}
