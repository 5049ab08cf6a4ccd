"""The plan of a run: its trials, in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from jrh.store.database import Database
from jrh.values.verdicts import Status

_STAGE: Final = "trials"
_TRANSIENT: Final = tuple(status.value for status in Status if status.transient)
_MARKS: Final = ", ".join("?" * len(_TRANSIENT))


class TrialRow(NamedTuple):
    """One trial of the plan."""

    position: int
    trial_id: str
    case_id: str
    judge: str
    repeat: int
    occasion: int
    place: int = 0
    """Number of the test, condition, item, judge and repeat, which has the same occasion in every plan of the run; 0
    where no question is put."""
    question: int = 0
    """Number of the question as put to this judge: no two places share an occasion of it."""


class PendingTrial(NamedTuple):
    """One trial of the plan without its position."""

    trial_id: str
    case_id: str
    judge: str
    repeat: int
    occasion: int


class TrialsTable:
    """The plan, and which of its trials are done."""

    def __init__(self, database: Database) -> None:
        """Use `Store.trials` instead."""
        self._database = database

    def digest(self) -> str | None:
        """Return the id of what the plan was made from, or None if there is no plan."""
        return self._database.digest(_STAGE)

    def replace(self, digest: str, rows: Iterable[TrialRow]) -> None:
        """Replace the plan, and keep the occasions of all plans before it."""
        planned = list(rows)
        self._database.replace(
            _STAGE,
            digest,
            ("DELETE FROM trials", [()]),
            ("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)", [row[:6] for row in planned]),
            (
                "INSERT OR IGNORE INTO occasions VALUES (?, ?, ?)",
                [(row.place, row.question, row.occasion) for row in planned if row.place],
            ),
        )

    def occasions(self) -> list[tuple[int, int, int]]:
        """Return place, question and occasion of every trial that any plan of the run had."""
        rows = self._database.rows("SELECT place, question, occasion FROM occasions")
        return [(place, question, occasion) for place, question, occasion in rows]

    def count(self) -> int:
        """Count the trials of the plan."""
        return int(self._database.rows("SELECT count(*) FROM trials")[0][0])

    def count_done(self) -> int:
        """Count the trials of the plan that have a record."""
        return int(self._database.rows("SELECT count(*) FROM trials t JOIN records r ON r.trial_id = t.id")[0][0])

    def pending(self) -> list[PendingTrial]:
        """Return the trials to run, in plan order: those without a record, or with a transient failure."""
        rows = self._database.rows(
            "SELECT t.id, t.case_id, t.judge, t.repeat, t.occasion FROM trials t "  # noqa: S608 - placeholders only
            "LEFT JOIN records r ON r.trial_id = t.id "
            f"WHERE r.trial_id IS NULL OR r.status IN ({_MARKS}) ORDER BY t.position",
            _TRANSIENT,
        )
        return [PendingTrial._make(row) for row in rows]

    def of_judge(self, judge: str) -> list[PendingTrial]:
        """Return a judge's trials of the plan, in plan order."""
        rows = self._database.rows(
            "SELECT id, case_id, judge, repeat, occasion FROM trials WHERE judge = ? ORDER BY position", (judge,)
        )
        return [PendingTrial._make(row) for row in rows]

    def lasting(self) -> frozenset[str]:
        """Return the ids of the trials that will not be repeated: their record is not a transient failure."""
        rows = self._database.rows(
            f"SELECT trial_id FROM records WHERE status NOT IN ({_MARKS})",  # noqa: S608 - placeholders only
            _TRANSIENT,
        )
        return frozenset(trial for (trial,) in rows)
