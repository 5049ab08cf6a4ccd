"""What the replies of a run cost: one row per reply and user of it, whether paid now, earlier or by another run."""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from jrh.store.database import Database
from jrh.values.report import SpendLine
from jrh.values.verdicts import Reply, Status

OF_STAGES: Final = "stage:"
"""Starts the owner of the replies that declared stages ask for, which ends with the name of the stage."""

_NOTE: Final = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TRANSIENT: Final = ", ".join(f"'{status.value}'" for status in Status if status.transient)

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
_GATEWAY: Final = f"""
SELECT role, name, model, task, test, count(*), total(cost), sum(cost IS NULL),
    total(prompt_tokens), total(completion_tokens), sum(prompt_tokens IS NULL OR completion_tokens IS NULL)
FROM ({_FIRST_USES}) WHERE nth = 1 GROUP BY role, name, model, task, test
"""  # noqa: S608 - fixed names
# A judge that asks no model of the suite states what its reply cost; a simulated one states what it would have cost.
_STATED: Final = f"""
SELECT 'judge', r.judge, '', r.task, r.test, count(*), total(r.cost), sum(r.cost IS NULL),
    total(r.prompt_tokens), total(r.completion_tokens), sum(r.prompt_tokens IS NULL OR r.completion_tokens IS NULL)
FROM trials t JOIN records r ON r.trial_id = t.id
WHERE NOT r.simulated AND r.reply IS NOT NULL AND (r.cost IS NOT NULL OR r.status NOT IN ({_TRANSIENT}))
    AND NOT EXISTS (SELECT 1 FROM uses u WHERE u.owner = r.trial_id)
GROUP BY r.judge, r.task, r.test
"""  # noqa: S608 - fixed names


class NotSettable(NamedTuple):
    """Replies that were given without a setting, because the model does not have it."""

    model: str
    settings: str
    """Such as `seed, temperature`."""
    role: str
    name: str
    """The suite's name of the component."""
    test: str
    replies: int


class SpendingTable:
    """The replies a run rests on, and for whom."""

    OF_A_REPLY: ClassVar = (_NOTE,)
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
        row = (owner, key, role, *about, model, reply.cost, *tokens, ", ".join(reply.not_settable))
        self._database.writer.put((_NOTE, [row]))

    def not_settable(self) -> list[NotSettable]:
        """Return which replies the run rests on were given without a setting that was asked for."""
        rows = self._database.rows(
            "SELECT model, not_settable, role, name, test, count(*) "  # noqa: S608 - fixed names
            f"FROM ({_FIRST_USES}) WHERE not_settable != '' "
            "GROUP BY model, not_settable, role, name, test ORDER BY model, not_settable, role, name, test"
        )
        return [NotSettable._make(row) for row in rows]

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

    def stated(self) -> float:
        """Return the US dollars that judges state themselves, because they ask no model of the suite."""
        ((dollars,),) = self._database.rows(
            "SELECT total(r.cost) FROM records r WHERE NOT r.simulated AND r.reply IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM uses u WHERE u.owner = r.trial_id)"
        )
        return float(dollars)

    def lines(self) -> tuple[SpendLine, ...]:
        """Add up the replies by role, component, model, task and test."""
        rows = self._database.rows(f"{_GATEWAY} UNION ALL {_STATED}")
        return tuple(
            SpendLine(
                role=role,
                name=name,
                model=model,
                task=task,
                test=test,
                replies=replies,
                cost=round(cost, 12),  # the order of addition must not change the result
                unknown=unknown,
                prompt_tokens=int(prompt),
                completion_tokens=int(completion),
                tokens_unknown=uncounted,
            )
            for role, name, model, task, test, replies, cost, unknown, prompt, completion, uncounted in rows
        )
