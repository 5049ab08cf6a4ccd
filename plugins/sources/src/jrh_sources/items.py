"""Map columns to the parts of an item, turn rows into items, and check what the task requires."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import floor
from string import ascii_lowercase
from typing import Final

from attrs import Factory, field, frozen
from jrh import Item, Json, Mode, Scale, ScaleKind, Task
from jrh_interchange import Problems, Row, as_text, is_nested, plain

from jrh_sources.options import TableOptions

FIELDS: Final = ("request", "response", *(f"response_{letter}" for letter in ascii_lowercase), "transcript")
"""The standard targets that become fields."""
STANDARD: Final = ("id", *FIELDS, "label", "gold_source", "stratum", "group")
"""Targets that default to the column of the same name."""
AUTHORS: Final = ("author", *(f"author_{letter}" for letter in ascii_lowercase))
"""Targets that name the model which wrote a response; they become metadata, which judges never see."""
KEPT_TWICE: Final = frozenset({"stratum", "group", *AUTHORS})
"""Targets whose column also stays in the metadata, under the column's own name."""
_NO_FIELDS: Final = frozenset({*STANDARD, *AUTHORS})


@frozen(kw_only=True)
class ColumnMap:
    """The suite's `columns` mapping with its defaults filled in."""

    named: Mapping[str, str | None] = field(default=Factory(dict))
    """Target -> column as the suite says; None leaves the target empty."""
    labels: Mapping[str, str | None] = field(factory=dict)
    """Text of a label -> label of the scale; None: no label."""
    whole_labels: bool = False
    """Whether labels that are numbers are rounded to whole ones."""
    column: Mapping[str, str] = field(init=False)
    """Target -> column, including the defaults."""
    away: frozenset[str] = field(init=False)
    """Columns that do not stay in the metadata."""

    @column.default
    def _complete(self) -> dict[str, str]:
        # A column that the suite uses for one target is not taken for another by its name.
        used = set(self.named.values())
        defaults = {target: target for target in STANDARD if target not in self.named and target not in used}
        return defaults | {target: column for target, column in self.named.items() if column is not None}

    @away.default
    def _away(self) -> frozenset[str]:
        return frozenset(column for target, column in self.column.items() if target not in KEPT_TWICE)

    @classmethod
    def of(cls, options: TableOptions) -> ColumnMap:
        """Return what the options of a table say."""
        return cls(named=options.columns, labels=options.labels, whole_labels=options.whole_labels)

    @property
    def extra_fields(self) -> tuple[str, ...]:
        """Return the targets that are fields beyond the standard ones, in the suite's order."""
        return tuple(target for target in self.column if target not in _NO_FIELDS)

    def label(self, text: str | None) -> str | None:
        """Return the label that a text in the label column means; None if it means none."""
        meant = self.labels.get(text or "", text)
        return round_label(meant) if meant and self.whole_labels else meant or None

    def absent_columns(self, columns: Iterable[str]) -> list[tuple[str, str]]:
        """Return (target, message) for every column the suite names and the file lacks."""
        available = list(columns)
        return [
            (target, f"no column '{column}' (columns.{target}){did_you_mean(column, available)}")
            for target, column in self.named.items()
            if column is not None and column not in available
        ]


def round_label(text: str) -> str:
    """Return a number, also one with a decimal comma, as the nearest whole one, halves upwards; other text as it is."""
    try:
        return str(floor(decimal_number(text) + 0.5))
    except (ValueError, OverflowError):
        return text


def decimal_number(text: str) -> float:
    """Return the number that a text is, also with a decimal comma, as spreadsheets of half of Europe write it."""
    return float(text.replace(",", "."))


def did_you_mean(name: str, known: list[str]) -> str:
    """Return the close match and the list of columns, as the end of a message."""
    close = get_close_matches(name, known, n=1)
    return f"{f'; did you mean {close[0]!r}?' if close else '.'} Columns: {', '.join(known)}"


_LINES: Final = 5
"""Lines named per mistake; the others are counted."""


def _list_lines(lines: Sequence[int]) -> str:
    """Return the rows of a mistake that several rows share."""
    more = ", ..." if len(lines) > _LINES else ""
    return f" ({len(lines)} rows: {', '.join(map(str, lines[:_LINES]))}{more})" if len(lines) > 1 else ""


def _hint(label: str, scale: Scale) -> str:
    meant = scale.match(label)
    if meant is not None:
        return f"; labels are compared exactly, write '{meant}'"
    if scale.kind is ScaleKind.ORDINAL and (equal := _same_number(label, scale)) is not None:
        return f"; labels are compared as text, write '{equal}'"
    # A Cyrillic letter or an invisible space: the message would say that 'YES' is not on the scale YES, NO.
    escaped = f" (which is {ascii(label)[:80]})" if not label.isascii() and "".join(scale.labels).isascii() else ""
    return f"{escaped}; fix the label, the scale, or `columns: {{label: ...}}`"


def _same_number(label: str, scale: Scale) -> str | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return next((level for level in scale.labels if level.isdecimal() and float(level) == number), None)


class ItemBuilder:
    """Turns the rows of one file into items, one after the other."""

    def __init__(self, task: Task, columns: ColumnMap, problems: Problems) -> None:
        """Start a file; mistakes go to `problems`, those shared by many rows only when `finish` is called."""
        self._task = task
        self._columns = columns
        self._problems = problems
        self._missing: dict[str, list[int]] = {}
        """Target -> lines without a value that the task requires."""
        self._off_scale: dict[str, list[int]] = {}
        """Label that is not on the scale -> its lines."""
        self._line_of: dict[str, int] = {}
        self._without_id: list[int] = []
        self._seen: dict[str, None] = {}
        self._rows = 0

    def build(self, row: Row) -> Item | None:
        """Return the row's item, or None if the row or an earlier one has a mistake."""
        self._rows += 1
        # Over all rows: in JSON Lines a row may lack a column that others have.
        self._seen.update(dict.fromkeys(row.values))
        identity = self._identity(row)
        fields = self._fields(row)
        gold = self._gold(row)
        stratum, group = self._text(row, "stratum"), self._text(row, "group")
        # After the first mistake no item is needed: the rows are read on for further mistakes only.
        if identity is None or self._problems or self._missing or self._off_scale:
            return None
        return Item(
            id=identity,
            fields=fields,
            gold=gold,
            gold_source=self._text(row, "gold_source") or "",
            stratum=stratum or "",
            group=group or "",
            metadata=self._metadata(row),
            origin=row.place,
        )

    def finish(self) -> None:
        """Record what only shows at the end: columns that no row has, and mistakes shared by many rows."""
        if not self._rows:
            return
        # Only the end shows whether the file has ids at all.
        if self._has_ids() and self._without_id:
            self._missing["id"] = self._without_id
        available = list(self._seen)
        absent = dict(self._columns.absent_columns(available))
        for message in absent.values():
            self._problems.add(message)
        for target, lines in self._missing.items():
            if target not in absent:
                self._report_missing(target, lines, available)
        for label, lines in self._off_scale.items():
            labels = ", ".join(self._task.scale.labels)
            hint = _hint(label, self._task.scale)
            message = f"label '{label}' is not on the scale {labels}{_list_lines(lines)}{hint}"
            self._problems.add(message, line=lines[0])

    def _report_missing(self, target: str, lines: list[int], available: list[str]) -> None:
        column = self._columns.column.get(target)
        if column in available:
            named = f"column '{column}' ({target})"
            self._problems.add(f"{named} is empty{_list_lines(lines)}; fill it or remove the row", line=lines[0])
            return
        mode = self._task.mode.value
        self._problems.add(
            f"a {mode} task needs the field '{target}'; name its column with `columns: {{{target}: ...}}`"
            f"{did_you_mean(target, available)}"
        )

    def _identity(self, row: Row) -> str | None:
        identity = self._text(row, "id")
        if not identity:
            self._without_id.append(row.line)
            return None if self._has_ids() else f"row-{self._rows}"
        # Ids tie records, reviews and labels to their item: two items under one id would be mixed up for good.
        first = self._line_of.setdefault(identity, row.line)
        if first != row.line:
            self._problems.add(
                f"id '{identity}' is used twice: {row.source}:{first} and {row.place}; ids must be unique",
                line=row.line,
            )
        return identity

    def _has_ids(self) -> bool:
        return self._columns.column.get("id") in self._seen

    def _fields(self, row: Row) -> dict[str, Json]:
        fields: dict[str, Json] = {"request": ""}  # always set: templates are strict about undefined names
        for target in FIELDS:
            value = self._value(row, target)
            if value is not None:
                fields[target] = value if is_nested(value) else as_text(value)
        fields |= {target: self._value(row, target) for target in self._columns.extra_fields}
        # An empty answer would be judged, paid for and scored.
        for target in self._task.judged_fields:
            self._check_judged(row, target, fields.get(target))
        return {name: plain(value) for name, value in fields.items()}

    def _metadata(self, row: Row) -> dict[str, Json]:
        metadata = {name: plain(value) for name, value in row.values.items() if name not in self._columns.away}
        authors = {target: self._text(row, target) for target in AUTHORS if target in self._columns.column}
        return metadata | {target: name for target, name in authors.items() if name}

    def _check_judged(self, row: Row, target: str, value: Json) -> None:
        if value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}):
            self._missing.setdefault(target, []).append(row.line)
        elif self._task.mode is not Mode.TRANSCRIPT and is_nested(value):
            self._problems.add(f"field '{target}' must be text, not a list or an object", line=row.line)

    def _gold(self, row: Row) -> str | None:
        label = self._columns.label(self._text(row, "label"))
        # Collected by label: a wrong scale would be one message per row.
        if label is not None and label not in self._task.scale:
            self._off_scale.setdefault(label, []).append(row.line)
        return label

    def _value(self, row: Row, target: str) -> Json:
        column = self._columns.column.get(target)
        return row.values.get(column) if column is not None else None

    def _text(self, row: Row, target: str) -> str | None:
        value = self._value(row, target)
        if is_nested(value):
            self._problems.add(f"'{target}' must be text or a number, not a list or an object", line=row.line)
            return None
        return as_text(value)
