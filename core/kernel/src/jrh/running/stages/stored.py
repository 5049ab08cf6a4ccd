"""What stages read from a run's store: the cases of a plan, its records as a table, and the evidence for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

import jrh
from jrh.running.rehearsal import read_judges
from jrh.running.schedule import trial_id
from jrh.store.run_store import Store
from jrh.store.stage_tables import TableSpec
from jrh.values.cases import Case
from jrh.values.items import Item
from jrh.values.verdicts import COLUMNS, CasesAsMade, Reply, ReplySource


@frozen
class StoredCases:
    """Iterates over the cases of tests, any number of times; holds a slice at a time."""

    store: Store
    places: Sequence[tuple[str, str]]
    """Tasks and tests, in plan order."""
    change: Callable[[Case], Case | None] | None = None
    """Returns the case that counts in place of another; None if there is none."""

    def with_change(self, change: Callable[[Case], Case | None]) -> StoredCases:
        """Return the cases that stand for these."""
        earlier = self.change
        if earlier is None:
            return evolve(self, change=change)

        def both(case: Case) -> Case | None:
            revisions = earlier(case)
            return None if revisions is None else change(revisions)

        return evolve(self, change=both)

    def revisions(self) -> Iterator[Case]:
        """Yield the cases that stand for others, in plan order."""
        if self.change is None:
            return
        for case in evolve(self, change=None):
            counted = self.change(case)
            # By identity: a change returns the very case that it leaves alone.
            if counted is not None and counted is not case:
                yield counted

    def __iter__(self) -> Iterator[Case]:
        """Yield the cases in plan order."""
        for task, test in self.places:
            for case in self.store.cases.iterate(task, test):
                counted = case if self.change is None else self.change(case)
                if counted is not None:
                    yield counted

    def ids(self) -> Iterator[str]:
        """Yield the ids of the cases in plan order, without reading the cases where none is changed."""
        if self.change is not None:
            yield from (case.id for case in self)
            return
        for task, test in self.places:
            yield from self.store.cases.ids(task, test)


def read_records(store: Store, *, without: Collection[str] = (), also: Sequence[str] = ()) -> jrh.RecordTable:
    """Read the records of the plan, with what their items say in the run as it is.

    Args:
        store: of the run.
        without: ids of cases whose records are left out.
        also: ids of trials outside of the plan whose records are added.
    """
    return jrh.RecordTable.from_slices(_record_slices(store, without, also))


_Columns: TypeAlias = Mapping[str, Sequence[Any]]


def _record_slices(store: Store, without: Collection[str], also: Sequence[str]) -> Iterator[_Columns]:
    """Yield the records of the plan but some, then others; columns of no rows where there are none."""
    yield dict.fromkeys(COLUMNS, ())
    more = set(also)
    for part in store.records.slices():
        # A trial that is in the plan, too, must not count twice.
        more.difference_update(part["trial_id"])
        mask = [case not in without for case in part["case_id"]]
        yield part if all(mask) else {name: tuple(compress(values, mask)) for name, values in part.items()}
    if more:
        # Sorted, because the order of a set of texts differs between processes, and that of rows must not.
        yield from store.records.slices(sorted(more))


def records_as_made(store: Store, gone: Mapping[str, Case]) -> jrh.RecordTable:
    """Read the records of all cases as they were made: `gone` are those that something else counts for, by id."""
    trials = [
        trial_id(name, judge, repeat)
        for name in sorted(gone)
        for judge in read_judges(store)
        for repeat in range(gone[name].repeats)
    ]
    return read_records(store, without=store.cases.ids_of_revisions(), also=trials)


DECISIONS: Final = TableSpec(
    name="allocation",
    columns={"batch": "INTEGER", "judges": "TEXT", "note": "TEXT"},
    key="batch",
)
"""One row per decision: the batch after which it was made, the judges that go on, and what a report says about it.

Shards decide about their own items. The run that follows a merge has all records, and decides as if it had never been
divided.
"""


def decision_notes(store: Store) -> tuple[str, ...]:
    """Return what a report says about the decisions of a run, in order; nothing of those about another plan."""
    table = store.table(DECISIONS)
    # The plan was made again since, as after an edit of the suite: the notes are about judges and batches of the old
    # one.
    if table.digest() != store.trials.digest():
        return ()
    return tuple(note for (note,) in table.select(columns=("note",)) if note)


@frozen(kw_only=True)
class StoredEvidence:
    """Reads items, and cases and replies by id; nothing is kept in memory."""

    store: Store

    def items(self) -> Mapping[str, Sequence[Item]]:
        """Return the items of every task that are stored."""
        return self.store.items.read()

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return the cases that are stored, by id."""
        return self.store.cases.by_id(case_ids)

    def as_made(self) -> CasesAsMade | None:
        """Return the records of all cases as they were made, with what stages decided on these; None if nothing."""
        valid = self.store.cases.validity()
        if not valid:
            return None
        gone = self.store.cases.by_id([name for name, as_made in valid.items() if not as_made])
        return CasesAsMade(valid=valid, records=records_as_made(self.store, gone))

    def sources(self) -> Sequence[ReplySource]:
        """Return where the replies come from that the run rests on."""
        return self.store.spending.sources()

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the replies that are stored, by the id of their trial."""
        return self.store.records.replies(trial_ids)
