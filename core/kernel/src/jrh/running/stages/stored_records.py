"""Read the records of a run as a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from jrh.running.dry_build import planned_judges
from jrh.running.schedule import trial_id
from jrh.store.run_store import Store
from jrh.values.cases import Case
from jrh.values.records import RecordTable


def read_records(store: Store, *, without: Collection[str] = (), also: Sequence[str] = ()) -> RecordTable:
    """Read the records of the plan, with what their items say in the run as it is.

    A record can be older than an item that joins two clusters, so the items decide wherever they are known.

    Args:
        store: of the run.
        without: ids of cases whose records are left out.
        also: ids of trials outside of the plan whose records are added.
    """
    columns = store.records.columns()
    if without or also:
        kept = [place for place, case in enumerate(columns["case_id"]) if case not in without]
        planned = frozenset(columns["trial_id"])
        more = store.records.columns([each for each in also if each not in planned])
        columns = {name: (*(values[place] for place in kept), *more[name]) for name, values in columns.items()}
    known_of_items = {
        "cluster": store.items.clusters(),
        "gold_source": store.items.gold_sources(),
        "covariates": store.items.covariates(),
    }
    for name, of_items in known_of_items.items():
        if of_items:
            place = zip(columns["task"], columns["item_id"], columns[name], strict=True)
            columns[name] = tuple(of_items.get((task, item), known) for task, item, known in place)
    return RecordTable.from_columns(columns)


def records_as_made(store: Store, gone: Mapping[str, Case]) -> RecordTable:
    """Read the records of all cases as they were made: `gone` are those that people rejected or edited, by id."""
    trials = [
        trial_id(name, judge, repeat)
        for name in sorted(gone)
        for judge in planned_judges(store)
        for repeat in range(gone[name].repeats)
    ]
    return read_records(store, without=store.cases.edited_ids(), also=trials)
