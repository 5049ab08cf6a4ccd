"""The list of cases: one narrow row for each case and judge, so that filters and pages of a large run stay fast."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from jrh.document.serial import to_text
from jrh.store.cases_table import CasesTable
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
_TOLD: Final = "SELECT DISTINCT case_id || char(31) || judge FROM records WHERE rationale LIKE ? ESCAPE '\\'"
_CHOICES: Final = ("judge", "test", "variant", "stratum", "status")
_SET_CHOICES: Final = "INSERT OR REPLACE INTO meta VALUES ('case_choices', ?)"
_LIKE: Final = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class CaseScore(NamedTuple):
    """What one judge did with one case."""

    case_id: str
    task: str
    test: str
    judge: str
    verdict: str
    right: float | None
    expected: float | None


class Page(NamedTuple):
    """Some rows of a list, and where the next ones begin."""

    rows: tuple[CaseRow, ...]
    total: int
    """Rows of the whole list."""
    after: tuple[Any, int] | None
    """The sort key and position of the last row; None at the end."""


class CaseRowsTable:
    """Rows in the order of the plan, made from the records when they are measured."""

    STAGE: ClassVar = "case_rows"
    DELETE_ALL: ClassVar[Statement] = ("DELETE FROM case_rows", [()])

    def __init__(self, database: Database) -> None:
        """Use `Store.case_rows` instead."""
        self._database = database
        self._cases = CasesTable(database)

    def digest(self) -> str | None:
        """Return the id of what the rows were made from, or None if there are none."""
        return self._database.digest(self.STAGE) or None

    def replace(self, digest: str, rows: Iterable[CaseRow]) -> None:
        """Replace all rows, and what they can be filtered by, which takes a look at all of them.

        The rows are written as they come, and never held together. It is one transaction: if a row cannot be made, the
        rows before stay.
        """
        choices = _Choices()
        self._database.replace(
            self.STAGE,
            digest,
            self.DELETE_ALL,
            (_INSERT, choices.noted(rows)),
            # Told when the rows are written.
            (_SET_CHOICES, ((to_text(each),) for each in choices.all())),
        )

    def page(self, wanted: CaseFilter, order: CaseOrder, limit: int, after: tuple[Any, int] | None = None) -> Page:
        """Return the first rows that fit, behind the place where an earlier page ended.

        Args:
            wanted: which rows.
            order: how they are sorted; equal ones in plan order.
            limit: of rows.
            after: `Page.after` of the page before.
        """
        key = _SORTED_BY[order]
        where, parameters = self._where(wanted)
        ((total,),) = self._database.rows(f"SELECT count(*) FROM case_rows WHERE {where}", parameters)  # noqa: S608
        if after is not None:
            where, parameters = f"{where} AND ({key}, position) > (?, ?)", [*parameters, *after]
        found = self._database.rows(
            f"SELECT {_COLUMNS}, {key} FROM case_rows WHERE {where} "  # noqa: S608 - fixed names
            f"ORDER BY {key}, position LIMIT ?",
            [*parameters, limit + 1],
        )
        rows = tuple(CaseRow._make(row[:-1]) for row in found[:limit])
        more = (found[limit - 1][-1], rows[-1].position) if len(found) > limit else None
        return Page(rows=rows, total=total, after=more)

    def scores(self) -> list[CaseScore]:
        """Return every case and judge, in plan order; nothing where the list was not made."""
        rows = self._database.rows(
            f"SELECT {', '.join(CaseScore._fields)} FROM case_rows ORDER BY position"  # noqa: S608 - fixed names
        )
        return [CaseScore._make(row) for row in rows]

    def of_item(self, task: str, item_id: str) -> tuple[CaseRow, ...]:
        """Return the rows of an item, in plan order."""
        return self._rows("task = ? AND item_id = ?", (task, item_id))

    def of_case(self, case_id: str) -> tuple[CaseRow, ...]:
        """Return the rows of a case, in plan order."""
        return self._rows("case_id = ?", (case_id,))

    def choices(self, task: str) -> CaseChoices:
        """Return what occurs in a task, sorted; of all tasks where it is empty."""
        found: dict[str, list[list[str]]] = json.loads(self._database.meta("case_choices") or "{}")
        columns = found.get(task, [[]] * len(_CHOICES))
        return CaseChoices(*map(tuple, columns))

    def _rows(self, where: str, parameters: Sequence[Any]) -> tuple[CaseRow, ...]:
        found = self._database.rows(
            f"SELECT {_COLUMNS} FROM case_rows WHERE {where} ORDER BY position",  # noqa: S608 - fixed names
            parameters,
        )
        return tuple(map(CaseRow._make, found))

    def _where(self, wanted: CaseFilter) -> tuple[str, list[Any]]:
        clauses: list[str] = ["1"]
        parameters: list[Any] = []
        for clause, values in (*_clauses(wanted), *self._searched(wanted)):
            clauses.append(clause)
            parameters += values
        return " AND ".join(clauses), parameters

    def _searched(self, wanted: CaseFilter) -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield the clauses of a search; the texts are read once, not once for the rows and once for their number."""
        if wanted.search:
            cases = json.dumps(self._cases.holding(wanted.search))
            yield (
                "(item_id LIKE ? ESCAPE '\\' OR case_id IN (SELECT value FROM json_each(?)))",
                (_like(wanted.search), cases),
            )
        if wanted.rationale:
            told = self._matching(_TOLD, wanted.rationale)
            yield "case_id || char(31) || judge IN (SELECT value FROM json_each(?))", (told,)

    def _matching(self, sql: str, *texts: str) -> str:
        return json.dumps([value for (value,) in self._database.rows(sql, tuple(map(_like, texts)))])


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


class _Choices:
    """The values of every task, and of all tasks under the empty name."""

    def __init__(self) -> None:
        self._found: defaultdict[str, list[set[str]]] = defaultdict(lambda: [set() for _ in _CHOICES])

    def noted(self, rows: Iterable[CaseRow]) -> Iterator[CaseRow]:
        for row in rows:
            for task in ("", row.task):
                for column, name in zip(self._found[task], _CHOICES, strict=True):
                    column.add(getattr(row, name))
            yield row

    def all(self) -> Iterator[dict[str, list[list[str]]]]:
        """Yield all that were noted, once asked."""
        self._found[""]
        yield {task: [sorted(column - {""}) for column in columns] for task, columns in self._found.items()}


def _like(text: str) -> str:
    return f"%{text.translate(_LIKE)}%"
