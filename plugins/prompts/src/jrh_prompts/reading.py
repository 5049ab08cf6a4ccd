"""Data files as the audit reads them: leniently, because what a source refuses is a finding here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from jrh import Item, JrhError, Mode, Scale, Task

from jrh_prompts.options import PairedPromptsOptions
from jrh_prompts.paired import PairedPrompts, label_of
from jrh_prompts.rows import PAIR_COLUMNS, Row, read_rows

_FIELDS: Final = ("request", "response", "response_a", "response_b", "transcript")
_MODES: Final = (
    (("response_a", "response_b"), Mode.PAIRWISE),
    (("response",), Mode.POINTWISE),
    (("transcript",), Mode.TRANSCRIPT),
)
_MOST_LEVELS: Final = 100


def read_data(path: Path, columns: Mapping[str, str], scale: str | None) -> tuple[tuple[Task, tuple[Item, ...]], ...]:
    """Read a JSON Lines or csv file as one task, or one per task type of a paired-prompt file.

    Args:
        path: the file.
        columns: what a column is -> its name in the file.
        scale: `1-6` or `YES,NO`; None: what the labels of the file look like.

    Raises:
        JrhError: it cannot be read, or has no column to judge.
    """
    if path.suffix.lower() not in (".jsonl", ".csv", ".ndjson"):
        raise JrhError(f"{path.name}: the audit reads .jsonl and .csv files, and suites (.yaml) with data of any kind")
    rows = read_rows(path, path.name, columns, tuple(columns))
    if all(column in rows[0].values for column in PAIR_COLUMNS):
        types = dict.fromkeys(row["task_type"] for row in rows)
        return tuple(_paired(path, columns, scale, rows, task_type) for task_type in types)
    mode = _mode(rows[0], path)
    golds = [row["label"].strip() or None for row in rows]
    task = Task(name=path.stem, scale=_scale(scale, golds, mode, path), mode=mode)
    items = [_item(row, gold, f"row-{row.line}", path) for row, gold in zip(rows, golds, strict=True)]
    return ((task, tuple(items)),)


def _paired(
    path: Path, columns: Mapping[str, str], scale: str | None, rows: Sequence[Row], task_type: str
) -> tuple[Task, tuple[Item, ...]]:
    task = paired_task([row for row in rows if row["task_type"] == task_type], scale, path)
    options = PairedPromptsOptions(path=path, task_type=task_type, columns=columns)
    source = PairedPrompts(path=path, shown=path.name, options=options, task=task)
    return task, tuple(source.read())


def paired_task(rows: Sequence[Row], scale: str | None, path: Path) -> Task:
    """Return the task of rows of one task type; its scale is the one given, or what the labels look like."""
    written = rows[0]["response_being_judged"].lstrip()
    mode = Mode.PAIRWISE if written.startswith("A:") and "| B:" in written else Mode.POINTWISE
    golds = [_bare(row["ground_truth_label"]) for row in rows]
    return Task(name=rows[0]["task_type"] or path.stem, scale=_scale(scale, golds, mode, path), mode=mode)


def _bare(label: str) -> str | None:
    return label_of(label, Scale.of_levels(0, _MOST_LEVELS), {})


def _mode(row: Row, path: Path) -> Mode:
    for names, mode in _MODES:
        if all(name in row.values for name in names):
            return mode
    raise JrhError(
        f"{path.name}: there is no column response, no response_a and response_b, and no transcript; say which one it "
        f"is, `--column response=...`. Columns: {', '.join(row.values)}"
    )


def _item(row: Row, gold: str | None, name: str, path: Path) -> Item:
    fields = {name: row.values[name] for name in _FIELDS if name in row.values}
    return Item(
        id=row["id"] or name,
        fields={"request": "", **fields},
        gold=gold,
        stratum=row["stratum"],
        group=row["group"],
        origin=f"{path.name}:{row.line}",
    )


def _scale(written: str | None, golds: Sequence[str | None], mode: Mode, path: Path) -> Scale:
    labels = sorted(dict.fromkeys(gold for gold in golds if gold is not None))
    if written is not None:
        return _written(written)
    if mode is Mode.PAIRWISE:
        others = [label for label in labels if label not in ("A", "B")]
        return Scale.of_pairs(tie=others[0] if len(others) == 1 else None)
    numbers = [int(label) for label in labels if label.isdecimal()]
    if labels and len(numbers) == len(labels) and min(numbers) < max(numbers) < _MOST_LEVELS:
        return Scale.of_levels(min(numbers), max(numbers))
    if len(labels) > 1:
        return Scale.of_labels(*labels)
    raise JrhError(
        f"{path.name}: the scale cannot be told from the labels ({', '.join(labels) or 'none'}); say --scale"
    )


def _written(text: str) -> Scale:
    low, dash, high = text.partition("-")
    if dash and low.strip().isdecimal() and high.strip().isdecimal():
        return Scale.of_levels(int(low), int(high))
    labels = tuple(part.strip() for part in text.split(",") if part.strip())
    if labels == ("A", "B"):
        return Scale.of_pairs()
    if len(labels) < 2:  # noqa: PLR2004 - one label is no scale
        raise JrhError(f"--scale: write 1-6, or labels such as YES,NO; got '{text}'")
    return Scale.of_labels(*labels)
