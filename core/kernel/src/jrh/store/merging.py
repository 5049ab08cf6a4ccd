"""Put the stores of shards together: what was asked and answered.

Items, cases and the plan are made again by the run that follows, out of the stored replies and without a call. So the
merged run is the run that was never divided, and needs no code of its own.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from jrh.errors import DamagedStoreError, StoreError
from jrh.store import calls_table, records_table
from jrh.store.database import FILENAME, MOST_PARAMETERS, Database, in_parts, marks
from jrh.store.records_table import refuse_changed
from jrh.store.stage_tables import merge_tables
from jrh.store.trials_table import GROWING, TrialsTable
from jrh.store.writer import SALVAGE
from jrh.suite.shard import Shard
from jrh.text import counted
from jrh.values.records import COLUMNS

SHARD: Final = "shard"
"""Key of `meta`: which part of a run a store holds, such as `3/8`; empty: all of it."""
SEED: Final = "seed"
"""Key of `meta`: the seed of the run."""
ALIKE: Final = "alike"
"""Key of `meta`: what the shards of one run have in common, by name, with an id of its content."""
_SHOWN: Final = 3
_REPLY: Final = len(COLUMNS)
"""Place of a record's reply, or of `@` and the number of its call."""
_NUMBERED: Final = {"calls": "id"}
"""Table -> its first column, the number of the row in its own store."""
# What was drafted is booked again when the merged run drafts from the same replies.
_ROWS: Final = {
    "calls": "SELECT * FROM calls ORDER BY id",
    "uses": "SELECT * FROM uses WHERE role IN ('judge', 'preflight')",
    "records": "SELECT * FROM records ORDER BY rowid",
    "occasions": "SELECT * FROM occasions",
}

# Their ids have the number of the call, which the merge changes: the calls would be submitted again.
_PENDING: Final = "SELECT 1 FROM calls WHERE outcome IS NULL AND EXISTS (SELECT 1 FROM model_notes) LIMIT 1"


class Merged(NamedTuple):
    """What was put together."""

    suite: str
    calls: int
    records: int
    missing: tuple[str, ...]
    """Shards that were not given."""
    unfinished: tuple[str, ...]
    """Shards with questions that have no answer yet."""


def merge(run_dirs: Sequence[Path], target: Path) -> Merged:
    """Copy the calls, the records and the decisions of shards to a new run directory.

    Raises:
        StoreError: they are not shards of one run, two of them contradict each other, or the directory has a run.
    """
    if target.is_dir() and any(target.iterdir()):
        what = "already holds a run" if (target / FILENAME).exists() else "is not empty"
        raise StoreError(f"'{target}' {what}; choose another with --run-dir")
    with ExitStack() as open_files:
        parts = []
        for run_dir in run_dirs:
            part = Database.view(run_dir)
            open_files.callback(part.close)
            parts.append(part)
        suite, missing = _checked(parts)
        _check_conflicts(parts)
        # A merge that is killed leaves no directory that looks like a run.
        unfinished = target.with_name(f"{target.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            counts = _copied(parts, unfinished, suite)
            unfinished.rename(target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        unanswered = tuple(part.meta(SHARD) or "" for part in parts if _unfinished(part))
    return Merged(suite, counts["calls"], counts["records"], missing, unanswered)


def _unfinished(part: Database) -> bool:
    trials = TrialsTable(part)
    return trials.digest() in (None, GROWING) or trials.count_pending() > 0


def _copied(parts: Sequence[Database], target: Path, suite: str) -> dict[str, int]:
    """Copy the tables; return how many rows each has."""
    counts = dict.fromkeys(_ROWS, 0)
    database = Database.open(target, suite)
    try:
        for part in parts:
            # Calls get new numbers, and records refer to their call by its number.
            after = {table: _last(database, table) for table in _NUMBERED}
            for table, sql in _ROWS.items():
                for rows in part.chunks(sql):
                    _check_rows(part.path, table, rows)
                    counts[table] += len(rows)
                    database.writer.flush((_insert(table, rows[0]), list(_renumbered(table, rows, after))))
        merge_tables(parts, database)
    finally:
        database.close()
    return counts


def _last(database: Database, table: str) -> int:
    return int(database.rows(f"SELECT coalesce(max({_NUMBERED[table]}), 0) FROM {table}")[0][0])  # noqa: S608


def _checked(parts: Sequence[Database]) -> tuple[str, tuple[str, ...]]:
    """Return the suite and the shards that are missing."""
    found: dict[str, Database] = {}
    for part in parts:
        where, shard = part.path.parent, part.meta(SHARD)
        if not shard:
            raise StoreError(f"'{where}' is not a shard: it was run without --shard")
        if Shard.read(shard) is None:
            raise StoreError(f"'{where}' is damaged: its store calls it shard '{shard[:20]}'")
        if shard in found:
            raise StoreError(f"'{where}' and '{found[shard].path.parent}' are both shard {shard}")
        found[shard] = part
        if part.rows(_PENDING):
            raise StoreError(f"'{where}' has unfinished batches; run shard {shard} to its end first")
        for key, what in (("suite", "suites"), (SEED, "seeds")):
            if part.meta(key) != parts[0].meta(key):
                raise StoreError(f"'{parts[0].path.parent}' and '{where}' are of different {what}")
    _check_alike(found)
    counts = {shard.partition("/")[2] for shard in found}
    if len(counts) > 1:
        raise StoreError(f"the run was divided in different ways: {', '.join(sorted(found))}")
    (count,) = counts
    missing = (f"{number}/{count}" for number in range(1, int(count) + 1))
    return parts[0].meta("suite") or "", tuple(shard for shard in missing if shard not in found)


def _check_alike(parts: Mapping[str, Database]) -> None:
    """Refuse shards whose tasks, tests or judges are not the same: the merged run would ask their questions again."""
    known = [(shard, part, _alike(part)) for shard, part in parts.items()]
    _, first, expected = known[0]
    for shard, part, found in known[1:]:
        other = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
        if other:
            raise StoreError(
                f"'{first.path.parent}' and '{part.path.parent}' were run with different versions or options of "
                f"{', '.join(other[:_SHOWN])}; run shard {shard} again as the others were"
            )


def _alike(part: Database) -> dict[str, Any]:
    try:
        return dict(json.loads(part.meta(ALIKE) or "{}"))
    except (ValueError, TypeError, RecursionError):
        raise StoreError(f"'{part.path.parent}' is damaged: its store does not say what it was run with") from None


def _check_rows(path: Path, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if table == "records":
        refuse_changed(path, [row for row in rows if records_table.checksum(row[:_REPLY]) != row[-1]])
    elif table == "calls":
        changed = sum(payload is not None and calls_table.checksum(payload) != kept for *_, payload, kept in rows)
        if changed:
            what, them = counted(changed, "reply", "replies"), "it" if changed == 1 else "them"
            salvage = SALVAGE.format(name=path.parent)
            raise DamagedStoreError(f"{what} in '{path}' changed after jrh wrote {them}. {salvage}")


def _check_conflicts(parts: Sequence[Database]) -> None:
    """Refuse a trial that two shards have, which no division of one run gives: the data or the suite changed."""
    for place, part in enumerate(parts):
        for earlier in parts[:place]:
            for rows in part.chunks("SELECT trial_id FROM records"):
                for some in in_parts([trial for (trial,) in rows], MOST_PARAMETERS):
                    sql = f"SELECT item_id, judge FROM records WHERE trial_id IN ({marks(some)}) LIMIT 1"  # noqa: S608
                    for item, judge in earlier.rows(sql, some):
                        raise StoreError(
                            f"'{earlier.path.parent}' and '{part.path.parent}' both hold a verdict of judge '{judge}' "
                            f"on item '{item}': the data or the suite changed between the shards"
                        )


def _insert(table: str, row: Sequence[Any]) -> str:
    return f"INSERT OR IGNORE INTO {table} VALUES ({marks(row)})"  # noqa: S608 - fixed names


def _renumbered(table: str, rows: Sequence[tuple[Any, ...]], after: Mapping[str, int]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        if table in _NUMBERED:
            yield (row[0] + after[table], *row[1:])
        elif table == "records" and isinstance(row[_REPLY], str) and row[_REPLY].startswith("@"):
            yield (*row[:_REPLY], f"@{int(row[_REPLY][1:]) + after['calls']}", *row[_REPLY + 1 :])
        else:
            yield row
