"""Put the stores of shards together: what was asked and answered.

Items, cases and the plan are made again by the run that follows, out of the stored replies and without a call. So the
merged run is the run that was never divided, and needs no code of its own.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from attrs import asdict
from filelock import FileLock, Timeout
from jrh.errors import DamagedStoreError, StoreError
from jrh.running import ENDED, Ended, carry_plugins, open_store
from jrh.store import ALIKE, SEED, SHARD, Merge, StoredRows, TableSpec, write_store
from jrh.suite import Shard
from jrh.text import count_noun

Row: TypeAlias = Mapping[str, Any]
_SHOWN: Final = 3
# What was drafted is booked again when the merged run drafts from the same replies.
_BOOKED: Final = ("judge", "preflight")


class Merged(NamedTuple):
    """What was put together."""

    calls: int
    records: int
    missing: tuple[str, ...]
    """Shards that were not given."""
    unfinished: tuple[str, ...]
    """Shards with questions that have no answer yet."""


def merge_runs(run_dirs: Sequence[Path], target: Path) -> Merged:
    """Copy the calls, the records and the decisions of shards to a new run directory; asks no model.

    Raises:
        StoreError: they are not shards of one run, two of them contradict each other, or the directory has a run.
    """
    # Opened as runs first: a store that is damaged is refused before anything is copied.
    answered, records = zip(*map(_progress, run_dirs), strict=True)
    with ExitStack() as open_files:
        parts = [open_files.enter_context(closing(StoredRows(run_dir))) for run_dir in run_dirs]
        missing = _check_shards(parts)
        suite = parts[0].meta["suite"]
        specs = {spec.name: spec for part in parts for spec in part.stage_tables.values()}
        with rename_when_written(target) as unfinished:
            written = write_store(unfinished, suite, _tables(parts), specs.values())
            # Rows with the id of another were left out: two shards have the same trial.
            if written["records"] < sum(records):
                _refuse_conflict(parts)
    # Local plugins that the shards were run with: the next run of the merged directory finds them there.
    carry_plugins(run_dirs, target, suite)
    open_parts = tuple(part.meta[SHARD] for part, done in zip(parts, answered, strict=True) if not done)
    return Merged(written["calls"], written["records"], missing, open_parts)


@contextmanager
def rename_when_written(target: Path) -> Iterator[Path]:
    """Yield a directory that gets its name at the end: a kill leaves nothing that looks like a run.

    Raises:
        StoreError: the target has files, or another process writes to it.
    """
    unfinished = target.with_name(f"{target.name}.unfinished")
    lock = FileLock(f"{unfinished}.lock", mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreError(
            f"another jrh process is writing '{target}'; wait for it, or choose another directory"
        ) from None
    except OSError as error:  # such as a file in the place of a directory
        raise StoreError(f"'{target}' cannot be made: {error.strerror}; choose another directory") from error
    try:
        # A directory cannot take the name of a link, wherever that leads.
        if target.is_symlink():
            raise StoreError(f"'{target}' is a symbolic link; choose another directory")
        # Under the lock: the other process may have just finished.
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise StoreError(f"'{target}' is not empty; choose another directory")
        shutil.rmtree(unfinished, ignore_errors=True)
        yield unfinished
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()


def _progress(run_dir: Path) -> tuple[bool, int]:
    """Return whether the plan of a run is complete and every trial of it has a record, and the number of records.

    Raises:
        StoreError: the store cannot be read, or is not what jrh closed.
    """
    with open_store(run_dir) as store:
        planned = store.trials.digest() is not None and not store.trials.grows()
        return planned and not store.trials.count_pending(), store.records.write_state()[0]


def _tables(parts: Sequence[StoredRows]) -> Iterator[tuple[str, Iterable[Row]]]:
    """Yield the tables of all parts; calls get new numbers, and records refer to their call by its number.

    Each table is written before the next one is asked for.
    """
    ended = Ended(exit_code=3, message="its parts were merged, and the suite has not been run since", complete=False)
    yield "meta", [{"key": ENDED, "value": json.dumps(asdict(ended))}]
    after = 0
    last: dict[str, int] = {}

    def renumber(row: Row) -> Row:
        reply = row["reply"]
        number = isinstance(reply, str) and reply.startswith("@")
        return {**row, "reply": f"@{int(reply[1:]) + after}"} if number else row

    for part in parts:
        yield "calls", ({**row, "id": row["id"] + after} for row in part.rows("calls"))
        yield "uses", (row for row in part.rows("uses") if row["role"] in _BOOKED)
        yield "records", map(renumber, part.rows("records"))
        yield "occasions", part.rows("occasions")
        for table, spec in part.stage_tables.items():
            yield table, _merge_table(parts, part, table, spec, last)
        # After its rows were read, which is when changes show.
        refuse_changed(part, part.run_dir)
        # Each shard numbers its calls from 1.
        after += max((row["id"] for row in part.rows("calls")), default=0)


def _merge_table(
    parts: Sequence[StoredRows], part: StoredRows, table: str, spec: TableSpec, last: dict[str, int]
) -> Iterator[Row]:
    """Yield the rows of a table that a stage of a plugin declares, as its declaration says."""
    holding = [other for other in parts if table in other.stage_tables and any(True for _ in other.rows(table))]
    # The stage makes its rows again out of what was merged.
    if spec.merge is Merge.NONE or part not in holding:
        return
    if spec.merge is Merge.REFUSE:
        raise StoreError(f"'{part.run_dir}' has rows of '{spec.name}', which cannot be merged")
    if any(other.stage_tables[table] != spec for other in holding):
        raise StoreError(f"another version of a plugin wrote the table '{spec.name}' of some shards")
    if spec.merge is Merge.LATEST and part is not holding[-1]:
        return
    first = last.get(table, 0)
    for row in part.rows(table):
        number = isinstance(row[spec.key], int) and spec.merge is Merge.UNION
        last[table] = row[spec.key] + first if number else 0
        yield {**row, spec.key: last[table]} if number else row


def _check_shards(parts: Sequence[StoredRows]) -> tuple[str, ...]:
    """Return the shards that are missing; refuse what is no shard of one run."""
    shards: dict[str, StoredRows] = {}
    first = parts[0]
    for part in parts:
        shard = _shard_of(part)
        if shard in shards:
            raise StoreError(f"'{part.run_dir}' and '{shards[shard].run_dir}' are both shard {shard}")
        shards[shard] = part
        for key, what in (("suite", "suites"), (SEED, "seeds")):
            if part.meta.get(key) != first.meta.get(key):
                raise StoreError(f"'{first.run_dir}' and '{part.run_dir}' are of different {what}")
    # With other tests or judges, the merged run would ask the questions of some shards again.
    expected = _alike(first)
    for shard, part in shards.items():
        alike = _alike(part)
        other = [name for name in {**expected, **alike} if expected.get(name) != alike.get(name)]
        if other:
            raise StoreError(
                f"'{first.run_dir}' and '{part.run_dir}' were run with different versions or options of "
                f"{', '.join(other[:_SHOWN])}; run shard {shard} again as the others were"
            )
    # Parts of eight and parts of four hold different items.
    counts = {shard.partition("/")[2] for shard in shards}
    if len(counts) > 1:
        raise StoreError(f"the run was divided in different ways: {', '.join(sorted(shards))}")
    (count,) = counts
    every = (f"{number}/{count}" for number in range(1, int(count) + 1))
    return tuple(shard for shard in every if shard not in shards)


def _shard_of(part: StoredRows) -> str:
    """Return the shard that a store holds, such as `3/8`; refuse one that holds none, or that waits for answers."""
    shard = part.meta.get(SHARD, "")
    if not shard:
        raise StoreError(f"'{part.run_dir}' is not a shard: it was run without --shard")
    if Shard.read(shard) is None:
        raise StoreError(f"'{part.run_dir}' is damaged: its store calls it shard '{shard[:20]}'")
    # The ids of calls that are answered later have the number of the call, which the merge changes.
    if any(True for _ in part.rows("model_notes")) and any(row["outcome"] is None for row in part.rows("calls")):
        raise StoreError(f"'{part.run_dir}' has unfinished batches; run shard {shard} to its end first")
    return shard


def _alike(part: StoredRows) -> Mapping[str, Any]:
    """Return the tasks, tests and judges of a shard: with others the merged run would ask its questions again."""
    try:
        return dict(json.loads(part.meta.get(ALIKE) or "{}"))
    except (ValueError, TypeError, RecursionError):
        raise StoreError(f"'{part.run_dir}' is damaged: its store does not say what it was run with") from None


def refuse_changed(part: StoredRows, run_dir: Path) -> None:
    """Raise `DamagedStoreError` if what was read of a store, or of a copy of the run's, is not what jrh wrote."""
    if part.broken or part.changed:
        rows = ", ".join(f"{count_noun(number, 'row')} of {table}" for table, number in part.changed.items())
        raise DamagedStoreError(
            f"{rows or ', '.join(part.broken)} in '{run_dir / part.path.name}' changed after jrh wrote them. "
            f"`jrh salvage '{run_dir}'` copies what can be read to a new run directory, without model calls."
        )


def _refuse_conflict(parts: Sequence[StoredRows]) -> None:
    """Refuse a trial that two shards have, which no division of one run gives: the data or the suite changed."""
    holders: dict[str, StoredRows] = {}
    for part in parts:
        for row in part.rows("records"):
            earlier = holders.setdefault(row["trial_id"], part)
            if earlier is not part:
                raise StoreError(
                    f"'{earlier.run_dir}' and '{part.run_dir}' both hold a verdict of judge '{row['judge']}' "
                    f"on item '{row['item_id']}': the data or the suite changed between the shards"
                )
