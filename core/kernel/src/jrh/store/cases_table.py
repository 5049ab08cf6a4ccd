"""The cases of a run, and the outcome of every draft."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from jrh.document.serial import from_text, to_text
from jrh.store.database import Database
from jrh.text.plain import utf8_text
from jrh.values.cases import Case, Draft, Skip

KEPT: Final = "kept"
REJECTED: Final = "rejected"
SKIPPED: Final = "skipped"
"""Outcomes of a draft. A skipped one has no text: the perturber could not treat the item."""


class DraftRow(NamedTuple):
    """The outcome of one draft or skip."""

    item_id: str
    draft: Draft | Skip
    state: str
    reason: str
    """Why it did not become a case; empty if it did."""


class DraftCount(NamedTuple):
    """The number of drafts with one state and reason."""

    state: str
    reason: str
    drafts: int


class CasesTable:
    """Cases and drafts, one test of one task at a time."""

    def __init__(self, database: Database) -> None:
        """Use `Store.cases` instead."""
        self._database = database

    def digest(self, task: str, test: str) -> str | None:
        """Return the id of what a test's cases were made from, or None if they were never finished."""
        return self._database.digest(_stage(task, test))

    def replace(self, task: str, test: str, digest: str, cases: Sequence[Case], drafts: Sequence[DraftRow]) -> None:
        """Replace the cases and drafts of one test over one task."""
        here = (task, test)
        self._database.replace(
            _stage(task, test),
            digest,
            ("DELETE FROM cases WHERE task = ? AND test = ?", [here]),
            ("DELETE FROM drafts WHERE task = ? AND test = ?", [here]),
            (
                "INSERT INTO cases VALUES (?, ?, ?, ?, ?)",
                [(*here, position, case.id, to_text(case)) for position, case in enumerate(cases)],
            ),
            (
                "INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*here, position, *_draft_columns(row)) for position, row in enumerate(drafts)],
            ),
        )

    def read(self, task: str, test: str) -> tuple[Case, ...]:
        """Read the cases of one test over one task, in order."""
        rows = self._database.rows(
            "SELECT payload FROM cases WHERE task = ? AND test = ? ORDER BY position", (task, test)
        )
        return tuple(from_text(Case, payload) for (payload,) in rows)

    def by_id(self, case_ids: Sequence[str]) -> dict[str, Case]:
        """Read cases by id; ids that are not stored are left out."""
        found: dict[str, Case] = {}
        for table in ("cases", "edited_cases"):
            sql = f"SELECT id, payload FROM {table} WHERE id IN ({{ids}})"  # noqa: S608 - fixed names
            rows = self._database.texts_by_id(sql, [each for each in case_ids if each not in found])
            found.update((case_id, from_text(Case, text)) for case_id, text in rows)
        return found

    def edited_ids(self) -> frozenset[str]:
        """Return the ids of the cases that stand for others, which people edited."""
        return frozenset(case_id for (case_id,) in self._database.rows("SELECT id FROM edited_cases"))

    def keep_edited(self, cases: Sequence[Case]) -> None:
        """Keep the cases that stand for others, which people edited, and forget those that do not any more."""
        rows = [(case.id, to_text(case)) for case in cases]
        if self._database.rows("SELECT id, payload FROM edited_cases ORDER BY id") != sorted(rows):
            self._database.writer.flush(
                ("DELETE FROM edited_cases", [()]), ("INSERT INTO edited_cases VALUES (?, ?)", rows)
            )

    def count_drafts(self, task: str, test: str) -> list[DraftCount]:
        """Count a test's drafts by state and reason, ordered by reason."""
        rows = self._database.rows(
            "SELECT state, reason, count(*) FROM drafts WHERE task = ? AND test = ? "
            "GROUP BY state, reason ORDER BY reason",
            (task, test),
        )
        return [DraftCount._make(row) for row in rows]

    def count_items(self, task: str, test: str) -> int:
        """Count the items that a test has drafts of."""
        rows = self._database.rows(
            "SELECT count(DISTINCT item_id) FROM drafts WHERE task = ? AND test = ?", (task, test)
        )
        return int(rows[0][0])

    def draft_details(self, task: str, test: str, mentioning: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield (item id, details) of a test's accepted and rejected drafts whose text contains a key.

        Most drafts do not, and searching JSON text is much cheaper than parsing it.
        """
        rows = self._database.rows(
            "SELECT item_id, payload FROM drafts WHERE task = ? AND test = ? AND state != ? AND instr(payload, ?) "
            "ORDER BY position",
            (task, test, SKIPPED, f'"{mentioning}"'),
        )
        for item_id, payload in rows:
            yield item_id, json.loads(payload)["details"]


def _stage(task: str, test: str) -> str:
    return f"cases:{task}:{test}"


def _draft_columns(row: DraftRow) -> tuple[str, str, str, str, str]:
    return row.item_id, utf8_text(row.draft.variant), row.state, utf8_text(row.reason), to_text(row.draft)
