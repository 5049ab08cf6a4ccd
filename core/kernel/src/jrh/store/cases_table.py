"""The items of a run, its cases, and the outcome of every draft."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from jrh.document.convert import compact, from_plain, from_text, to_json, to_text
from jrh.hashing import ID_LENGTH, canonical_json, content_id
from jrh.store.database import Database
from jrh.store.temporary import IN_MEMORY
from jrh.store.texts_table import NOTHING, SWEEP, Packer, Shared, TextsTable
from jrh.store.writer import Statement
from jrh.text.display import flat_text, utf8_text
from jrh.values.cases import Case, Draft, Skip
from jrh.values.clusters import BLOCK, ItemBlocks, clusters_of
from jrh.values.item_covariates import GoldSource, write_covariates
from jrh.values.items import Item

_ITEMS: Final = "items"
_INSERT_ITEM: Final = "INSERT INTO new_items VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET_ITEMS: Final[Statement] = ("DELETE FROM new_items", [()])


class ItemsTable:
    """Items as read from the data sources and sampled for this run."""

    def __init__(self, database: Database) -> None:
        """Use `Store.items` instead."""
        self._database = database
        self._texts = TextsTable(database)

    def digest(self) -> str | None:
        """Return the id of all items, or None if none were written."""
        return self._database.digest(_ITEMS)

    def write(self, items: Mapping[str, Sequence[Item]]) -> dict[str, str]:
        """Write the items of every task unless they are already stored; return the id of each task's items."""
        ids = items_ids(items)
        digest = content_id(ids)
        if self.digest() != digest:
            self._database.writer.flush(_FORGET_ITEMS)
            for task, chosen in items.items():
                self._stage(task, chosen)
            # The sweep comes last: until the new items are in place, the old ones need their texts.
            move = ("INSERT INTO items SELECT * FROM new_items", [()])
            self._database.replace(_ITEMS, digest, ("DELETE FROM items", [()]), move, _FORGET_ITEMS, SWEEP)
        return ids

    def _stage(self, task: str, items: Sequence[Item]) -> None:
        """Gather the rows of a task, a block at a time."""
        clusters = clusters_of(items)
        feed = iter(items)
        form = ""
        place = 0
        while some := list(islice(feed, BLOCK)):
            values = [_plain(item) for item in some]
            # Items are packed against the first one, whose form is theirs; their long texts are stored apart.
            form = form or compact(values[0] | {"fields": {}})
            packer = self._texts.packer()
            shared = packer.share([form])
            packed = [packer.pack(value, shared, NOTHING, value) for value in values]
            rows = [
                (task, number, item.id, clusters[item.id], _gold_source(item), write_covariates(item.covariates), *blob)
                for number, (item, blob) in enumerate(zip(some, packed, strict=True), place)
            ]
            self._database.writer.flush(packer.statement, (_INSERT_ITEM, rows))
            place += len(some)

    def read(self) -> dict[str, Sequence[Item]]:
        """Return the items of every task, few of them at once in memory; empty for records imported without items."""
        counted = self._database.rows("SELECT task, count(*) FROM items GROUP BY task ORDER BY task")
        blocks = {task: ItemBlocks(number, partial(self._between, task)) for task, number in counted}
        return {task: items if len(items) > IN_MEMORY else tuple(items) for task, items in blocks.items()}

    def _between(self, task: str, start: int, stop: int) -> list[Item]:
        rows = self._database.rows(
            "SELECT texts, payload FROM items WHERE task = ? AND position >= ? AND position < ? ORDER BY position",
            (task, start, stop),
        )
        return [from_plain(Item, value) for value in self._texts.unpack(rows)]

    def find(self, task: str, item_id: str) -> Item | None:
        """Read one item; None where it is not stored, as of records imported without items."""
        rows = self._database.rows("SELECT texts, payload FROM items WHERE task = ? AND id = ?", (task, item_id))
        return next((from_plain(Item, value) for value in self._texts.unpack(rows)), None)


def _plain(thing: Item | Case | Draft | Skip) -> dict[str, Any]:
    value = to_json(thing)
    assert isinstance(value, dict)
    return value


def _gold_source(item: Item) -> str:
    return GoldSource.read(item.gold_source).text if item.gold is not None and item.gold_source else ""


def id_of_list(texts: Iterable[str], *parts: object) -> str:
    """Return `content_id(list(texts), *parts)` without holding the list."""
    # Byte for byte what `content_id` hashes, so that both give the same id.
    digest = hashlib.sha256(b"[[")
    for place, text in enumerate(texts):
        digest.update(("," * (place > 0) + canonical_json(text)).encode("utf-8", "surrogatepass"))
    more = "".join(f",{canonical_json(part)}" for part in parts)
    digest.update(f"]{more}]".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:ID_LENGTH]


def items_ids(items: Mapping[str, Sequence[Item]]) -> dict[str, str]:
    """Return the ids of the items of every task."""
    return {task: items_id(chosen) for task, chosen in items.items()}


def items_id(items: Sequence[Item]) -> str:
    """Return the id of a task's items, as `ItemsTable.write` does."""
    if not isinstance(items, ItemBlocks):
        return id_of_list(map(to_text, items))
    items.known_id = items.known_id or id_of_list(map(to_text, items))
    return items.known_id


KEPT: Final = "kept"
REJECTED: Final = "rejected"
SKIPPED: Final = "skipped"
"""Outcomes of a draft. A skipped one has no text: the perturber could not treat the item."""
VOTES: Final = "votes"
"""Key of a draft's details that validators report votes under."""


class DraftRow(NamedTuple):
    """The outcome of one draft or skip."""

    item_id: str
    draft: Draft | Skip
    state: str
    reason: str
    """Why it did not become a case; empty if it did."""
    case_id: str | None = None
    """The case it became: its texts are not stored again."""


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
        self._texts = TextsTable(database)

    def digest(self, task: str, test: str) -> str | None:
        """Return the id of what a test's cases were made from, or None if they were never finished."""
        return self._database.digest(_stage_of(task, test))

    def writing(self, task: str, test: str) -> CasesWriting:
        """Begin to replace the cases and drafts of one test over one task; one at a time."""
        return CasesWriting(self._database, self._texts, task, test)

    def iterate(self, task: str, test: str) -> Iterator[Case]:
        """Yield the cases of one test over one task, in order, read in slices."""
        sql = (
            "SELECT position, texts, payload FROM cases WHERE task = ? AND test = ? AND position > ? "
            "ORDER BY position LIMIT ?"
        )
        for rows in self._database.pages(sql, task, test):
            yield from (from_plain(Case, value) for value in self._texts.unpack([row[1:] for row in rows]))

    def ids(self, task: str, test: str) -> Iterator[str]:
        """Yield the ids of the cases of one test over one task, in order."""
        sql = "SELECT position, id FROM cases WHERE task = ? AND test = ? AND position > ? ORDER BY position LIMIT ?"
        for rows in self._database.pages(sql, task, test):
            yield from (row[1] for row in rows)

    def by_id(self, case_ids: Sequence[str]) -> dict[str, Case]:
        """Read cases by id; ids that are not stored are left out."""
        rows = list(self._database.by_id("SELECT id, texts, payload FROM cases WHERE id IN ({ids})", case_ids))
        values = self._texts.unpack([row[1:] for row in rows])
        cases = {row[0]: from_plain(Case, value) for row, value in zip(rows, values, strict=True)}
        # Cases that count in place of others are few, and stored apart.
        cases.update((case.id, case) for case in self._read_revisions([name for name in case_ids if name not in cases]))
        return cases

    def places(self) -> list[tuple[str, str, str, str, str]]:
        """Return id, task, test, item and cluster of every stored case, in the order of task, test and plan."""
        rows = self._database.rows(
            "SELECT c.id, c.task, c.test, c.item_id, i.cluster FROM cases AS c "
            "LEFT JOIN items AS i ON i.task = c.task AND i.id = c.item_id ORDER BY c.task, c.test, c.position"
        )
        return [(case, task, test, item, cluster or item) for case, task, test, item, cluster in rows]

    def of_item(self, task: str, test: str, item_id: str) -> Case | None:
        """Return the first case of an item in a test; None where none is stored."""
        sql = "SELECT id FROM cases WHERE task = ? AND test = ? AND item_id = ? ORDER BY position LIMIT 1"
        case_id = self._database.text(sql, (task, test, item_id))
        return None if case_id is None else self.by_id([case_id])[case_id]

    def ids_of_revisions(self) -> frozenset[str]:
        """Return the ids of the cases that count in place of others."""
        return frozenset(case_id for (case_id,) in self._database.rows("SELECT id FROM revised_cases"))

    def validity(self) -> dict[str, bool]:
        """Return which cases were decided on, and whether they are valid as they were made."""
        return dict(json.loads(self._database.meta(_VALID) or "{}"))

    def _read_revisions(self, case_ids: Sequence[str]) -> Iterator[Case]:
        texts = self._database.by_id("SELECT id, payload FROM revised_cases WHERE id IN ({ids})", case_ids)
        yield from (from_text(Case, text) for _, text in texts)

    def keep_revised(self, cases: Sequence[Case], valid: Mapping[str, bool]) -> None:
        """Keep the cases that count in place of others and what was decided about cases, and forget those of before."""
        rows = [(case.id, to_text(case)) for case in cases]
        if self._database.rows("SELECT id, payload FROM revised_cases ORDER BY id") != sorted(rows):
            self._database.writer.flush(
                ("DELETE FROM revised_cases", [()]), ("INSERT INTO revised_cases VALUES (?, ?)", rows)
            )
        # What is unchanged is not written: every write waits for the disk.
        if self.validity() != valid:
            self._database.set_meta(_VALID, json.dumps(dict(sorted(valid.items()))))

    def search_fields(self, wanted: str) -> list[str]:
        """Return the ids of the cases with a text in a field, in upper or lower case."""
        # Texts are compressed, so SQLite cannot search them.
        wanted = wanted.casefold()
        ids = []
        for rows in self._database.chunks("SELECT id, texts, payload FROM cases"):
            fields = (flat_text(value["fields"]) for value in self._texts.unpack([row[1:] for row in rows]))
            ids += [row[0] for row, text in zip(rows, fields, strict=True) if wanted in text.casefold()]
        revised = self._read_revisions(sorted(self.ids_of_revisions()))
        return ids + [case.id for case in revised if wanted in flat_text(case.fields).casefold()]

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
        sql = "SELECT count(DISTINCT item_id) FROM drafts WHERE task = ? AND test = ?"
        return int(self._database.rows(sql, (task, test))[0][0])

    def drafts_with_votes(self, task: str, test: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield (cluster, details) of a test's accepted and rejected drafts that validators report votes on."""
        sql = (
            "SELECT d.position, coalesce(i.cluster, d.item_id), coalesce(c.texts, d.texts), "
            "coalesce(c.payload, d.payload) FROM drafts d LEFT JOIN cases c ON c.id = d.case_id "
            # Why the index is named: see `_WITH_ITEMS` in `records_table`.
            "LEFT JOIN items i INDEXED BY items_by_id ON i.task = d.task AND i.id = d.item_id "
            "WHERE d.task = ? AND d.test = ? AND d.state != ? AND d.voted AND d.position > ? "
            "ORDER BY d.position LIMIT ?"
        )
        for rows in self._database.pages(sql, task, test, SKIPPED):
            for row, value in zip(rows, self._texts.unpack([row[2:] for row in rows]), strict=True):
                yield row[1], value.get("provenance", value)["details"]  # of a case, or of a draft


class CasesWriting:
    """Gathers the cases and drafts of one test over one task; `finish` replaces the earlier ones."""

    def __init__(self, database: Database, texts: TextsTable, task: str, test: str) -> None:
        """Use `CasesTable.writing` instead."""
        self._database = database
        self._texts = texts
        self._here = task, test
        self._move: tuple[Statement, ...] = (
            ("DELETE FROM cases WHERE task = ? AND test = ?", [self._here]),
            ("DELETE FROM drafts WHERE task = ? AND test = ?", [self._here]),
            ("INSERT INTO cases SELECT * FROM new_cases", [()]),
            ("INSERT INTO drafts SELECT * FROM new_drafts", [()]),
        )
        self._stage = _stage_of(task, test)
        self._cases = 0
        self._drafts = 0
        # A test that was interrupted has left its rows in the temporary tables.
        database.writer.flush(*_FORGET)

    def put(self, cases: Sequence[Case], drafts: Sequence[DraftRow]) -> None:
        """Gather more cases and drafts."""
        packer = self._texts.packer()
        packing = _Packing(self._texts, self._database, packer, self._here[0])
        new_cases = [(*self._here, place, *row) for place, row in enumerate(packing.cases(cases), self._cases)]
        new_drafts = [(*self._here, place, *packing.draft(row)) for place, row in enumerate(drafts, self._drafts)]
        self._cases += len(new_cases)
        self._drafts += len(new_drafts)
        self._database.writer.flush(packer.statement, (_INSERT_CASE, new_cases), (_INSERT_DRAFT, new_drafts))

    def reject_all(self, reason: str) -> None:
        """Turn all cases so far into rejected drafts."""
        self._database.writer.flush(
            (_REJECT, [(REJECTED, reason)]),
            ("DELETE FROM new_drafts WHERE case_id IS NOT NULL", [()]),
            ("DELETE FROM new_cases", [()]),
        )

    def show(self, digest: str) -> None:
        """Replace the earlier cases and drafts by those so far, in one transaction."""
        self._database.replace(self._stage, digest, *self._move)

    def finish(self, digest: str) -> None:
        """Replace the earlier cases and drafts in one transaction, and delete texts that only they had."""
        # Without earlier cases no text has become unused, and the sweep looks at every row.
        replaced = self._database.digest(self._stage) is not None
        self._database.replace(self._stage, digest, *self._move, *_FORGET, *([SWEEP] if replaced else []))


class _Packing:
    """Makes the rows of one slice, packed against the texts of their items."""

    def __init__(self, texts: TextsTable, database: Database, packer: Packer, task: str) -> None:
        self._texts = texts
        self._database = database
        self._packer = packer
        self._task = task
        self._bases: dict[str, Shared] = {}

    def cases(self, cases: Sequence[Case]) -> Iterator[tuple[object, ...]]:
        self._read([case.item_id for case in cases])
        form: Shared | None = None
        for case in cases:
            value = _plain(case)
            # What the cases of a test have in common is one more text that they are packed against.
            form = form or self._packer.share([compact(value | {"fields": {}})])
            apart = [value["prompt"], value["presented_task"]]
            yield case.id, case.item_id, *self._packer.pack(value, form, self._bases.get(case.item_id, NOTHING), apart)

    def draft(self, row: DraftRow) -> tuple[object, ...]:
        known = (row.item_id, utf8_text(row.draft.variant), row.state, utf8_text(row.reason))
        voted = f'"{VOTES}"' in compact(to_json(row.draft.details))
        if row.case_id is not None:
            return (*known, voted, row.case_id, None, None)
        self._read([row.item_id])
        value = _plain(row.draft)
        apart = [value.get("prompt"), value.get("task")]
        base = self._bases.get(row.item_id, NOTHING)
        return (*known, voted, None, *self._packer.pack(value, NOTHING, base, apart))

    def _read(self, item_ids: Sequence[str]) -> None:
        """Read the texts of items that are stored; an imported case may have none."""
        missing = [item_id for item_id in dict.fromkeys(item_ids) if item_id not in self._bases]
        sql = "SELECT id, texts FROM items WHERE task = ? AND id IN ({ids})"
        self._bases.update(self._texts.read_shared(list(self._database.by_id(sql, missing, self._task))))


_VALID: Final = "valid_cases"
_INSERT_CASE: Final = "INSERT INTO new_cases VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_DRAFT: Final = "INSERT INTO new_drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
# A join, for which SQLite makes an index of its own: one that is kept up to date costs every case of every test.
_REJECT: Final = (
    "INSERT INTO new_drafts SELECT d.task, d.test, d.position, d.item_id, d.variant, ?, ?, d.voted, NULL, c.texts, "
    "c.payload FROM new_drafts d JOIN new_cases c ON c.id = d.case_id"
)
_FORGET: Final[tuple[Statement, ...]] = (("DELETE FROM new_cases", [()]), ("DELETE FROM new_drafts", [()]))


def _stage_of(task: str, test: str) -> str:
    return f"cases:{task}:{test}"
