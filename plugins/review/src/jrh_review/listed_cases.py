"""The list of cases: a row for each case as one judge judged it, all repeats together, with filters and pages."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from attrs import asdict, field, frozen
from attrs.validators import in_
from jrh.values import TableSpec


class CaseRow(NamedTuple):
    """One case and judge. Scores are means over the repeats that have one; None where none has."""

    position: int
    """Place in the plan of its first trial; names the row."""
    task: str
    test: str
    variant: str
    stratum: str
    judge: str
    item_id: str
    case_id: str
    gold: str
    """Empty: unlabelled."""
    trials: int
    verdict: str
    """The commonest canonical label; empty: no verdict."""
    verdicts: str
    """Every label with its count, such as `4x YES, 1x NO`."""
    missing: int
    """Trials without a verdict."""
    status: str
    """The commonest status of those; empty: none."""
    moved: float | None
    """Share of reference verdicts of the same judge and item that a verdict differs from."""
    right: float | None
    """Share of verdicts equal to the right label, where one is stated."""
    expected: float | None
    """Share of verdicts that meet the expectation."""


class CaseOrder(Enum):
    """What the list can be sorted by."""

    PLAN = "plan"
    ITEM = "item"
    JUDGE = "judge"
    TEST = "test"
    VERDICT = "verdict"
    MOVED = "moved"
    RIGHT = "right"
    EXPECTED = "expected"


YES_NO = ("", "yes", "no")


@frozen(kw_only=True)
class CaseFilter:
    """Which rows are listed; an empty field filters nothing."""

    task: str = ""
    test: str = ""
    judge: str = ""
    variant: str = ""
    stratum: str = ""
    item_id: str = ""
    status: str = ""
    """A status of a missing verdict; `missing`: any of them."""
    moved: str = field(default="", validator=in_(YES_NO))
    """Whether the verdict differs from more than half of its reference verdicts."""
    right: str = field(default="", validator=in_(YES_NO))
    """Whether more than half of the verdicts equal the right label."""
    expected: str = field(default="", validator=in_(YES_NO))
    """Whether more than half of the verdicts meet the expectation."""
    search: str = ""
    """Text that the item's id or the case's texts contain."""
    rationale: str = ""
    """Text that a rationale contains."""


class CaseChoices(NamedTuple):
    """What a list can be filtered by: the values that occur."""

    judges: tuple[str, ...]
    tests: tuple[str, ...]
    variants: tuple[str, ...]
    strata: tuple[str, ...]
    statuses: tuple[str, ...]


class Page(NamedTuple):
    """Some rows of a list, and where the next ones begin."""

    rows: tuple[CaseRow, ...]
    total: int
    """Rows of the whole list."""
    after: int | None
    """Rows up to the end of this page; None at the end of the list."""


_NUMBERS: Final = {"position": "INTEGER", "trials": "INTEGER", "missing": "INTEGER"}
_SCORES: Final = ("moved", "right", "expected")
TABLE: Final = TableSpec(
    name="case_list",
    columns={name: "REAL" if name in _SCORES else _NUMBERS.get(name, "TEXT") for name in CaseRow._fields},
    key="position",
    indexes=(("task", "test", "judge"), ("task", "item_id"), ("case_id",)),
)
MISSING: Final = "missing"
"""Stands for every status without a verdict in a filter."""
_EQUAL: Final = ("task", "test", "judge", "variant", "stratum", "item_id")
_CHOICES: Final = ("judge", "test", "variant", "stratum", "status")
_HALF: Final = 0.5


class CaseScore(NamedTuple):
    """What one judge did with one case."""

    case_id: str
    task: str
    test: str
    judge: str
    verdict: str
    right: float | None
    expected: float | None


def case_scores(store: Any) -> list[CaseScore]:
    """Return every case and judge, in plan order; nothing where the list was not made."""
    return [CaseScore._make(row) for row in store.table(TABLE).select(columns=CaseScore._fields)]


def find_cases(store: Any, wanted: CaseFilter, order: CaseOrder, limit: int, start: int = 0) -> Page:
    """Return the first rows that fit, behind the place where an earlier page ended.

    Args:
        store: of the run.
        wanted: which rows.
        order: how they are sorted; equal ones in plan order, those without a score last.
        limit: of rows.
        start: `Page.after` of the page before.
    """
    table = store.table(TABLE)
    where: list[Any] = [(name, "=", value) for name, value in asdict(wanted).items() if value and name in _EQUAL]
    chosen = ((name, getattr(wanted, name)) for name in _SCORES)
    where += [(name, ">" if choice == "yes" else "<=", _HALF) for name, choice in chosen if choice]
    if wanted.status:
        where.append(("missing", ">", 0) if wanted.status == MISSING else ("status", "=", wanted.status))
    if wanted.search or wanted.rationale:
        where.append(("position", "in", _searched(store, table, wanted)))
    total = table.count(where)
    column = "position" if order is CaseOrder.PLAN else f"{order.value}{'_id' if order is CaseOrder.ITEM else ''}"
    rows = table.select(where, order=column, descending=order is CaseOrder.MOVED, limit=limit, start=start)
    end = start + len(rows)
    return Page(rows=tuple(map(CaseRow._make, rows)), total=total, after=end if end < total and rows else None)


def _searched(store: Any, table: Any, wanted: CaseFilter) -> list[int]:
    """Return the positions of the rows whose texts hold what is searched."""
    rows = table.select(columns=("position", "item_id", "case_id", "judge"))
    if wanted.search:
        text, cases = wanted.search.casefold(), set(store.cases.holding(wanted.search))
        rows = [row for row in rows if text in row[1].casefold() or row[2] in cases]
    if wanted.rationale:
        judged = store.records.with_rationale(wanted.rationale)
        rows = [row for row in rows if row[2:] in judged]
    return [row[0] for row in rows]


def choices(store: Any, task: str = "") -> CaseChoices:
    """Return what the rows of a task can be filtered by; of all tasks where it is empty."""
    table = store.table(TABLE)
    where = [("task", "=", task)] if task else []
    return CaseChoices(*(tuple(value for value in table.values(name, where) if value) for name in _CHOICES))


def rows_of(store: Any, **equal: str) -> tuple[CaseRow, ...]:
    """Return the rows whose columns have these values, in plan order."""
    return tuple(map(CaseRow._make, store.table(TABLE).select([(name, "=", value) for name, value in equal.items()])))
