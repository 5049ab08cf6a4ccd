"""Turn rows into items and check what the task requires."""

from __future__ import annotations

from jrh import Item, Json, Mode, Task

from jrh_sources.columns import AUTHORS, FIELDS, ColumnMap
from jrh_sources.problems import Problems
from jrh_sources.tally import Tally
from jrh_sources.values import Row, as_text, is_nested, plain


class ItemBuilder:
    """Turns the rows of one file into items, one after the other."""

    def __init__(self, task: Task, columns: ColumnMap, problems: Problems) -> None:
        """Start a file; mistakes go to `problems`, those shared by many rows only when `finish` is called."""
        self._task = task
        self._columns = columns
        self._problems = problems
        self._tally = Tally(task, columns, problems)
        self._line_of: dict[str, int] = {}
        self._without_id: list[int] = []
        self._seen: dict[str, None] = {}
        self._rows = 0

    def build(self, row: Row) -> Item | None:
        """Return the row's item, or None if the row or an earlier one has a mistake."""
        self._rows += 1
        self._seen.update(dict.fromkeys(row.values))
        identity = self._identity(row)
        fields = self._fields(row)
        gold = self._gold(row)
        stratum, group = self._text(row, "stratum"), self._text(row, "group")
        if identity is None or self._problems or self._tally:
            return None
        return Item(
            id=identity,
            fields=fields,
            gold=gold,
            gold_source=self._text(row, "gold_source") or "",
            stratum=stratum or "",
            group=group or "",
            metadata=self._metadata(row),
            origin=self._problems.place(row.line),
        )

    def finish(self) -> None:
        """Record what only shows at the end: columns that no row has, and mistakes shared by many rows."""
        if not self._rows:
            return
        if self._has_ids():
            for line in self._without_id:
                self._tally.missing("id", line)
        self._tally.report(list(self._seen))

    def _identity(self, row: Row) -> str | None:
        identity = self._text(row, "id")
        if not identity:
            self._without_id.append(row.line)
            return None if self._has_ids() else f"row-{self._rows}"
        first = self._line_of.setdefault(identity, row.line)
        if first != row.line:
            place = self._problems.place
            self._problems.add(
                f"id '{identity}' is used twice: {place(first)} and {place(row.line)}; ids must be unique",
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
        for target in self._task.judged_fields:
            self._check_judged(row, target, fields.get(target))
        return {name: plain(value) for name, value in fields.items()}

    def _metadata(self, row: Row) -> dict[str, Json]:
        found = {name: plain(value) for name, value in row.values.items() if name not in self._columns.away}
        authors = {target: self._text(row, target) for target in AUTHORS if target in self._columns.column}
        return found | {target: name for target, name in authors.items() if name}

    def _check_judged(self, row: Row, target: str, value: Json) -> None:
        if value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}):
            self._tally.missing(target, row.line)
        elif self._task.mode is not Mode.TRANSCRIPT and is_nested(value):
            self._problems.add(f"field '{target}' must be text, not a list or an object", line=row.line)

    def _gold(self, row: Row) -> str | None:
        label = self._text(row, "label") or None
        if label is not None and label not in self._task.scale:
            self._tally.off_scale(label, row.line)
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
