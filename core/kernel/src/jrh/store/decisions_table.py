"""The queue of cases that people review, and the log of their decisions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from jrh.store.database import Database
from jrh.values.reviews import Decision, QueuedCase, ReviewAction

_QUEUED: Final = ", ".join(QueuedCase._fields)
_LOG: Final = (
    "case_id, reviewer, made, action, settles, reason, before_texts, after_texts, expected_before, expected_after"
)


class DecisionsTable:
    """Decisions in the order they were made; they outlive every stage of the run."""

    STAGE: ClassVar = "review_queue"

    def __init__(self, database: Database) -> None:
        """Use `Store.decisions` instead."""
        self._database = database

    def queue_digest(self) -> str | None:
        """Return what the queue was made from, or None if there is none."""
        return self._database.digest(self.STAGE)

    def replace_queue(self, digest: str, cases: Sequence[QueuedCase]) -> None:
        """Replace the queue."""
        self._database.replace(
            self.STAGE,
            digest,
            ("DELETE FROM review_queue", [()]),
            (
                f"INSERT INTO review_queue (position, {_QUEUED}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                [(position, *case) for position, case in enumerate(cases)],
            ),
        )

    def queue(self) -> tuple[QueuedCase, ...]:
        """Read the queue, in the order of review."""
        rows = self._database.rows(f"SELECT {_QUEUED} FROM review_queue ORDER BY position")  # noqa: S608
        return tuple(map(QueuedCase._make, rows))

    def candidates(self, reference: str) -> tuple[QueuedCase, ...]:
        """Return every stored case but those of the reference condition, in plan order, with probability 1."""
        rows = self._database.rows(
            "SELECT c.id, c.task, c.test, c.item_id, i.cluster, 1.0 FROM cases AS c "
            "LEFT JOIN items AS i ON i.task = c.task AND i.id = c.item_id "
            "WHERE c.test != ? ORDER BY c.task, c.test, c.position",
            (reference,),
        )
        return tuple(QueuedCase._make((*row[:4], row[4] or row[3], row[5])) for row in rows)

    def original(self, case_id: str, reference: str) -> str | None:
        """Return the id of the reference case of a case's item; None where it is not stored."""
        return self._database.text(
            "SELECT r.id FROM cases AS c JOIN cases AS r ON r.task = c.task AND r.test = ? AND "
            "r.item_id = c.item_id WHERE c.id = ?",
            (reference, case_id),
        )

    def add(self, decisions: Iterable[Decision]) -> None:
        """Append decisions in one transaction; they are durable when this returns."""
        marks = ", ".join("?" * (_LOG.count(",") + 1))
        self._database.writer.flush(
            (f"INSERT INTO decisions ({_LOG}) VALUES ({marks})", [_row(each) for each in decisions])  # noqa: S608
        )

    def last(self) -> int:
        """Return the number of the last decision; 0 where there is none."""
        return int(self._database.rows("SELECT coalesce(max(number), 0) FROM decisions")[0][0])

    def read(self, case_id: str | None = None) -> tuple[Decision, ...]:
        """Read the log, or what it holds about one case."""
        where, values = ("", ()) if case_id is None else ("WHERE case_id = ?", (case_id,))
        rows = self._database.rows(
            f"SELECT number, {_LOG} FROM decisions {where} ORDER BY number",  # noqa: S608 - fixed names
            values,
        )
        return tuple(
            Decision(
                number=row[0],
                case_id=row[1],
                reviewer=row[2],
                made=row[3],
                action=ReviewAction(row[4]),
                settles=bool(row[5]),
                reason=row[6],
                before=json.loads(row[7]),
                after=json.loads(row[8]),
                expected_before=row[9],
                expected_after=row[10],
            )
            for row in rows
        )


def _row(decision: Decision) -> tuple[object, ...]:
    return (
        decision.case_id,
        decision.reviewer,
        decision.made,
        decision.action.value,
        int(decision.settles),
        decision.reason,
        json.dumps(dict(decision.before)),
        json.dumps(dict(decision.after)),
        decision.expected_before,
        decision.expected_after,
    )
