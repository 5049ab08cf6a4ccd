"""Read data files leniently: data that a source would reject is a finding here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from jrh import Item, JrhError, Mode, Task
from jrh_interchange import PAIR_COLUMNS, PairedPrompts, Row, infer_scale, paired_task, read_rows

_FIELDS: Final = ("request", "response", "response_a", "response_b", "transcript")
_MODES: Final = (
    (("response_a", "response_b"), Mode.PAIRWISE),
    (("response",), Mode.POINTWISE),
    (("transcript",), Mode.TRANSCRIPT),
)


def read_data(path: Path, columns: Mapping[str, str], scale: str | None) -> tuple[tuple[Task, tuple[Item, ...]], ...]:
    """Read a JSON Lines or csv file as one task, or one per task type of a paired-prompt file.

    Args:
        path: the file.
        columns: field -> name of its column in the file.
        scale: `1-6` or `YES,NO`; None: inferred from the labels of the file.

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
    task = Task(name=path.stem, scale=infer_scale(scale, golds, mode, path.name), mode=mode)
    items = [_item(row, gold, f"row-{row.line}", path) for row, gold in zip(rows, golds, strict=True)]
    return ((task, tuple(items)),)


def _paired(
    path: Path, columns: Mapping[str, str], scale: str | None, rows: Sequence[Row], task_type: str
) -> tuple[Task, tuple[Item, ...]]:
    task = paired_task([row for row in rows if row["task_type"] == task_type], scale, path)
    source = PairedPrompts(path=path, shown=path.name, task=task, task_type=task_type, columns=columns)
    return task, tuple(source.read())


def _mode(row: Row, path: Path) -> Mode:
    for names, mode in _MODES:
        if all(name in row.values for name in names):
            return mode
    raise JrhError(
        f"{path.name}: no column response, no columns response_a and response_b, and no column transcript; name "
        f"yours with --column, such as `--column response=full_text`. Columns: {', '.join(row.values)}"
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
