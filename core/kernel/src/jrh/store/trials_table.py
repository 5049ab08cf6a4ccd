"""The plan of a run: its trials, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from jrh.store.database import CHUNK, Database
from jrh.store.writer import Statement
from jrh.values.verdicts import Status

GROWING: Final = "growing"
"""Digest of a plan whose later trials are still to come."""
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
    """One trial of the plan as it is put."""

    trial_id: str
    case_id: str
    judge: str
    repeat: int
    occasion: int
    position: int


_FORGET: Final[Statement] = ("DELETE FROM new_trials", [()])
_PENDING: Final = (
    f"FROM trials t LEFT JOIN records r ON r.trial_id = t.id WHERE (r.trial_id IS NULL OR r.status IN ({_MARKS}))"
)
_NAMES: Final = ", ".join(f"'{status}'" for status in _TRANSIENT)
# An index tells which trials have a record; going through the records for their status is a separate, short way.
_PENDING_BY_JUDGE: Final = (
    "SELECT judge, count(*) FROM trials t "  # noqa: S608 - fixed names
    "WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.trial_id = t.id) "
    f"OR t.id IN (SELECT trial_id FROM records WHERE status IN ({_NAMES})) GROUP BY judge"
)


class TrialsTable:
    """The plan, and which of its trials are done."""

    def __init__(self, database: Database) -> None:
        """Use `Store.trials` instead."""
        self._database = database

    def digest(self) -> str | None:
        """Return the id of what the plan was made from, or None if there is no plan."""
        return self._database.digest(_STAGE)

    def grows(self) -> bool:
        """Tell whether later trials are still to be planned."""
        return self.digest() == GROWING

    def replace(self, digest: str, rows: Iterable[TrialRow]) -> None:
        """Replace the plan, and keep the occasions of all plans before it."""
        feed = iter(rows)
        self._database.writer.flush(_FORGET)
        while some := list(islice(feed, CHUNK)):
            self._database.writer.flush(
                ("INSERT INTO new_trials VALUES (?, ?, ?, ?, ?, ?)", [row[:6] for row in some]), _occasions(some)
            )
        self._database.replace(
            _STAGE,
            digest,
            ("DELETE FROM trials", [()]),
            ("INSERT INTO trials SELECT * FROM new_trials", [()]),
            _FORGET,
        )

    def begin(self) -> None:
        """Begin a plan that grows, in place of one that was never finished; keep the occasions of all plans."""
        self._database.replace(_STAGE, GROWING, ("DELETE FROM trials", [()]))

    def reopen(self) -> None:
        """Note that cases are made anew, so that a plan of earlier cases is not called complete."""
        if self.digest() not in (None, GROWING):
            self._database.replace(_STAGE, GROWING)

    def extend(self, rows: Sequence[TrialRow]) -> None:
        """Add trials to the plan that grows, durably; they may be put from now on."""
        self._database.writer.flush(
            ("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)", [row[:6] for row in rows]), _occasions(rows)
        )

    def finish(self, digest: str) -> None:
        """Note what the plan was made from, now that all of it is there."""
        self._database.replace(_STAGE, digest)

    def occasions(self) -> Iterator[tuple[int, int, int]]:
        """Yield place, question and occasion of every trial that any plan of the run had."""
        for rows in self._database.chunks("SELECT place, question, occasion FROM occasions"):
            yield from rows

    def count(self) -> int:
        """Count the trials of the plan."""
        return int(self._database.rows("SELECT count(*) FROM trials")[0][0])

    def count_done(self) -> int:
        """Count the trials of the plan that have a record."""
        return int(self._database.rows("SELECT count(*) FROM trials t JOIN records r ON r.trial_id = t.id")[0][0])

    def pending(self, judge: str, *, after: int = -1, limit: int = -1) -> list[PendingTrial]:
        """Return a judge's trials to run, in plan order: those without a record, or with a transient failure.

        Args:
            judge: its name.
            after: the position of the last one known.
            limit: most rows; without it all.
        """
        rows = self._database.rows(
            f"SELECT t.id, t.case_id, t.judge, t.repeat, t.occasion, t.position {_PENDING} "
            "AND t.judge = ? AND t.position > ? ORDER BY t.position LIMIT ?",
            (*_TRANSIENT, judge, after, limit),
        )
        return [PendingTrial._make(row) for row in rows]

    def count_pending(self) -> int:
        """Count the trials to run."""
        return sum(trials for _, trials in self._database.rows(_PENDING_BY_JUDGE))

    def judges_with_pending(self) -> frozenset[str]:
        """Return the judges that have trials to run."""
        return frozenset(judge for judge, _ in self._database.rows(_PENDING_BY_JUDGE))

    def of_judge(self, judge: str) -> Iterator[list[PendingTrial]]:
        """Yield a judge's trials of the plan some at a time, in plan order."""
        sql = (
            "SELECT position, id, case_id, judge, repeat, occasion, position FROM trials "
            "WHERE judge = ? AND position > ? ORDER BY position LIMIT ?"
        )
        for rows in self._database.pages(sql, judge):
            yield [PendingTrial._make(row[1:]) for row in rows]

    def lasting(self, trial_ids: Sequence[str]) -> frozenset[str]:
        """Return those of some trials that will not be repeated: their record is not a transient failure."""
        sql = f"SELECT trial_id FROM records WHERE status NOT IN ({_MARKS}) AND trial_id IN ({{ids}})"  # noqa: S608
        return frozenset(trial for (trial,) in self._database.by_id(sql, trial_ids, *_TRANSIENT))


def _occasions(rows: Sequence[TrialRow]) -> Statement:
    return (
        "INSERT OR IGNORE INTO occasions VALUES (?, ?, ?)",
        [(row.place, row.question, row.occasion) for row in rows if row.place],
    )
