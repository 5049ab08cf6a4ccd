"""The same questions put to two judges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from attrs import frozen
from jrh.values.scales import Scale
from numpy.typing import NDArray

from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes, numbered
from jrh_measuring.scoring import stated_label
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


@frozen(kw_only=True, eq=False)
class Ballots:
    """One row per case and repeat, one column per judge; labels are positions on the task's scale, -1 where missing."""

    votes: NDArray[np.int64]
    """Shape (ballots, judges)."""
    truth: NDArray[np.int64]
    """The right label as the metrics know it, -1 where none is stated, shape (ballots,)."""
    clusters: Codes
    """Shape (ballots,)."""
    first: Codes
    """A trial of each ballot, shape (ballots,): its case, test, item and repeat are those of all."""
    judges: tuple[str, ...]
    rows: Codes
    """The trials they come from, those without a verdict included, shape (trials,)."""
    ballot: Codes
    """The ballot of each of them, shape (trials,)."""


def ballots_of(trials: Trials, cell: Cell, scale: Scale, *, labelled: bool = True) -> Ballots:
    """Return the votes on the cases of a cell that holds the trials of all judges; the judges in order of their names.

    The k-th repeat of a case is one ballot: the k-th answers of all judges.

    Args:
        trials: all trials.
        cell: the cases.
        scale: the scale of the cell's task.
        labelled: whether to leave out cases without a right label.
    """
    position = np.array([scale.rank(label) if label in scale else -1 for label in trials.labels] + [-1], dtype=np.int64)
    right = position[stated_label(trials)]
    rows = cell.rows[right[cell.rows] >= 0] if labelled else cell.rows
    judges, judge = np.unique(trials.judge.codes[rows], return_inverse=True)
    _, first, ballot = np.unique(questions(trials)[rows], return_index=True, return_inverse=True)
    votes = np.full((len(first), len(judges)), -1, dtype=np.int64)
    votes[ballot, judge] = position[trials.label[rows]]
    return Ballots(
        votes=votes,
        truth=right[rows[first]],
        clusters=trials.cluster.codes[rows[first]],
        first=rows[first],
        judges=tuple(trials.judge.names[code] for code in judges),
        rows=rows,
        ballot=ballot,
    )
