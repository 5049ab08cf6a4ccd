"""Tell reruns of an item from rows that should not be there twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh import JrhError
from jrh.text import clean_text, count_noun
from jrh_interchange import Row, rows_by

from jrh_import.checking.check_request import CheckRequest
from jrh_import.checking.labels import Labels
from jrh_import.tables import Table

_SHOWN: Final = 3
_LONG: Final = 20
"""Characters of a text on average; what is shorter may be a category, which items share by chance."""
_TELLING: Final = 0.5
"""Rows that differ less often have no identity: two equal ones may be two items."""


def check_repeats(table: Table, request: CheckRequest, labels: Labels) -> list[str]:
    """Check rows that repeat others, and return notes on those that count.

    Rows of one item are reruns where a column numbers them, or where all verdicts and the label of people are equal.

    Raises:
        JrhError: rows of one item differ and nothing says that they are reruns; the rows are named.
    """
    exact = _duplicates(table) if _is_telling(table, request) else []
    notes = [_exact(exact, items=request.item is not None)] if exact else []
    notes += _texts_in_common(table, request)
    if request.item is None:
        return [*notes, "Every row counts as an item. If rows share an item, name its column with --item."]
    several = {item: rows for item, rows in rows_by(table.rows, request.item).items() if len(rows) > 1}
    # Nothing says that these are reruns: only equal rows can be taken for them.
    if several and not (request.reruns or request.repeat):
        _check_alike(several, request, labels)
    if several:
        notes.append(
            f"{count_noun(len(several), 'item')} with several rows: these count as reruns; "
            "intervals are clustered by item."
        )
    return notes


def _is_telling(table: Table, request: CheckRequest) -> bool:
    """Tell whether rows have an identity: an item, or other columns that mostly differ."""
    if request.item is not None:
        return True
    judged = {*request.judges, request.human}
    columns = [column for column in table.columns if column not in judged]
    distinct = {tuple(row[column] for column in columns) for row in table.rows}
    return len(distinct) > _TELLING * len(table.rows) and bool(columns)


def _texts_in_common(table: Table, request: CheckRequest) -> Iterator[str]:
    """Name columns of long texts that several items share: such items are not independent."""
    if request.group is not None:
        return
    # A covariate is no unit: items that share its text stay dependent.
    used = {column for option, column in request.option_columns() if option != "--covariate"}
    items = {row[request.item] for row in table.rows} if request.item else table.rows
    for column in table.columns:
        texts = [row[column] for row in table.rows] if column not in used else []
        filled = [text for text in texts if text.strip()]
        # Short texts are categories: that items share one says nothing.
        if not filled or sum(map(len, filled)) < _LONG * len(texts):
            continue
        distinct = len(set(filled))
        if distinct < len(items):
            name = clean_text(column, 40)
            yield (
                f"{count_noun(len(items), 'item')}, but {count_noun(distinct, 'distinct text')} in '{name}'. "
                f"Items that share a text are not independent: pass --group {name}."
            )


def _duplicates(table: Table) -> list[str]:
    """Return the places of the rows that equal an earlier row in every cell."""
    known: set[tuple[str, ...]] = set()
    places = []
    for row in table.rows:
        cells = tuple(row[column] for column in table.columns)
        if cells in known:
            places.append(row.place)
        known.add(cells)
    return places


def _exact(found: Sequence[str], *, items: bool) -> str:
    how = "They count as reruns" if items else "They count as separate items"
    rows = count_noun(len(found), "row")
    return f"{rows} equal to an earlier row in every cell ({_places(found)}). {how}; remove them if they are copies."


def _check_alike(several: Mapping[str, Sequence[Row]], request: CheckRequest, labels: Labels) -> None:
    differing = {
        item: rows
        for item, rows in several.items()
        if len({tuple(_label(row, judge, labels) for judge in request.judges) for row in rows}) > 1
    }
    if differing:
        raise JrhError(
            f"{count_noun(len(differing), 'item')} in several rows with different verdicts:\n"
            f"{_item_places(differing)}\n"
            "If the rows are reruns, name the column that numbers them with --repeat, or pass --reruns; "
            "otherwise keep one row per item"
        )


def _label(row: Row, column: str, labels: Labels) -> str:
    text = row[column]
    # As the check reads it: two spellings of one label are no contradiction.
    return labels.written.get(text) or labels.scale.match(text) or text.strip()


def _item_places(items: Mapping[str, Sequence[Row]]) -> str:
    shown = [*items.items()][:_SHOWN]
    lines = [f"  '{clean_text(item, 60)}': {_places([row.place for row in rows])}" for item, rows in shown]
    more = [f"  and {count_noun(len(items) - _SHOWN, 'more item')}"] if len(items) > _SHOWN else []
    return "\n".join([*lines, *more])


def _places(places: Sequence[str]) -> str:
    shown = ", ".join(clean_text(place, 120) for place in places[:_SHOWN])
    return shown + (f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else "")
