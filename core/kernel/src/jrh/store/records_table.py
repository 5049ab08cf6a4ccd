"""The plan of a run, which is its trials in order, and the records: one row per trial."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import nan
from operator import attrgetter, contains
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Final, NamedTuple
from zlib import crc32

import orjson

from jrh.document.convert import from_text
from jrh.errors import DamagedStoreError
from jrh.store.database import CHUNK, MOST_PARAMETERS, TRANSIENT, Database, in_parts
from jrh.store.writer import SALVAGE, Statement
from jrh.text.display import count_noun
from jrh.values.verdicts import COLUMNS, NUMBER_TYPES, CaseRecord, Record, Reply

GROWING: Final = "growing"
"""Digest of a plan whose later trials are still to come."""
LAST: Final = 2**63 - 1
"""No position of a plan is larger."""
_PLAN: Final = "trials"


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


_FORGET_PLAN: Final[Statement] = ("DELETE FROM new_trials", [()])
_PENDING: Final = (
    f"FROM trials t LEFT JOIN records r ON r.trial_id = t.id WHERE (r.trial_id IS NULL OR r.status IN ({TRANSIENT}))"
)
# An index tells which trials have a record; going through the records for their status is a separate, short way.
_PENDING_BY_JUDGE: Final = (
    "SELECT judge, count(*) FROM trials t "  # noqa: S608 - fixed names
    "WHERE NOT EXISTS (SELECT 1 FROM records r WHERE r.trial_id = t.id) "
    f"OR t.id IN (SELECT trial_id FROM records WHERE status IN ({TRANSIENT})) GROUP BY judge"
)


# The judges as one JSON list, because SQLite limits the number of parameters.
_OTHERS: Final = "WHERE position >= ? AND judge NOT IN (SELECT value FROM json_each(?))"


class TrialsTable:
    """The plan, and which of its trials are done."""

    def __init__(self, database: Database) -> None:
        """Use `Store.trials` instead."""
        self._database = database

    def digest(self) -> str | None:
        """Return the id of what the plan was made from, or None if there is no plan."""
        return self._database.digest(_PLAN)

    def grows(self) -> bool:
        """Tell whether later trials are still to be planned."""
        return self.digest() == GROWING

    def replace(self, digest: str, rows: Iterable[TrialRow]) -> None:
        """Replace the plan, and keep the occasions of all plans before it."""
        feed = iter(rows)
        self._database.writer.flush(_FORGET_PLAN)
        # The rows are made as they are taken, and are never all in memory.
        while some := list(islice(feed, CHUNK)):
            self._database.writer.flush(*_insert("new_trials", some))
        self._database.replace(
            _PLAN,
            digest,
            ("DELETE FROM trials", [()]),
            # In one transaction: a kill leaves the earlier plan, or all of the new one.
            ("INSERT INTO trials SELECT * FROM new_trials", [()]),
            _FORGET_PLAN,
        )

    def begin(self) -> None:
        """Begin a plan that grows, in place of one that was never finished; keep the occasions of all plans."""
        self._database.replace(_PLAN, GROWING, ("DELETE FROM trials", [()]))

    def reopen(self) -> None:
        """Note that cases are being replaced, so that a plan of earlier cases is not called complete."""
        if self.digest() not in (None, GROWING):
            self._database.replace(_PLAN, GROWING)

    def extend(self, rows: Sequence[TrialRow]) -> None:
        """Add trials to the plan that grows, durably; they may be put from now on."""
        self._database.writer.flush(*_insert("trials", rows))

    def finish(self, digest: str) -> None:
        """Note what the plan was made from, now that all of it is there."""
        self._database.replace(_PLAN, digest)

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

    def trials_to_run(self, judge: str, *, after: int = -1, until: int = LAST, limit: int = -1) -> list[PendingTrial]:
        """Return a judge's trials to run, in plan order: those without a record, or with a transient failure.

        Args:
            judge: its name.
            after: the position of the last one known.
            until: the position before which they are.
            limit: most rows; without it all.
        """
        rows = self._database.rows(
            f"SELECT t.id, t.case_id, t.judge, t.repeat, t.occasion, t.position {_PENDING} "
            "AND t.judge = ? AND t.position > ? AND t.position < ? ORDER BY t.position LIMIT ?",
            (judge, after, until, limit),
        )
        return [PendingTrial._make(row) for row in rows]

    def count_pending(self) -> int:
        """Count the trials to run."""
        return sum(trials for _, trials in self._database.rows(_PENDING_BY_JUDGE))

    def judges_with_pending(self) -> frozenset[str]:
        """Return the judges that have trials to run."""
        return frozenset(judge for judge, _ in self._database.rows(_PENDING_BY_JUDGE))

    def count_others(self, judges: Sequence[str], *, after: int) -> dict[str, int]:
        """Count the trials from a position on of judges that are not among some, by judge in plan order."""
        sql = f"SELECT judge, count(*) FROM trials {_OTHERS} GROUP BY judge ORDER BY min(position)"  # noqa: S608
        return dict(self._database.rows(sql, (after, json.dumps(list(judges)))))

    def leave_out(self, judges: Sequence[str], *, after: int) -> None:
        """Take these trials out of the plan; what they would have asked keeps its occasion."""
        self._database.writer.flush((f"DELETE FROM trials {_OTHERS}", [(after, json.dumps(list(judges)))]))  # noqa: S608

    def of_judge(self, judge: str) -> Iterator[list[PendingTrial]]:
        """Yield a judge's trials of the plan some at a time, in plan order."""
        sql = (
            "SELECT position, id, case_id, judge, repeat, occasion, position FROM trials "
            "WHERE judge = ? AND position > ? ORDER BY position LIMIT ?"
        )
        for rows in self._database.pages(sql, judge):
            yield [PendingTrial._make(row[1:]) for row in rows]

    def final_trials(self, trial_ids: Sequence[str]) -> frozenset[str]:
        """Return those of some trials that will not be repeated: their record is not a transient failure."""
        sql = f"SELECT trial_id FROM records WHERE status NOT IN ({TRANSIENT}) AND trial_id IN ({{ids}})"  # noqa: S608
        return frozenset(trial for (trial,) in self._database.by_id(sql, trial_ids))


def _insert(table: str, rows: Sequence[TrialRow]) -> tuple[Statement, Statement]:
    """Return what writes trials to a table, and their occasions, which outlive the plan."""
    # A test that is removed and comes back has to find the occasions it had, and so the replies that were paid for.
    occasions = [(row.place, row.question, row.occasion) for row in rows if row.place]
    return (
        (f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", [row[:6] for row in rows]),  # noqa: S608 - fixed names
        ("INSERT OR IGNORE INTO occasions VALUES (?, ?, ?)", occasions),
    )


_VALUES: Final = attrgetter(*COLUMNS)
_STATUS: Final = COLUMNS.index("status")
_TRIAL: Final = COLUMNS.index("trial_id")
_ITEM: Final = COLUMNS.index("item_id")
_JUDGE: Final = COLUMNS.index("judge")
_ARGUED: Final = COLUMNS.index("argued")
_NUMBERS: Final = tuple((COLUMNS.index(name), kind) for name, kind in NUMBER_TYPES.items())
_KINDS: Final = tuple(frozenset({NUMBER_TYPES.get(name, str), NoneType}) for name in COLUMNS)
_COLUMN_NAMES: Final = ", ".join(f'"{name}"' for name in COLUMNS)
_R_COLUMNS: Final = ", ".join(f'r."{name}"' for name in COLUMNS)
_PLACES: Final = {name: f"?{place}" for place, name in enumerate((*COLUMNS, "reply", "probabilities", "checksum"), 1)}
_CALL: Final = "@"
"""Starts the number of the call whose stored reply is the record's; a reply itself is JSON."""
# A reply is stored once: a record refers to the call that it rests on. One from the cache has no call in this run.
_REPLY: Final = f"""coalesce((
    SELECT '{_CALL}' || c.id FROM uses u JOIN calls c ON c.key = u.key AND c.payload IS NOT NULL
    WHERE u.owner = {_PLACES["trial_id"]} AND c.payload = {_PLACES["reply"]} LIMIT 1
), {_PLACES["reply"]})"""  # noqa: S608 - fixed names
_INSERT: Final = (
    f"INSERT OR REPLACE INTO records ({_COLUMN_NAMES}, reply, probabilities, checksum) "  # noqa: S608 - fixed names
    f"VALUES ({', '.join({**_PLACES, 'reply': _REPLY}.values())})"
)
_REPLIES: Final = (
    f"SELECT r.trial_id, CASE WHEN r.reply LIKE '{_CALL}%' THEN c.payload ELSE r.reply END AS text "  # noqa: S608
    "FROM records r LEFT JOIN calls c ON c.id = CAST(substr(r.reply, 2) AS INTEGER) "
    "WHERE r.trial_id IN ({ids}) AND text IS NOT NULL"
)
_OF_THE_PLAN: Final = "FROM trials t JOIN records r ON r.trial_id = t.id"
"""Records of trials no longer in the plan stay stored in case the plan changes back, but are never counted."""
_OF_ITEMS: Final = ("cluster", "gold_source", "covariates")
# SQLite would look through all items of the task: no statistics tell it that this index leads to one.
_WITH_ITEMS: Final = "LEFT JOIN items i INDEXED BY items_by_id ON i.task = r.task AND i.id = r.item_id"
_SUMMED: Final = len(COLUMNS)
"""Columns before the checksum."""
# A new row id tells that the record was written again: see `write_state`.
_RENAME: Final = (
    'UPDATE records SET rowid = (SELECT max(rowid) + 1 FROM records), "judge" = ?, checksum = ? WHERE trial_id = ?'
)
_RENAME_USES: Final = (
    "UPDATE OR REPLACE uses SET name = (SELECT t.judge FROM trials t WHERE t.id = uses.owner) "
    "WHERE role = 'judge' AND name != (SELECT t.judge FROM trials t WHERE t.id = uses.owner)"
)
_READING: Final = "rationales"
_UNREAD: Final = "UPDATE records SET argued = CASE WHEN status = 'ok' AND trim(rationale) != '' THEN ? END"


class StoredRationale(NamedTuple):
    """A verdict with its rationale."""

    trial_id: str
    case_id: str
    task: str
    test: str
    rationale: str


class RecordsTable:
    """One row per trial; repeating a trial replaces its row."""

    DELETE_ALL: ClassVar[Statement] = ("DELETE FROM records", [()])
    OF_A_TRIAL: ClassVar = (_INSERT,)
    """What is written of a trial, after what its call wrote."""

    def __init__(self, database: Database) -> None:
        """Use `Store.records` instead."""
        self._database = database

    def put(self, rows: Sequence[tuple[Record, str | None, str | None]]) -> None:
        """Queue records, each with its reply and label probabilities as JSON; durable after the next flush."""
        self._database.writer.put((_INSERT, [_row(*row) for row in rows]))

    def slices(
        self, trial_ids: Sequence[str] | None = None, *, until: int = LAST
    ) -> Iterator[dict[str, tuple[Any, ...]]]:
        """Yield the records of the plan before a position as columns, in plan order; or those of some trials, by id.

        Some thousand at a time, with what their items say in the run as it is.

        A record can be older than an item that joins two clusters, so the items decide wherever they are known.

        Raises:
            DamagedStoreError: some are not what was written; raised at the end.
        """
        changed: list[tuple[Any, ...]] = []
        of_items = ", ".join(f"i.{name}" for name in _OF_ITEMS)
        select = f"SELECT {_R_COLUMNS}, r.checksum, {of_items}"
        if trial_ids is None:
            before = f"WHERE t.position < {until:d}"
            slices = self._database.chunks(f"{select} {_OF_THE_PLAN} {_WITH_ITEMS} {before} ORDER BY t.position")
        else:
            sql = f"{select} FROM records r {_WITH_ITEMS} WHERE r.trial_id IN ({{ids}}) ORDER BY r.trial_id"
            parts = in_parts(sorted(trial_ids), MOST_PARAMETERS)
            slices = (list(self._database.by_id(sql, some)) for some in parts)
        for rows in slices:
            changed += [row for row in rows if checksum(row[:_SUMMED]) != row[_SUMMED]]
            if rows and not changed:  # text in a column of numbers would end in a traceback
                values = tuple(zip(*rows, strict=True))
                columns = dict(zip(COLUMNS, values, strict=False))
                for name, by_items in zip(_OF_ITEMS, values[_SUMMED + 1 :], strict=True):
                    columns[name] = _prefer_items(by_items, columns[name])
                yield columns
        # At the end: the message counts all of them, and what was read is not used then.
        refuse_changed(self._database.path, changed)

    def rename_judges(self) -> None:
        """Give the records of the plan, and what they used, the names that their judges have in the plan.

        Raises:
            DamagedStoreError: some are not what was written.
        """
        # Checked first: a new checksum would make a damaged record look sound.
        rows = self._database.rows(f"SELECT {_R_COLUMNS}, r.checksum, t.judge {_OF_THE_PLAN} WHERE r.judge != t.judge")
        refuse_changed(self._database.path, [row for row in rows if checksum(row[:-2]) != row[-2]])
        if rows:
            renamed = [[*row[:_JUDGE], row[-1], *row[_JUDGE + 1 : -2]] for row in rows]
            new = [(row[_JUDGE], checksum(row), row[_TRIAL]) for row in renamed]
            self._database.writer.flush((_RENAME, new), (_RENAME_USES, [()]))

    def write_state(self) -> tuple[int, int | None]:
        """Return the number of records and the last row id; one of them changes with every write."""
        ((count, last),) = self._database.rows("SELECT count(*), max(rowid) FROM records")
        return count, last

    def rationales(self) -> list[StoredRationale]:
        """Return the verdicts of the plan that have a rationale, in plan order."""
        rows = self._database.rows(
            f"SELECT r.trial_id, r.case_id, r.task, r.test, r.rationale {_OF_THE_PLAN} "
            "WHERE r.status = 'ok' AND trim(r.rationale) != '' ORDER BY t.position"
        )
        return [StoredRationale._make(row) for row in rows]

    def rationales_digest(self) -> str:
        """Return the id of what the labels that rationales argue for were read from; empty if no model read them."""
        return self._database.digest(_READING) or ""

    def put_argued(self, digest: str, labels: Sequence[tuple[str, str]], unread: str | None) -> None:
        """Replace the labels that rationales argue for.

        Args:
            digest: the id of what they were read from.
            labels: of trials, each with the id of its trial.
            unread: what the other records with a rationale get.
        """
        read = [(label, trial_id) for trial_id, label in labels]
        statement = "UPDATE records SET argued = ? WHERE trial_id = ?"
        self._database.replace(_READING, digest, (_UNREAD, [(unread,)]), (statement, read))

    def of_case(self, case_id: str) -> list[CaseRecord]:
        """Return the trials of a case that have a record, in plan order."""
        names = ", ".join(f"r.{name}" for name in CaseRecord._fields)
        sql = f"SELECT {names} {_OF_THE_PLAN} WHERE t.case_id = ? ORDER BY t.position"
        return [CaseRecord._make(row) for row in self._database.rows(sql, (case_id,))]

    def with_rationale(self, text: str) -> set[tuple[str, str]]:
        """Return the case and judge of the records whose rationale contains a text."""
        # The signs that `LIKE` reads as wildcards.
        escaped = re.sub(r"([\\%_])", r"\\\1", text)
        sql = "SELECT DISTINCT case_id, judge FROM records WHERE rationale LIKE ? ESCAPE '\\'"
        return {(case, judge) for case, judge in self._database.rows(sql, (f"%{escaped}%",))}

    def replies(self, trial_ids: Sequence[str]) -> dict[str, Reply]:
        """Read the replies of trials by trial id; trials without a stored reply are left out."""
        return {trial: from_text(Reply, text) for trial, text in self._database.by_id(_REPLIES, trial_ids)}


def _prefer_items(by_items: tuple[Any, ...], by_records: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what items say; records imported without items say it themselves."""
    if None not in by_items:
        return by_items
    return tuple(known if stated is None else stated for stated, known in zip(by_items, by_records, strict=True))


def _row(record: Record, reply: str | None, chances: str | None) -> tuple[Any, ...]:
    values = list(_VALUES(record))
    values[_STATUS] = record.status.value
    for place, kind in _NUMBERS:  # as SQLite gives them back
        value = values[place]
        if value is not None and type(value) is not kind:
            values[place] = kind(value)
    return (*values, reply, chances, checksum(values))


def refuse_changed(path: Path, changed: Sequence[Sequence[Any]]) -> None:
    """Refuse records of a store that are not what was written.

    Raises:
        DamagedStoreError: there are any.
    """
    if changed:
        raise DamagedStoreError(
            f"{count_noun(len(changed), 'record')} of '{path}' changed after jrh wrote "
            f"{'it' if len(changed) == 1 else 'them'}, the first that of item '{changed[0][_ITEM]}' and judge "
            f"'{changed[0][_JUDGE]}'. {SALVAGE.format(name=path.parent)}"
        )


def checksum(values: Sequence[Any]) -> float:
    """Return the checksum of a record's columns, in the order of `COLUMNS`; it shows accidents, not forgeries.

    A damaged page or a forger may put text where a number belongs: values of a wrong type have NaN, which equals no
    stored checksum. None equalled that of a row in which the checksum is missing, too.

    The label that a rationale argues for is left out, because it is read later and can be read again.
    """
    columns = (*values[:_ARGUED], *values[_ARGUED + 1 :])
    # Without a function of Python for each column: every record that is written or read comes by here.
    return crc32(orjson.dumps(columns)) if all(map(contains, _KINDS, map(type, values))) else nan
