"""The same questions put to two judges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes, numbered
from jrh_measuring.trials import Trials, condition_codes


def questions(trials: Trials) -> Codes:
    """Number the questions: trials of several judges have the same one if case and repeat are the same, shape (n,)."""
    return trials.shared("questions", lambda: _questions(trials))


def _questions(trials: Trials) -> Codes:
    key = [column.codes for column in (trials.task, trials.written_test, trials.case)]
    dense = numbered(*key, condition_codes(trials), trials.item.codes)
    return np.asarray(dense * (int(trials.repeat.max(initial=0)) + 1) + trials.repeat)


def judge_pairs(trials: Trials, panel: Cell) -> Iterator[tuple[Cell, Codes, Codes]]:
    """Yield, for each pair of judges by name, the cell and the rows of both on the questions put to both."""
    question = questions(trials)
    judges = trials.judge.codes[panel.rows]
    rows = {int(judge): panel.rows[judges == judge] for judge in np.unique(judges)}
    for one, other in combinations(sorted(rows), 2):
        _, here, there = np.intersect1d(question[rows[one]], question[rows[other]], return_indices=True)
        cell = Cell(
            task=panel.task,
            judge=trials.judge.names[one],
            test=panel.test,
            levels={"against": trials.judge.names[other]},
            rows=np.concatenate([rows[one], rows[other]]),
        )
        yield cell, rows[one][here], rows[other][there]
