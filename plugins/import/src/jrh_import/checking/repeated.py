"""Tell reruns of an item from rows that should not be there twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh import JrhError
from jrh.text import clean_text, counted
from jrh_interchange import Row, rows_by

from jrh_import.checking.asked import Asked
from jrh_import.checking.labels import Labels
from jrh_import.tables import Table

_SHOWN: Final = 3
_LONG: Final = 20
"""Characters of a text on average; what is shorter may be a category, which items share by chance."""
_TELLING: Final = 0.5
"""Rows that differ less often have no identity: two equal ones may be two items."""


def repeated_rows(table: Table, asked: Asked, labels: Labels) -> list[str]:
    """Check rows that repeat others, and return notes on those that count.

    Rows of one item are reruns where a column numbers them, or where all verdicts and the label of people are equal.

    Raises:
        JrhError: rows of one item differ and nothing says that they are reruns; the rows are named.
    """
    exact = _duplicates(table) if _is_telling(table, asked) else []
    notes = [_exact(exact, items=asked.item is not None)] if exact else []
    notes += _shared_texts(table, asked)
    if asked.item is None:
        return [*notes, "Every row counts as an item. If rows share an item, name its column with --item."]
    several = {item: found for item, found in rows_by(table.rows, asked.item).items() if len(found) > 1}
    if several and not (asked.reruns or asked.repeat):
        _check_alike(several, asked, labels)
    _check_human(several, asked, labels)
    if several:
        notes.append(
            f"{counted(len(several), 'item')} with several rows: these count as reruns; "
            "intervals are clustered by item."
        )
    return notes


def _is_telling(table: Table, asked: Asked) -> bool:
    """Tell whether rows have an identity: an item, or other columns that mostly differ."""
    if asked.item is not None:
        return True
    judged = {*asked.judges, asked.human}
    others = [column for column in table.columns if column not in judged]
    distinct = {tuple(row[column] for column in others) for row in table.rows}
    return len(distinct) > _TELLING * len(table.rows) and bool(others)


def _shared_texts(table: Table, asked: Asked) -> Iterator[str]:
    """Name columns of long texts that several items share: such items are not independent."""
    if asked.group is not None:
        return
    # A covariate is no unit: items that share its text stay dependent.
    used = {column for option, column in asked.named() if option != "--covariate"}
    items = {row[asked.item] for row in table.rows} if asked.item else table.rows
    for column in table.columns:
        texts = [row[column] for row in table.rows] if column not in used else []
        filled = [text for text in texts if text.strip()]
        if not filled or sum(map(len, filled)) < _LONG * len(texts):
            continue
        distinct = len(set(filled))
        if distinct < len(items):
            name = clean_text(column, 40)
            yield (
                f"{counted(len(items), 'item')}, but {counted(distinct, 'distinct text')} in '{name}'. "
                f"Items that share a text are not independent: pass --group {name}."
            )


def _duplicates(table: Table) -> list[str]:
    """Return the places of the rows that equal an earlier row in every cell."""
    seen: set[tuple[str, ...]] = set()
    found = []
    for row in table.rows:
        cells = tuple(row[column] for column in table.columns)
        if cells in seen:
            found.append(row.place)
        seen.add(cells)
    return found


def _exact(found: Sequence[str], *, items: bool) -> str:
    how = "They count as reruns" if items else "They count as separate items"
    rows = counted(len(found), "row")
    return f"{rows} equal to an earlier row in every cell ({_places(found)}). {how}; remove them if they are copies."


def _check_alike(several: Mapping[str, Sequence[Row]], asked: Asked, labels: Labels) -> None:
    differing = [item for item, rows in several.items() if len({_said(row, asked, labels) for row in rows}) > 1]
    if differing:
        raise JrhError(
            f"{counted(len(differing), 'item')} in several rows with different verdicts:\n"
            f"{_named(differing, several)}\n"
            "If the rows are reruns, name the column that numbers them with --repeat, or pass --reruns; "
            "otherwise keep one row per item"
        )


def _check_human(several: Mapping[str, Sequence[Row]], asked: Asked, labels: Labels) -> None:
    differing = [item for item, rows in several.items() if len({_label(row, asked.human, labels) for row in rows}) > 1]
    if differing:
        raise JrhError(
            f"{counted(len(differing), 'item')} with several labels in '{clean_text(asked.human)}':\n"
            f"{_named(differing, several)}\n"
            "An item needs one label: settle on one, or leave the cells blank"
        )


def _said(row: Row, asked: Asked, labels: Labels) -> tuple[str, ...]:
    return tuple(_label(row, column, labels) for column in asked.judges)


def _label(row: Row, column: str, labels: Labels) -> str:
    text = row[column]
    return labels.written.get(text) or labels.scale.match(text) or text.strip()


def _named(items: Sequence[str], several: Mapping[str, Sequence[Row]]) -> str:
    return "\n".join(_lines(items, several))


def _lines(items: Sequence[str], several: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    for item in items[:_SHOWN]:
        yield f"  '{clean_text(item, 60)}': {_places([row.place for row in several[item]])}"
    if len(items) > _SHOWN:
        yield f"  and {counted(len(items) - _SHOWN, 'more item')}"


def _places(places: Sequence[str]) -> str:
    shown = ", ".join(clean_text(place, 120) for place in places[:_SHOWN])
    return shown + (f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else "")
