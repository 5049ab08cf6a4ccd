"""The calls of a run: an intent before each attempt is sent, an outcome after it."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from jrh.store.database import Database
from jrh.values.report import FaultLine

ANSWERED: Final = ("ok", "refused", "truncated")
"""Outcomes that are answers; every other outcome is the kind of a failure."""
UNKNOWN: Final = "unknown"
"""The outcome of a call that was in flight when the process was killed."""

_INTENT: Final = "INSERT INTO calls (id, key, model, purpose, started, worst) VALUES (?, ?, ?, ?, ?, ?)"
_OUTCOME: Final = "UPDATE calls SET outcome = ?, final = ?, cost = ?, detail = ?, payload = ? WHERE id = ?"
_FINAL: Final = "UPDATE calls SET final = 1 WHERE id = ?"
_LOST: Final = "UPDATE calls SET outcome = ? WHERE outcome IS NULL"
_NO_FAULT: Final = ", ".join(f"'{outcome}'" for outcome in (*ANSWERED, UNKNOWN))


class CallTotals(NamedTuple):
    """What the calls of a run directory add up to."""

    paid: float
    """US dollars of calls with a known cost."""
    uncertain: float
    """Worst case, in US dollars, of calls whose cost is not known."""
    calls: int
    unpriced: int
    """Replies whose price is not known."""


class CallsTable:
    """Every attempt that was sent to a model, by this process and the ones before it."""

    def __init__(self, database: Database) -> None:
        """Use `Store.calls` instead."""
        self._database = database
        self._next = int(database.rows("SELECT coalesce(max(id), 0) FROM calls")[0][0]) + 1
        # The keys alone are kept in memory: asking SQLite for each of many questions that nobody has asked yet costs
        # more than all the keys of a run.
        self._answered = {key for (key,) in database.rows("SELECT key FROM calls WHERE payload IS NOT NULL")}
        self._keys: dict[int, str] = {}
        """Keys of the calls under way."""

    def usable_reply(self, key: str) -> str | None:
        """Return the payload of a reply this run has already paid for, or None."""
        if key not in self._answered:
            return None
        return self._database.text("SELECT payload FROM calls WHERE key = ? AND payload IS NOT NULL LIMIT 1", (key,))

    def intend(
        self, key: str, model: str, purpose: str, started: float, worst: float | None
    ) -> tuple[int, asyncio.Future[None]]:
        """Queue the row of a call about to be sent; return its id and a future that is done when it is durable."""
        call = self._next
        self._next += 1
        self._keys[call] = key
        return call, self._database.writer.commit((_INTENT, [(call, key, model, purpose, started, worst)]))

    def conclude(
        self, call: int, *, outcome: str, final: bool, cost: float | None, detail: str, payload: str | None
    ) -> asyncio.Future[None]:
        """Queue the outcome of a call; return a future that is done when it is durable.

        `payload` is the reply where it can serve again; `final` tells that no further attempt follows.
        """
        key = self._keys.pop(call, None)
        if payload is not None and key is not None:
            self._answered.add(key)
        return self._database.writer.commit((_OUTCOME, [(outcome, final, cost, detail, payload, call)]))

    def mark_final(self, call: int) -> asyncio.Future[None]:
        """Queue the note that no further attempt follows a failed one."""
        return self._database.writer.commit((_FINAL, [(call,)]))

    def settle_lost(self) -> int:
        """Mark the calls that a killed process left without an outcome; return how many calls are of unknown outcome.

        They stay costed at the worst case: the provider may have answered, and may have billed, any of them.
        """
        ((lost,),) = self._database.rows("SELECT count(*) FROM calls WHERE outcome IS NULL")
        if lost:
            self._database.writer.flush((_LOST, [(UNKNOWN,)]))
        ((unknown,),) = self._database.rows("SELECT count(*) FROM calls WHERE outcome = ?", (UNKNOWN,))
        return int(unknown)

    def totals(self) -> CallTotals:
        """Add up what the calls of this run directory cost, those of earlier processes included."""
        (sums,) = self._database.rows(
            "SELECT total(cost), total(CASE WHEN cost IS NULL THEN worst END), count(*), "
            "coalesce(sum(payload IS NOT NULL AND cost IS NULL), 0) FROM calls"
        )
        return CallTotals._make(sums)

    def faults(self) -> tuple[FaultLine, ...]:
        """Count the failed attempts by model and kind."""
        rows = self._database.rows(
            "SELECT model, outcome, count(*), sum(final) FROM calls "  # noqa: S608 - fixed names
            f"WHERE outcome IS NOT NULL AND outcome NOT IN ({_NO_FAULT}) "
            "GROUP BY model, outcome ORDER BY model, outcome"
        )
        return tuple(
            FaultLine(model=model, kind=kind, attempts=attempts, final=final) for model, kind, attempts, final in rows
        )
