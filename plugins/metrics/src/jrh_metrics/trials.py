"""Records as integer columns, coded so that nothing depends on the order of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from attrs import frozen
from jrh import REFERENCE, MetricContext, RecordTable, Status
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

_OFF_SCALE = Status.OFF_SCALE.value


@frozen(kw_only=True)
class Coded:
    """A text column as positions in a sorted list of names; None is the empty text."""

    codes: Codes
    names: tuple[str, ...]


@frozen(kw_only=True, eq=False)
class Trials:
    """The columns that metrics compute on; every array has shape (n,)."""

    task: Coded
    judge: Coded
    test: Coded
    variant: Coded
    item: Coded
    case: Coded
    expectation: Coded
    status: Coded
    """Status as told, but `off_scale` where a trial is `ok` without a canonical label."""
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
    simulated: Mask
    usable: Mask
    """The trials with a verdict."""
    reference: Mask
    """The trials in the reference condition."""


def is_named(column: Coded, name: str) -> Mask:
    """Return the mask of the rows that have the name."""
    code = column.names.index(name) if name in column.names else -1
    return np.asarray(column.codes == code)


def read_trials(records: RecordTable, context: MetricContext) -> Trials:
    """Code the columns of a table; columns the table does not have count as empty."""
    task = _coded(records, "task", first=tuple(context.tasks))
    test = _coded(records, "test", first=(REFERENCE,))
    status = _coded(records, "status", add=(_OFF_SCALE,))
    labels = tuple(sorted({label for name in ("canonical", "gold", "expected") for label in _names(records, name)}))
    answered = is_named(status, Status.OK.value)
    label = np.where(answered, _label_codes(records, "canonical", labels), -1)
    told = np.where(answered & (label < 0), status.names.index(_OFF_SCALE), status.codes)
    return Trials(
        task=task,
        judge=_coded(records, "judge"),
        test=test,
        variant=_coded(records, "variant"),
        item=_coded(records, "item_id"),
        case=_coded(records, "case_id"),
        expectation=_coded(records, "expectation"),
        status=Coded(codes=told, names=status.names),
        label=label,
        gold=_label_codes(records, "gold", labels),
        expected=_label_codes(records, "expected", labels),
        labels=labels,
        rank=_ranks(task.names, labels, context),
        simulated=_simulated(records),
        usable=label >= 0,
        reference=is_named(test, REFERENCE),
    )


def _names(records: RecordTable, name: str) -> tuple[str, ...]:
    return records.categories(name) if name in records.columns else ()


def _raw(records: RecordTable, name: str) -> Codes:
    if name not in records.columns:
        return np.full(len(records), -1, dtype=np.int64)
    return records.codes(name).astype(np.int64)


def _coded(records: RecordTable, name: str, first: Sequence[str] = (), add: Iterable[str] = ()) -> Coded:
    present = _names(records, name)
    priority = {text: place for place, text in enumerate(first)}
    names = tuple(sorted({*present, *add, ""}, key=lambda text: (priority.get(text, len(priority)), text)))
    position = {text: place for place, text in enumerate(names)}
    # One more entry, for None: code -1 reads the last.
    lookup = np.array([position[text] for text in (*present, "")], dtype=np.int64)
    return Coded(codes=lookup[_raw(records, name)], names=names)


def _label_codes(records: RecordTable, name: str, labels: tuple[str, ...]) -> Codes:
    position = {text: place for place, text in enumerate(labels)}
    lookup = np.array([*(position[text] for text in _names(records, name)), -1], dtype=np.int64)
    return lookup[_raw(records, name)]


def _ranks(tasks: tuple[str, ...], labels: tuple[str, ...], context: MetricContext) -> Codes:
    rank = np.full((len(tasks), len(labels)), -1, dtype=np.int64)
    for row, name in enumerate(tasks):
        scale = context.tasks[name].scale if name in context.tasks else None
        if scale is not None and scale.ordered:
            rank[row] = [scale.rank(label) if label in scale else -1 for label in labels]
    return rank


def _simulated(records: RecordTable) -> Mask:
    if "simulated" not in records.columns:
        return np.zeros(len(records), dtype=np.bool_)
    return np.asarray(records.number("simulated") == 1)
