"""The verdicts of one judge in one test by the order in which the options were shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from jrh.measuring.answers import Answers, with_unchanged
from jrh.measuring.cells import cells_of
from jrh.measuring.coded import Codes, is_named, numbered
from jrh.measuring.conditions import LEVELS, ORDER
from jrh.measuring.trials import Trials
from jrh.values.types import REFERENCE, Task

_SHOWN: Final = "shown option order"
"""Name of the column with every trial's order: `option_order`, or that of the scale where that is empty."""
_JOINT: Final = "+"
"""Joins the families of a chain: its steps change more than the order."""


def answers_by_order(trials: Trials, tasks: Mapping[str, Task]) -> Iterator[Answers]:
    """Yield the answers of every task, judge and test that states an order, by order.

    A test that shows an item in other orders only is completed by the item's reference verdicts on the otherwise same
    question: both sides of a swap count, whether a log or a suite puts them under one test or two.
    """
    trials.shared(("column", _SHOWN), lambda: trials.conditions.order)
    stated = ~is_named(trials.column(ORDER), "")
    question = trials.shared("questions without order", lambda: _questions(trials))
    for cell in cells_of(trials):
        if cell.task not in tasks or not stated[cell.rows].any():
            continue
        rows = cell.rows[stated[cell.rows] | (cell.test == REFERENCE)]
        if cell.test != REFERENCE:
            rows = np.union1d(with_unchanged(trials, cell.part({}, rows)), _others(trials, rows, tasks, question))
        yield Answers.of(trials, cell.part(cell.levels, rows), by=_SHOWN)


def _others(trials: Trials, rows: Codes, tasks: Mapping[str, Task], question: Codes) -> Codes:
    """Return the reference trials on the questions that the test shows in other orders only."""
    family = trials.column("family")
    if any(_JOINT in family.names[code] for code in np.unique(family.codes[rows])):
        return np.zeros(0, dtype=np.int64)
    task = trials.task.names[trials.task.codes[rows[0]]]
    own = is_named(trials.conditions.order, tasks[task].scale.own_order)
    asked = np.setdiff1d(question[rows], question[rows[own[rows]]])
    same = trials.reference & own & (trials.task.codes == trials.task.codes[rows[0]])
    same &= trials.judge.codes == trials.judge.codes[rows[0]]
    return np.flatnonzero(same & np.isin(question, asked))


def _questions(trials: Trials) -> Codes:
    """Number what is asked, but for the test and the order: item and the rest of the condition, shape (n,)."""
    table = np.delete(trials.conditions.table, LEVELS.index(ORDER), axis=1)
    _, rest = np.unique(table, axis=0, return_inverse=True)
    return numbered(rest.reshape(-1).astype(np.int64)[trials.conditions.levels], trials.item.codes)
