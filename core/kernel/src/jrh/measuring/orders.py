"""The verdicts of one judge in one test by the order in which the options were shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from jrh.measuring.answers import Answers
from jrh.measuring.cells import cells_of
from jrh.measuring.trials import Coded, Codes, Mask, Trials
from jrh.values.types import REFERENCE, Task

_SHOWN: Final = "shown option order"
"""Name of the column with every trial's order: `option_order`, or its item's own where that is empty."""
_UNCHANGED: Final = ("template", "polarity", "language")
"""Text columns in which a reference question must equal the swapped one; so must strength and temperature."""
_JOINT: Final = "+"
"""Joins the families of a chain: its steps change more than the order."""


def answers_by_order(trials: Trials, tasks: Mapping[str, Task]) -> Iterator[Answers]:
    """Yield the answers of every task, judge and test that states an order, by order.

    A test that shows an item in other orders only is completed by the item's reference verdicts on the otherwise same
    question: both sides of a swap count, whether a log or a suite puts them under one test or two.
    """
    shown = trials.shared(("column", _SHOWN), lambda: _shown(trials, tasks))
    stated = _stated(trials)
    question = trials.shared("questions without order", lambda: _questions(trials))
    for cell in cells_of(trials):
        if cell.task not in tasks or not stated[cell.rows].any():
            continue
        own = _own_code(shown, tasks[cell.task])
        rows = cell.rows[stated[cell.rows] | (cell.test == REFERENCE)]
        if cell.test != REFERENCE:
            rows = np.concatenate([rows, _others(trials, rows, shown.codes == own, question)])
        yield Answers.of(trials, cell.part(cell.levels, rows), by=_SHOWN)


def _others(trials: Trials, rows: Codes, own: Mask, question: Codes) -> Codes:
    """Return the reference trials on the questions that the test shows in other orders only."""
    family = trials.column("family")
    if any(_JOINT in family.names[code] for code in np.unique(family.codes[rows])):
        return np.zeros(0, dtype=np.int64)
    asked = np.setdiff1d(question[rows], question[rows[own[rows]]])
    same = trials.reference & own & (trials.task.codes == trials.task.codes[rows[0]])
    same &= trials.judge.codes == trials.judge.codes[rows[0]]
    return np.flatnonzero(same & np.isin(question, asked))


def _stated(trials: Trials) -> Mask:
    orders = trials.column("option_order")
    return np.asarray(orders.codes != orders.names.index(""))


def _shown(trials: Trials, tasks: Mapping[str, Task]) -> Coded:
    """Return the order of every trial; an item's own where none is stated, empty where the task is not known."""
    orders = trials.column("option_order")
    own = ["".join(tasks[name].scale.options) if name in tasks else "" for name in trials.task.names]
    names = tuple(sorted({*orders.names, *own, ""}))
    of_order = np.array([names.index(name) for name in orders.names], dtype=np.int64)
    of_task = np.array([names.index(name) for name in own], dtype=np.int64)
    return Coded(codes=np.where(_stated(trials), of_order[orders.codes], of_task[trials.task.codes]), names=names)


def _own_code(shown: Coded, task: Task) -> int:
    return shown.names.index("".join(task.scale.options))


def _questions(trials: Trials) -> Codes:
    """Number what is asked, but for the test and the order: item and the rest of the condition, shape (n,)."""
    columns = [trials.item.codes, trials.strength.codes, *(trials.column(name).codes for name in _UNCHANGED)]
    if "temperature" in trials.records.columns:
        columns.append(np.unique(trials.records.number("temperature"), return_inverse=True)[1].astype(np.int64))
    _, found = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return np.asarray(found, dtype=np.int64).reshape(-1)
