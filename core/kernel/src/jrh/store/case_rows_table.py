"""The list of cases: one narrow row for each case and judge, so that filters and pages of a large run stay fast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from jrh.document.serial import to_text
from jrh.store.database import Database
from jrh.store.writer import Statement
from jrh.values.listed_cases import CaseChoices, CaseFilter, CaseOrder, CaseRow

_COLUMNS: Final = ", ".join(CaseRow._fields)
_INSERT: Final = f"INSERT INTO case_rows ({_COLUMNS}) VALUES ({', '.join('?' * len(CaseRow._fields))})"  # noqa: S608
_EQUAL: Final = ("task", "test", "judge", "variant", "stratum", "item_id")
_SCORES: Final = ("moved", "right", "expected")
_HALF: Final = 0.5
_SORTED_BY: Final = {
    CaseOrder.PLAN: "position",
    CaseOrder.ITEM: "item_id",
    CaseOrder.JUDGE: "judge",
    CaseOrder.TEST: "test",
    CaseOrder.VERDICT: "verdict",
    # Where there is no score, the row stands behind those that have one, whichever way they are sorted.
    CaseOrder.MOVED: "-coalesce(moved, -1)",
    CaseOrder.RIGHT: "coalesce(right, 2)",
    CaseOrder.EXPECTED: "coalesce(expected, 2)",
}
MISSING: Final = "missing"
"""Stands for every status without a verdict in a filter."""
_RATIONALE: Final = (
    "EXISTS (SELECT 1 FROM trials t JOIN records r ON r.trial_id = t.id WHERE t.case_id = case_rows.case_id "
    "AND t.judge = case_rows.judge AND r.rationale LIKE ? ESCAPE '\\')"
)
_LIKE: Final = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class Page(NamedTuple):
    """Some rows of a list, and where the next ones begin."""

    rows: tuple[CaseRow, ...]
    after: tuple[Any, int] | None
    """The sort key and position of the last row; None at the end."""


class CaseRowsTable:
    """Rows in the order of the plan, made from the records when they are measured."""

    STAGE: ClassVar = "case_rows"
    DELETE_ALL: ClassVar[Statement] = ("DELETE FROM case_rows", [()])

    def __init__(self, database: Database) -> None:
        """Use `Store.case_rows` instead."""
        self._database = database

    def digest(self) -> str | None:
        """Return the id of what the rows were made from, or None if there are none."""
        return self._database.digest(self.STAGE) or None

    def replace(self, digest: str, rows: Iterable[CaseRow]) -> None:
        """Replace all rows."""
        self._database.replace(self.STAGE, digest, self.DELETE_ALL, (_INSERT, list(rows)))

    def page(self, wanted: CaseFilter, order: CaseOrder, limit: int, after: tuple[Any, int] | None = None) -> Page:
        """Return the first rows that fit, behind the place where an earlier page ended.

        Args:
            wanted: which rows.
            order: how they are sorted; equal ones in plan order.
            limit: of rows.
            after: `Page.after` of the page before.
        """
        key = _SORTED_BY[order]
        where, parameters = _where(wanted)
        if after is not None:
            where, parameters = f"{where} AND ({key}, position) > (?, ?)", [*parameters, *after]
        found = self._database.rows(
            f"SELECT {_COLUMNS}, {key} FROM case_rows WHERE {where} "  # noqa: S608 - fixed names
            f"ORDER BY {key}, position LIMIT ?",
            [*parameters, limit + 1],
        )
        rows = tuple(CaseRow._make(row[:-1]) for row in found[:limit])
        return Page(rows=rows, after=(found[limit - 1][-1], rows[-1].position) if len(found) > limit else None)

    def count(self, wanted: CaseFilter) -> int:
        """Count the rows that fit."""
        where, parameters = _where(wanted)
        return int(self._database.rows(f"SELECT count(*) FROM case_rows WHERE {where}", parameters)[0][0])  # noqa: S608

    def of_item(self, task: str, item_id: str) -> tuple[CaseRow, ...]:
        """Return the rows of an item, in plan order."""
        return self._rows("task = ? AND item_id = ?", (task, item_id))

    def of_case(self, case_id: str) -> tuple[CaseRow, ...]:
        """Return the rows of a case, in plan order."""
        return self._rows("case_id = ?", (case_id,))

    def choices(self, task: str) -> CaseChoices:
        """Return what occurs in a task, sorted; of all tasks where it is empty."""
        where, parameters = ("task = ?", (task,)) if task else ("1", ())

        def distinct(column: str) -> tuple[str, ...]:
            rows = self._database.rows(
                f"SELECT DISTINCT {column} FROM case_rows WHERE {where} AND {column} != '' ORDER BY 1",  # noqa: S608
                parameters,
            )
            return tuple(value for (value,) in rows)

        return CaseChoices(*map(distinct, ("judge", "test", "variant", "stratum", "status")))

    def _rows(self, where: str, parameters: Sequence[Any]) -> tuple[CaseRow, ...]:
        found = self._database.rows(
            f"SELECT {_COLUMNS} FROM case_rows WHERE {where} ORDER BY position",  # noqa: S608 - fixed names
            parameters,
        )
        return tuple(map(CaseRow._make, found))


def _where(wanted: CaseFilter) -> tuple[str, list[Any]]:
    clauses: list[str] = ["1"]
    parameters: list[Any] = []
    for clause, values in _clauses(wanted):
        clauses.append(clause)
        parameters += values
    return " AND ".join(clauses), parameters


def _clauses(wanted: CaseFilter) -> Iterator[tuple[str, Sequence[Any]]]:
    for name in _EQUAL:
        if value := getattr(wanted, name):
            yield f"{name} = ?", (value,)
    for name in _SCORES:
        if chosen := getattr(wanted, name):
            yield f"{name} {'>' if chosen == 'yes' else '<='} ?", (_HALF,)
    if wanted.status == MISSING:
        yield "missing > 0", ()
    elif wanted.status:
        yield "status = ?", (wanted.status,)
    if wanted.search:
        # Texts are stored as JSON in ASCII, so what is searched for is written in the same way.
        yield (
            "(item_id LIKE ? ESCAPE '\\' OR case_id IN (SELECT id FROM cases WHERE payload LIKE ? ESCAPE '\\'))",
            (_like(wanted.search), _like(to_text(wanted.search)[1:-1])),
        )
    if wanted.rationale:
        yield (
            _RATIONALE,
            (_like(wanted.rationale),),
        )


def _like(text: str) -> str:
    return f"%{text.translate(_LIKE)}%"
