"""Read the records of a run as a table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, TypeAlias

from jrh.running.dry_build import planned_judges
from jrh.running.schedule import trial_id
from jrh.store.run_store import Store
from jrh.values.cases import Case
from jrh.values.records import COLUMNS, RecordTable


def read_records(store: Store, *, without: Collection[str] = (), also: Sequence[str] = ()) -> RecordTable:
    """Read the records of the plan, with what their items say in the run as it is.

    Args:
        store: of the run.
        without: ids of cases whose records are left out.
        also: ids of trials outside of the plan whose records are added.
    """
    return RecordTable.from_slices(_chosen(store, without, also))


_Columns: TypeAlias = Mapping[str, Sequence[Any]]


def _chosen(store: Store, without: Collection[str], also: Sequence[str]) -> Iterator[_Columns]:
    """Yield the records of the plan but some, then others; columns of no rows where there are none."""
    yield dict.fromkeys(COLUMNS, ())
    more = set(also)
    for part in store.records.slices():
        more.difference_update(part["trial_id"])
        kept = [case not in without for case in part["case_id"]]
        yield part if all(kept) else {name: tuple(compress(values, kept)) for name, values in part.items()}
    if more:
        yield from store.records.slices(sorted(more))


def records_as_made(store: Store, gone: Mapping[str, Case]) -> RecordTable:
    """Read the records of all cases as they were made: `gone` are those that something else counts for, by id."""
    trials = [
        trial_id(name, judge, repeat)
        for name in sorted(gone)
        for judge in planned_judges(store)
        for repeat in range(gone[name].repeats)
    ]
    return read_records(store, without=store.cases.revised_ids(), also=trials)
