"""The verdicts of one judge in one test by the order in which the options were shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import numpy as np
from jrh.values.cases import REFERENCE
from jrh.values.items import Task

from jrh_measuring.answers import SHOWN, Answers, with_unchanged, without_order
from jrh_measuring.cells import cells_of
from jrh_measuring.coded import Codes, Mask, is_named, numbered
from jrh_measuring.conditions import ORDER, acts_on
from jrh_measuring.trials import Trials

_JOINT: Final = "+"
"""Joins the families of a chain: its steps change more than the order."""


def answers_by_order(trials: Trials, tasks: Mapping[str, Task]) -> Iterator[Answers]:
    """Yield the answers of every task, judge and test that states an order, by order.

    A test that shows an item in other orders only is completed by the verdicts on the otherwise same question: the
    item's reference verdicts, or for a chain those of the test that does the same without the order. Both sides of a
    swap count, whether a log or a suite puts them under one test or two.
    """
    trials.shared(("column", SHOWN), lambda: trials.conditions.order)
    stated = ~is_named(trials.column(ORDER), "")
    question = without_order(trials)
    for cell in cells_of(trials):
        if cell.task not in tasks or not stated[cell.rows].any():
            continue
        rows = cell.rows[stated[cell.rows] | (cell.test == REFERENCE)]
        if cell.test != REFERENCE:
            rows = np.union1d(with_unchanged(trials, cell.part({}, rows)), _others(trials, rows, tasks, question))
        yield Answers.of(trials, cell.part(cell.levels, rows), by=SHOWN)


def _others(trials: Trials, rows: Codes, tasks: Mapping[str, Task], question: Codes) -> Codes:
    """Return the trials in the item's own order on the questions that the test shows in other orders only."""
    task = trials.task.names[trials.task.codes[rows[0]]]
    own = is_named(trials.conditions.order, tasks[task].scale.own_order)
    own &= (trials.task.codes == trials.task.codes[rows[0]]) & (trials.judge.codes == trials.judge.codes[rows[0]])
    family = trials.column("family")
    families = {family.names[code] for code in np.unique(family.codes[rows])}
    if any(_JOINT in name for name in families):
        same, variant = _without_order(trials, rows, families, own)
        question = numbered(question, variant)
    else:
        same = trials.reference & own
    asked = np.setdiff1d(question[rows], question[rows[own[rows]]])
    return np.flatnonzero(same & np.isin(question, asked))


def _without_order(trials: Trials, rows: Codes, families: Collection[str], own: Mask) -> tuple[Mask, Codes]:
    """Find the test that takes the steps of a chain but for the order.

    Returns:
        A mask of its trials, and codes of the variants in which those of the chain lack the order, both of shape (n,).
        The mask is empty where no test does the same, or several do and the names do not tell which: their texts may
        differ.
    """
    family, variant, written = trials.column("family"), trials.column("variant"), trials.column(ORDER)
    steps = {_joined(step for step in name.split(_JOINT) if not acts_on(ORDER, step)) for name in families}
    wanted = [code for code, name in enumerate(family.names) if name and name in steps]
    same = own & ~trials.reference & np.isin(family.codes, wanted)
    test = trials.test
    found = {test.names[code]: code for code in np.unique(test.codes[same])}
    chain = test.names[test.codes[rows[0]]]
    named = _joined(step for step in chain.split(_JOINT) if not acts_on(ORDER, step))
    chosen = [found[named]] if named in found else list(found.values())
    same &= np.isin(test.codes, chosen) & (len(chosen) == 1)
    place = {name: code for code, name in enumerate(variant.names)}
    codes = variant.codes + 1
    for one, order in np.unique(np.stack([variant.codes[rows], written.codes[rows]]), axis=1).T:
        parts = variant.names[one].split(_JOINT)
        rest = _joined(part for part in parts if part != written.names[order])
        those = rows[(variant.codes[rows] == one) & (written.codes[rows] == order)]
        codes[those] = place.get(rest, -1) + 1
    return same, codes


def _joined(parts: Iterable[str]) -> str:
    return _JOINT.join(parts)
