"""The calls of a run: one row per attempt, what models note about them, and what each reply costs and for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import ClassVar, Final, NamedTuple
from zlib import crc32

from attrs import evolve, fields, frozen

from jrh.store.database import TRANSIENT, Database
from jrh.store.temporary import NumberTable, part_of
from jrh.values.report import FaultLine, SpendLine
from jrh.values.verdicts import Reply, ReplySource, Status

ANSWERED: Final = ("ok", "refused", "truncated", "incomplete")
"""Outcomes that are answers. Every other outcome names a kind of failure."""
UNKNOWN: Final = "unknown"
"""The outcome of a call that was in flight when the process was killed."""
NOT_SETTABLE: Final = "not_settable"
"""The outcome of a call with a setting that the model does not have: it was asked again without."""
UNREADABLE: Final = {"key": "", "model": "", "purpose": "", "started": 0.0}
"""What replaces the unreadable columns of a salvaged call; others have no value: its outcome and cost are unknown."""

_INTENT: Final = "INSERT INTO calls (id, key, model, purpose, started, worst) VALUES (?, ?, ?, ?, ?, ?)"
_OUTCOME: Final = (
    "UPDATE calls SET outcome = ?, final = ?, cost = ?, detail = ?, payload = ?, checksum = ? WHERE id = ?"
)
_FINAL: Final = "UPDATE calls SET final = 1 WHERE id = ?"
# Names are one parameter, as JSON: SQLite limits the number of parameters.
_LOST: Final = "UPDATE calls SET outcome = ? WHERE outcome IS NULL AND model NOT IN (SELECT value FROM json_each(?))"
# The attempts are those since the question was last given up.
_PENDING: Final = """
WITH asked AS (
    SELECT key, id, worst, outcome, total(final) OVER (
        PARTITION BY key ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS given_up FROM calls WHERE key IN (
        SELECT key FROM calls WHERE outcome IS NULL AND model IN (SELECT value FROM json_each(?))
    )
)
SELECT key, id, worst, attempts FROM (
    SELECT *, count(*) OVER (PARTITION BY key, given_up ORDER BY id) AS attempts FROM asked
) WHERE outcome IS NULL ORDER BY id
"""
_NO_FAULT: Final = ", ".join(f"'{outcome}'" for outcome in (*ANSWERED, UNKNOWN, NOT_SETTABLE))


@frozen(kw_only=True)
class Spent:
    """Sums of what has been spent, for display."""

    paid: float
    """US dollars for calls of known cost, in this run directory."""
    uncertain: float
    """Worst-case cost, in US dollars, of calls with unknown outcome: lost connections, timeouts, kills."""
    calls: int
    """Number of attempts sent, in this run directory."""
    unpriced: int
    """Number of replies of unknown price."""
    earlier: float = 0.0
    """The part of `paid` that earlier processes paid, in this run directory."""
    unbounded: int = 0
    """Number of calls of unknown cost that has no upper bound, or one that the provider contradicted."""
    contradicted: int = 0
    """Number of replies, in this process, whose bill contradicts the most they could cost."""


class Overbilled(NamedTuple):
    """What calls of a model cost at most, relative to their worst case by price and longest reply."""

    factor: float
    """At least 1."""
    excess: float
    """US dollars above the worst case."""


class BilledBeyond(NamedTuple):
    """Questions that cost more than they could, of one model."""

    model: str
    calls: int
    cost: float
    """US dollars billed."""
    worst: float
    """US dollars that they could cost at most."""
    factor: float
    """Highest cost relative to that."""


class CallsTable:
    """Every attempt sent to a model by this process and earlier ones."""

    OF_A_CALL: ClassVar = (_INTENT, _OUTCOME, _FINAL)
    """What is written of a call, in this order."""

    def __init__(self, database: Database) -> None:
        """Use `Store.calls` instead."""
        self._database = database
        self._keys: dict[int, str] = {}
        """Call id -> key, for calls in flight."""
        self._pending: dict[str, tuple[int, float | None, int]] = {}
        """Key -> id, worst case and number of attempts of a call that an earlier process handed over."""

    @cached_property
    def _next(self) -> int:
        return int(self._database.rows("SELECT coalesce(max(id), 0) FROM calls")[0][0]) + 1

    @cached_property
    def _reply_keys(self) -> NumberTable:
        """Return parts of the keys of stored replies, read when the first is asked for.

        Most questions have no stored reply. A table says so much faster than a query per question, and where two keys
        share this part, the query decides.
        """
        replies = NumberTable()
        for rows in self._database.chunks("SELECT key FROM calls WHERE payload IS NOT NULL"):
            for (key,) in rows:
                replies.put(part_of(key), 1)
        return replies

    def usable_reply(self, key: str) -> str | None:
        """Return the stored reply to a question, or None if this run has not paid for one."""
        # The table is complete: replies of this process are added as they are stored.
        if not self._reply_keys.get(part_of(key)):
            return None
        return self._database.text("SELECT payload FROM calls WHERE key = ? AND payload IS NOT NULL LIMIT 1", (key,))

    def intend(
        self, key: str, model: str, purpose: str, started: float, worst: float | None
    ) -> tuple[int, asyncio.Future[None]]:
        """Queue the row of a call about to be sent; return its id and a future that completes once it is durable."""
        # Numbered here and not by SQLite: the caller needs the number before the row is written.
        call = self._next
        self._next += 1
        self._keys[call] = key
        return call, self._database.writer.commit((_INTENT, [(call, key, model, purpose, started, worst)]), first=True)

    def resume(self, key: str) -> tuple[int, float | None, int] | None:
        """Return id, worst case and attempts of a deferred model's call that is still in flight, once; or None."""
        call = self._pending.pop(key, None)
        if call is not None:
            self._keys[call[0]] = key
        return call

    def conclude(
        self, call: int, *, outcome: str, final: bool, cost: float | None, detail: str, payload: str | None
    ) -> asyncio.Future[None]:
        """Queue the outcome of a call; return a future that completes once it is durable.

        `payload` is the reply if it can be reused; `final` means no further attempt follows.
        """
        key = self._keys.pop(call, None)
        if payload is not None and key is not None:
            self._reply_keys.put(part_of(key), 1)
        summed = None if payload is None else checksum(payload)
        return self._database.writer.commit((_OUTCOME, [(outcome, final, cost, detail, payload, summed, call)]))

    def mark_final(self, call: int) -> asyncio.Future[None]:
        """Queue a mark that no further attempt follows a failed one."""
        # A separate statement: whether another attempt follows is known only after the outcome was written.
        return self._database.writer.commit((_FINAL, [(call,)]))

    def settle_lost(self, deferred: Collection[str] = ()) -> int:
        """Mark calls that a killed process left without an outcome; return the number of calls with unknown outcome.

        They stay costed at the worst case, because the provider may have answered and billed them. Calls of deferred
        models are not lost: `resume` returns them.
        """
        names = json.dumps(sorted(deferred))
        pending = self._database.rows(_PENDING, (names,))
        self._pending = {key: (row, worst, attempts) for key, row, worst, attempts in pending}
        ((open_calls,),) = self._database.rows("SELECT count(*) FROM calls WHERE outcome IS NULL")
        # Nothing is written where nothing was lost, as in most runs.
        if open_calls > len(self._pending):
            self._database.writer.flush((_LOST, [(UNKNOWN, names)]))
        ((unknown,),) = self._database.rows("SELECT count(*) FROM calls WHERE outcome = ?", (UNKNOWN,))
        return int(unknown)

    @cached_property
    def _given_up(self) -> Mapping[str, int]:
        """Return the keys of calls that failed after all their retries, with the id of the first."""
        return dict(self._database.rows("SELECT key, min(id) FROM calls WHERE final AND payload IS NULL GROUP BY key"))

    def given_up_before(self, key: str, call: int) -> bool:
        """Tell whether an earlier call with this key failed after all its retries."""
        return self._given_up.get(key, call) < call

    def totals(self) -> Spent:
        """Add up the calls of this run directory, including those of earlier processes."""
        ((paid, calls, unpriced, unbounded),) = self._database.rows(
            "SELECT total(cost), count(*), coalesce(sum(payload IS NOT NULL AND cost IS NULL), 0), "
            "coalesce(sum(cost IS NULL AND worst IS NULL), 0) FROM calls"
        )
        unknown = self._database.rows("SELECT model, total(worst) FROM calls WHERE cost IS NULL GROUP BY model")
        uncertain = sum(worst * self.overbilled(model).factor for model, worst in unknown)
        return Spent(paid=paid, uncertain=uncertain, calls=calls, unpriced=unpriced, unbounded=unbounded)

    def overbilled(self, model: str) -> Overbilled:
        """Return what the calls of a model cost at most, relative to their worst case by price."""
        rows = self._database.rows(
            # The preflight's question is tiny, so it counts only until another one is answered.
            "SELECT max(cost / worst), max(cost - worst) FROM calls WHERE model = ? AND cost IS NOT NULL AND worst > 0 "
            "GROUP BY purpose = 'preflight' ORDER BY purpose = 'preflight'",
            (model,),
        )
        factor, excess = rows[0] if rows else (1.0, 0.0)
        return Overbilled(max(factor, 1.0), max(excess, 0.0))

    def models_over_price(self) -> list[BilledBeyond]:
        """Return the models whose calls cost more than they could, by price and longest reply."""
        rows = self._database.rows(
            # Each question once, as answered first, so that a run that was killed says the same as one that was not.
            "SELECT model, count(*), sum(cost), sum(worst), max(cost / worst) FROM ("
            "SELECT model, cost, worst, min(id) FROM calls WHERE payload IS NOT NULL GROUP BY model, key) "
            # Costs are products of decimal prices: the last digit may differ.
            "WHERE cost > worst + 1e-9 GROUP BY model ORDER BY model"
        )
        return [BilledBeyond._make(row) for row in rows]

    def last_outcome(self, model: str) -> str:
        """Return the outcome of the last call of a model that has one; empty without."""
        sql = "SELECT outcome FROM calls WHERE model = ? AND outcome != ? ORDER BY id DESC LIMIT 1"
        return next((str(outcome) for (outcome,) in self._database.rows(sql, (model, UNKNOWN))), "")

    def faults(self) -> tuple[FaultLine, ...]:
        """Count failed attempts by model and kind."""
        rows = self._database.rows(
            "SELECT model, outcome, count(*), sum(final) FROM calls "  # noqa: S608 - fixed names
            f"WHERE outcome IS NOT NULL AND outcome NOT IN ({_NO_FAULT}) "
            "GROUP BY model, outcome ORDER BY model, outcome"
        )
        return tuple(
            FaultLine(model=model, kind=kind, attempts=attempts, final=final) for model, kind, attempts, final in rows
        )


def checksum(payload: str) -> int:
    """Return the checksum of a stored reply: one that changed is left out when a damaged store is salvaged."""
    return crc32(payload.encode("utf-8", "surrogatepass"))


_WRITE_NOTE: Final = "INSERT OR REPLACE INTO model_notes (model, name, value) VALUES (?, ?, ?)"
_DELETE_NOTE: Final = "DELETE FROM model_notes WHERE model = ? AND name = ?"


class NotesTable:
    """Texts by model and name, which outlive the process."""

    def __init__(self, database: Database) -> None:
        """Use `Store.notes` instead."""
        self._database = database

    def read(self, model: str) -> Mapping[str, str]:
        """Return all notes of a model, in the order of their names."""
        return dict(self._database.rows("SELECT name, value FROM model_notes WHERE model = ? ORDER BY name", (model,)))

    def write(self, model: str, name: str, text: str) -> asyncio.Future[None]:
        """Queue a note, or its deletion where the text is empty; return a future that completes once it is durable."""
        statement = (_WRITE_NOTE, [(model, name, text)]) if text else (_DELETE_NOTE, [(model, name)])
        return self._database.writer.commit(statement)


OF_STAGES: Final = "stage:"
"""Starts the owner of the replies that declared stages ask for, which ends with the name of the stage."""

_NOTE_USE: Final = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_OF_A_LINE: Final = tuple(field.name for field in fields(SpendLine))

# Every reply once: by its first user, drafting before judging, judging in plan order. The order depends on nothing that
# differs between equal runs, such as which of two equal requests was sent first.
_FIRST_USES: Final = """
SELECT *, row_number() OVER (
    PARTITION BY key ORDER BY position, role, task, test, name, owner
) AS nth FROM (
    SELECT u.*, coalesce(t.position, -1) AS position FROM uses u LEFT JOIN trials t ON t.id = u.owner
    WHERE u.role != 'judge' OR t.id IS NOT NULL
)
"""
_SUMS: Final = """count(*), total(cost), sum(cost IS NULL),
    CAST(total(prompt_tokens) AS INTEGER), CAST(total(completion_tokens) AS INTEGER),
    sum(prompt_tokens IS NULL OR completion_tokens IS NULL)"""
_GATEWAY: Final = f"""
SELECT role, name, model, task, test, {_SUMS}, CAST(total(cached_tokens) AS INTEGER), total(saved)
FROM ({_FIRST_USES}) WHERE nth = 1 GROUP BY role, name, model, task, test
"""  # noqa: S608 - fixed names
_SOURCE: Final = ", ".join(ReplySource._fields[:-2])
# A reply that the run has no call for was another run's: resuming a run reuses nothing.
_SOURCES: Final = f"""
SELECT {_SOURCE}, count(*), sum(nth = 1) FROM (
    SELECT *, NOT EXISTS (SELECT 1 FROM calls c WHERE c.key = u.key AND c.payload IS NOT NULL) AS reused
    FROM ({_FIRST_USES}) u
) GROUP BY {_SOURCE} ORDER BY {_SOURCE}
"""  # noqa: S608 - fixed names
# A judge that asks no model of the suite states what its reply cost; a simulated one states what it would have cost.
# One that hands back a verdict without a reply may have called anything: its price is unknown.
_STATED: Final = f"""
SELECT 'judge', r.judge, '', r.task, r.test, {_SUMS}, 0, 0.0
FROM trials t JOIN records r ON r.trial_id = t.id
WHERE NOT r.simulated AND (r.reply IS NOT NULL OR r.status != '{Status.PLUGIN_ERROR.value}')
    AND (r.cost IS NOT NULL OR r.status NOT IN ({TRANSIENT}))
    AND NOT EXISTS (SELECT 1 FROM uses u WHERE u.owner = r.trial_id)
GROUP BY r.judge, r.task, r.test
"""  # noqa: S608 - fixed names


class SpendingTable:
    """The replies a run rests on, and for whom."""

    OF_A_REPLY: ClassVar = (_NOTE_USE,)
    """What is written of the use of a reply."""

    def __init__(self, database: Database) -> None:
        """Use `Store.spending` instead."""
        self._database = database

    def note(self, owner: str, key: str, reply: Reply, *, role: str, model: str, about: tuple[str, str, str]) -> None:
        """Queue a use of a reply; noting it again changes nothing.

        Args:
            owner: the trial, or the digest of the stage that drafts.
            key: of the request.
            reply: what came back, with its cost.
            role: of the user.
            model: the suite's name of the model.
            about: the user's name, task and test.
        """
        tokens = reply.usage.prompt_tokens, reply.usage.completion_tokens
        cached = reply.usage.cached_tokens, reply.saved
        row = (
            owner,
            key,
            role,
            *about,
            model,
            reply.cost,
            *tokens,
            ", ".join(reply.not_settable),
            reply.model_version,
            reply.answered,
            *cached,
        )
        self._database.writer.put((_NOTE_USE, [row]))

    def sources(self) -> list[ReplySource]:
        """Return where the replies come from that the run rests on, in the order of models."""
        return [ReplySource._make(row) for row in self._database.rows(_SOURCES)]

    def forget_drafts(self, task: str, test: str, owner: str) -> None:
        """Forget what other drafts of a test used; these are made by `owner`."""
        sql = (
            "DELETE FROM uses WHERE task = ? AND test = ? AND role NOT IN ('judge', 'preflight') "
            "AND owner != ? AND owner NOT GLOB ?"
        )
        self._database.writer.put((sql, [(task, test, owner, f"{OF_STAGES}*")]))

    def forget_stage(self, name: str) -> None:
        """Forget what a declared stage used: it is booked again when the stage works again."""
        self._database.writer.put(("DELETE FROM uses WHERE owner = ?", [(f"{OF_STAGES}{name}",)]))

    def judge_costs(self) -> float:
        """Return the US dollars that judges state themselves, because they ask no model of the suite."""
        ((dollars,),) = self._database.rows(
            "SELECT total(r.cost) FROM records r WHERE NOT r.simulated AND r.reply IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM uses u WHERE u.owner = r.trial_id)"
        )
        return float(dollars)

    def lines(self) -> tuple[SpendLine, ...]:
        """Add up the replies by role, component, model, task and test."""
        rows = self._database.rows(f"{_GATEWAY} UNION ALL {_STATED}")
        lines = (SpendLine(**dict(zip(_OF_A_LINE, row, strict=True))) for row in rows)
        # The order of addition must not change the result.
        return tuple(evolve(line, cost=round(line.cost, 12), saved=round(line.saved, 12)) for line in lines)
