"""Records as integer columns, coded so that nothing depends on the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Final, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from attrs import evolve, field, frozen
from jrh import REFERENCE, JrhError, MetricContext, RecordTable, Status, Task
from jrh.values import NUMERIC, link_members
from jrh.values.column_file import ColumnFile, PackedIds
from jrh_stats import parts_of
from numpy.typing import NDArray

from jrh_measuring.array_storage import put_all
from jrh_measuring.coded import Coded, Codes, Mask, combine_codes, compact, is_named
from jrh_measuring.conditions import LEVELS, Conditions

T = TypeVar("T")

_LARGEST_KEY: Final = 2**62
_OFF_SCALE: Final = Status.OFF_SCALE.value


@frozen(kw_only=True, eq=False)
class Trials:
    """The columns that metrics compute on; every array has shape (n,).

    Rows that are measured together stand together, which is several times faster than the order of the table.
    """

    records: RecordTable
    """The same rows in the same order, for further columns."""
    place: Codes
    """Row of every trial in the table it was read from."""
    task: Coded
    judge: Coded
    test: Coded
    """The test; `reference` also for the trials of a test that ask the reference question again."""
    written_test: Coded
    """The test as the records name it."""
    variant: Coded
    item: Coded
    cluster: Coded
    """The unit of analysis: items that belong together. The same as `item` where every item is alone."""
    case: Coded
    expectation: Coded
    stratum: Coded
    strength: Coded
    """Strength of the condition, as text, from weakest to strongest."""
    temperature: Coded
    """Sampling temperature that the condition asks for, as text, from lowest to highest; empty: the judge's own."""
    repeat: Codes
    status: Coded
    """Status as told, but `off_scale` where a trial is `ok` without a canonical label of its task's scale."""
    label: Codes
    """Canonical label as a position in `labels`, -1 without a verdict."""
    gold: Codes
    """Gold label as a position in `labels`, -1 where unlabelled."""
    expected: Codes
    """Label of an `equals` expectation as a position in `labels`, -1 for other expectations."""
    labels: tuple[str, ...]
    """Every label that occurs, sorted."""
    rank: Codes
    """Position of every label on its task's ordinal scale, shape (tasks, labels); -1 off the scale or without order."""
    levels: Codes
    """Number of labels of every task's scale, 0 where the task is not known, shape (tasks,)."""
    simulated: Mask
    usable: Mask
    """The trials with a verdict."""
    reference: Mask
    """The trials in the reference condition."""
    conditions: Conditions
    """How every trial was asked."""
    _shared: dict[object, Any] = field(factory=dict, init=False, repr=False)

    def compute_once(self, key: object, compute: Callable[[], T]) -> T:
        """Return what was computed of these trials under a key, for the first metric that asks, and for all others."""
        if key not in self._shared:
            self._shared[key] = self.store(compute())
        return cast("T", self._shared[key])

    def store(self, value: T) -> T:
        """Return the same value with read-only arrays, which wait in a temporary file if they are large."""
        return put_all(self.records.file, value)

    def column(self, name: str) -> Coded:
        """Return any text column of the records, coded; every row is the empty text where there is no such column."""
        return self.compute_once(("column", name), lambda: _code_column(self.records, name))

    def clusters_of(self, items: Codes, task: str) -> Codes:
        """Return the cluster of items of a task, given by their codes."""
        if self.cluster is self.item:
            return items
        return self.compute_once(("clusters", task), lambda: self._clusters_by_item(task))[items]

    def _clusters_by_item(self, task: str) -> Codes:
        clusters = np.full(len(self.item.names), -1, dtype=np.int32)
        # Two tasks may have items of one name in different clusters.
        rows = is_named(self.task, task)
        clusters[self.item.codes[rows]] = self.cluster.codes[rows]
        return clusters


def once_per_table(compute: Callable[[Trials], T]) -> Callable[[Trials], T]:
    """Let a function of trials compute its value once per table; all metrics share it (`Trials.compute_once`)."""

    @wraps(compute)
    def value_of_table(trials: Trials) -> T:
        return trials.compute_once(compute.__qualname__, partial(compute, trials))

    return value_of_table


@once_per_table
def condition_codes(trials: Trials) -> Codes:
    """Number the whole condition of every trial, shape (n,).

    Trials with the same number agree in test, variant, template, option order, polarity, strength, temperature,
    language and output. Those of a test that ask the reference question again have the reference's number.
    """
    return compact(combine_codes(trials.test.codes, trials.variant.codes, trials.conditions.levels))


@once_per_table
def rerun_codes(trials: Trials) -> Codes:
    """Number the questions put to every judge: trials with the same number are reruns of each other, shape (n,).

    They agree in task, judge, item and the whole condition, and in the case, where the records name cases: two texts
    made of one item under one condition are two questions.
    """
    # The reference asks one question about an item, also where another test asks it again under another case.
    case = np.where(trials.reference, 0, trials.case.codes)
    return compact(
        combine_codes(trials.judge.codes, trials.task.codes, condition_codes(trials), trials.item.codes, case)
    )


def count_missing_by_status(trials: Trials, rows: Codes) -> dict[str, int]:
    """Count the trials without a verdict among some rows by status."""
    counts = np.bincount(trials.status.codes[rows[~trials.usable[rows]]], minlength=len(trials.status.names))
    return {name: int(count) for name, count in zip(trials.status.names, counts, strict=True) if count}


_READ: Final[WeakKeyDictionary[RecordTable, tuple[Mapping[str, Task], Trials]]] = WeakKeyDictionary()
"""What was read of tables that are still in use: all metrics of a run read the same one, which never changes."""


def read_trials(records: RecordTable, context: MetricContext) -> Trials:
    """Code the columns of a table once; every further metric gets the same arrays, which are read-only by convention.

    Raises:
        JrhError: a trial occurs twice, or a gold or expected label is not on the scale of its task.
    """
    known = _READ.get(records)
    # Which labels are on a scale is a matter of the tasks: other tasks make other trials.
    if known is not None and known[0] == context.tasks:
        return known[1]
    file = records.file
    order = file.put(_order(records))
    # Columns that were taken to be coded are let go: few metrics read them again.
    read = _read(records.in_order(order, ColumnFile()), order, context)
    trials = evolve(read, records=records.in_order(order, file))
    _READ[records] = (context.tasks, trials)
    return trials


def _read(records: RecordTable, place: Codes, context: MetricContext) -> Trials:
    """Code the columns of a table; columns the table does not have count as empty."""
    _check_distinct(records)
    task = _code_column(records, "task", first=tuple(context.tasks))
    test = _code_column(records, "test", add=(REFERENCE,), first=(REFERENCE,))
    variant = _code_column(records, "variant")
    strength, temperature = _levels(records, "strength"), _levels(records, "temperature")
    expectation = _code_column(records, "expectation")
    columns = {name: _code_column(records, name) for name in ("family", *LEVELS) if name not in NUMERIC}
    columns |= {"task": task, "test": test, "variant": variant, "expectation": expectation}
    columns |= {"strength": strength, "temperature": temperature}
    conditions = put_all(records.file, Conditions.of(columns, [context.tasks.get(name) for name in task.names]))
    reference = is_named(test, REFERENCE)
    item = _code_column(records, "item_id")
    status = _code_column(records, "status", add=(_OFF_SCALE,))
    labels = tuple(sorted({label for name in ("canonical", "gold", "expected") for label in _names(records, name)}))
    answered = is_named(status, Status.OK.value)
    known = _on_scale(task.names, labels, context)
    label = np.where(answered, _label_codes(records, "canonical", labels), -1)
    label = np.where((label >= 0) & known[task.codes, label], label, -1)
    gold, expected = (_label_codes(records, name, labels) for name in ("gold", "expected"))
    for name, codes in (("gold", gold), ("expected", expected)):
        _check_labels(name, codes, task, labels, known)
    # A judge that answers off the scale has given no verdict, whatever status a log gives it.
    status_codes = np.where(answered & (label < 0), status.names.index(_OFF_SCALE), status.codes)
    store = partial(_store_codes, records)
    # Large columns wait in the file of the table: at any time a metric needs few of them in memory.
    return Trials(
        records=records, place=place, task=task, judge=_code_column(records, "judge"),
        test=evolve(test, codes=store(np.where(conditions.again, test.names.index(REFERENCE), test.codes))),
        written_test=test, variant=evolve(variant, codes=store(_variants(task, variant, reference, conditions.again))),
        item=item, cluster=_clusters(records, item), case=_code_column(records, "case_id"), expectation=expectation,
        stratum=_code_column(records, "stratum"), strength=strength, temperature=temperature, repeat=_repeat(records),
        status=Coded(codes=store(status_codes), names=status.names), label=store(label), gold=gold, expected=expected,
        labels=labels, rank=_ranks(task.names, labels, context),
        levels=np.array([len(context.tasks[name].scale.labels) if name in context.tasks else 0 for name in task.names]),
        simulated=records.file.put(_is_simulated(records)), usable=records.file.put(label >= 0),
        reference=records.file.put(reference | conditions.again), conditions=conditions,
    )  # fmt: skip


def _order(records: RecordTable) -> Codes:
    """Return the rows by task, judge, test, variant and item."""
    columns = [name for name in ("item_id", "variant", "test", "judge", "task") if name in records.columns]
    key, size = np.zeros(len(records), dtype=np.int64), 1
    for name in columns:
        width = len(records.categories(name)) + 1
        # The key would overflow; sorting by column takes longer, and any number of columns.
        if size * width > _LARGEST_KEY:
            return np.lexsort([records.codes(column) for column in columns]).astype(np.int32)
        key += size * (records.codes(name).astype(np.int64) + 1)
        size *= width
    return np.argsort(key, kind="stable").astype(np.int32)


def _store_codes(records: RecordTable, codes: Codes) -> Codes:
    """Return codes as a column of trials, which waits in the file of the table if it is large."""
    return records.file.put(compact(codes))


def _translate_codes(records: RecordTable, name: str, lookup: NDArray[np.int32]) -> Codes:
    """Return the code of every row by the one it has in its column; -1 takes the last."""
    codes = _raw(records, name)
    parts = (lookup[codes[part]] for part in parts_of(len(codes)))
    return _store_codes(records, records.file.join(parts, codes.shape, lookup.dtype))


def _names(records: RecordTable, name: str) -> Sequence[str]:
    return records.categories(name) if name in records.columns else ()


def _raw(records: RecordTable, name: str) -> NDArray[np.int32]:
    if name not in records.columns:
        return np.broadcast_to(np.int32(-1), len(records))
    return records.codes(name)


def _code_column(records: RecordTable, name: str, first: Sequence[str] = (), add: Iterable[str] = ()) -> Coded:
    present = _names(records, name)
    if isinstance(present, PackedIds):
        ids, lookup = present.sort()
        return Coded(codes=_translate_codes(records, name, lookup), names=ids.store_in(records.file))
    all_names = {*present, *add, ""}
    before = [text for text in first if text in all_names]
    names = (*before, *sorted(all_names.difference(before)))
    position = {text: place for place, text in enumerate(names)}
    # One more entry, for None: code -1 reads the last.
    lookup = np.array([position[text] for text in (*present, "")], dtype=np.int32)
    return Coded(codes=_translate_codes(records, name, lookup), names=names)


def _clusters(records: RecordTable, item: Coded) -> Coded:
    """Code the clusters; where a record names none, its group decides, and without a group its item."""
    named = _code_column(records, "cluster")
    # The item column itself, so that everything after can tell that items are clusters.
    if named.names == item.names and np.array_equal(named.codes, item.codes):
        return item
    if "" in named.names and np.any(named.codes == named.names.index("")):
        named = _by_group(records, item, named)
    return item if np.array_equal(named.codes, item.codes) and named.names == item.names else named


def _by_group(records: RecordTable, item: Coded, named: Coded) -> Coded:
    group = _code_column(records, "group")
    alone = len(group.names) == 1 or (group.names == item.names and np.array_equal(group.codes, item.codes))
    if len(named.names) == 1 and alone:  # records of other programs, where every item is its own
        return item
    _, first = np.unique(combine_codes(item.codes, named.codes, group.codes), return_index=True)
    pairs = zip(*(column.codes[first].tolist() for column in (item, named, group)), strict=True)
    # Items that share a cluster or a group are linked, and links are followed to the end. The line break keeps the
    # name of a cluster apart from an equal one of a group.
    names = link_members(
        (item.names[code], (f"\n{named.names[cluster]}", group.names[of] or item.names[code]))
        for code, cluster, of in pairs
    )
    distinct = tuple(sorted({*names.values(), ""}))
    position = {name: place for place, name in enumerate(distinct)}
    lookup = np.array([position[names.get(name, "")] for name in item.names], dtype=np.int32)
    return Coded(codes=lookup[item.codes], names=distinct)


def _label_codes(records: RecordTable, name: str, labels: tuple[str, ...]) -> Codes:
    position = {text: place for place, text in enumerate(labels)}
    lookup = np.array([*(position[text] for text in _names(records, name)), -1], dtype=np.int32)
    return _translate_codes(records, name, lookup)


def _ranks(tasks: Sequence[str], labels: tuple[str, ...], context: MetricContext) -> Codes:
    rank = np.full((len(tasks), len(labels)), -1, dtype=np.int32)
    for row, name in enumerate(tasks):
        if name in context.tasks and (scale := context.tasks[name].scale).ordered:
            rank[row] = [scale.rank(label) if label in scale else -1 for label in labels]
    return rank


def _on_scale(tasks: Sequence[str], labels: tuple[str, ...], context: MetricContext) -> Mask:
    """Return whether a label is on the scale of a task, shape (tasks, labels + 1); True where the task is unknown."""
    known = np.ones((len(tasks), len(labels) + 1), dtype=np.bool_)
    for row, name in enumerate(tasks):
        if name in context.tasks:
            known[row, :-1] = [label in context.tasks[name].scale for label in labels]
    return known


def _check_labels(name: str, codes: Codes, task: Coded, labels: tuple[str, ...], known: Mask) -> None:
    strange = np.flatnonzero((codes >= 0) & ~known[task.codes, codes])
    if len(strange):
        row = strange[0]
        raise JrhError(
            f"the {name} label '{labels[codes[row]]}' is not on the scale of task '{task.names[task.codes[row]]}'; "
            f"{len(strange)} records have such labels: correct them, or the task's scale"
        )


def _check_distinct(records: RecordTable) -> None:
    if "trial_id" not in records.columns:
        return
    codes = records.codes("trial_id")
    counts = np.bincount(codes[codes >= 0])
    # A trial that occurs twice would weigh double in every measure.
    if counts.max(initial=0) > 1:
        twice = records.categories("trial_id")[int(counts.argmax())]
        raise JrhError(f"trial '{twice}' has {int(counts.max())} records; every trial counts once: remove the others")


def _levels(records: RecordTable, name: str) -> Coded:
    """Return a column of numbers as text, from lowest to highest; empty, and first, where there is none."""
    if name not in records.columns:
        return Coded(codes=np.broadcast_to(np.int32(0), len(records)), names=("",))
    numbers, codes = np.unique(records.number(name), return_inverse=True)
    names = ["" if np.isnan(number) else f"{number:g}" for number in numbers]
    if "" not in names:
        return Coded(codes=_store_codes(records, codes), names=tuple(names))
    # numpy sorts what is no number last.
    return Coded(codes=_store_codes(records, (codes + 1) % len(names)), names=("", *names[:-1]))


def _variants(task: Coded, variant: Coded, reference: Mask, again: Mask) -> Codes:
    """Return the variants; the trials that ask the reference question again have the reference's."""
    codes = variant.codes.copy()
    for place in np.unique(task.codes[again]):
        names = variant.codes[reference & (task.codes == place)]
        codes[again & (task.codes == place)] = names.min() if len(names) else variant.names.index("")
    return codes


def _repeat(records: RecordTable) -> Codes:
    if "repeat" not in records.columns:
        return np.broadcast_to(np.int32(0), len(records))
    return _store_codes(records, np.nan_to_num(records.number("repeat"), nan=0.0).astype(np.int64))


def _is_simulated(records: RecordTable) -> Mask:
    if "simulated" not in records.columns:
        return np.zeros(len(records), dtype=np.bool_)
    return np.asarray(records.number("simulated") == 1)
