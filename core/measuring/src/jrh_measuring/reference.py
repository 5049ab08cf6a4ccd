"""What each judge said of each item in the reference condition, as counts; pairs are never listed."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from jrh_measuring.coded import Codes, Mask, combine_codes, compact
from jrh_measuring.trials import Trials, condition_codes, once_per_table


@frozen(kw_only=True, eq=False)
class ReferenceVerdicts:
    """The reference verdicts of every task, judge and item, and which of them every trial is compared with."""

    of: Codes
    """Trial -> its row in the tables below, shape (n,); the last row, all zeros, where there is no reference."""
    counts: NDArray[np.int64]
    """Usable reference verdicts by label, shape (groups + 1, labels)."""
    trials: Codes
    """Reference trials of each group, whether they have a verdict or not, shape (groups + 1,)."""

    @cached_property
    def verdict_counts(self) -> Codes:
        """Count the usable reference verdicts of each group, shape (groups + 1,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def trial_counts(self) -> Codes:
        """Count the reference trials each trial is compared with, with or without a verdict, shape (n,)."""
        return self.trials[self.of]

    @property
    def usable(self) -> Codes:
        """Count those of them with a verdict, shape (n,)."""
        return self.verdict_counts[self.of]

    def at_least(self, number: int, rows: Codes) -> Mask:
        """Tell which of some trials are compared with so many usable verdicts or more."""
        return np.asarray((self.verdict_counts >= number)[self.of[rows]])

    def count_matches(self, label: Codes) -> Codes:
        """Count the reference verdicts that equal each trial's label, shape (n,); 0 where the label is -1."""
        # No label occurs: there is no column that a code could index.
        if not self.counts.shape[1]:
            return np.zeros(len(label), dtype=np.int64)
        # A label of -1 reads the last column; the condition takes its count out again.
        return np.where(label >= 0, self.counts[self.of, label], 0)


@once_per_table
def reference_verdicts(trials: Trials) -> ReferenceVerdicts:
    """Count the reference verdicts and find every trial's own."""
    rows = np.flatnonzero(trials.reference)
    item = combine_codes(trials.task.codes, trials.judge.codes, trials.item.codes)
    question = condition_codes(trials)
    # One group per item and condition: a reference logged in both option orders is two conditions, not reruns of one.
    key = item * (int(question.max(initial=0)) + 1) + question
    groups, first, inverse = np.unique(key[rows], return_index=True, return_inverse=True)
    # One more row, of zeros, for trials without a reference.
    size, width = len(groups) + 1, len(trials.labels)
    verdict = trials.label[rows]
    answered = verdict >= 0
    flat = np.bincount(inverse[answered] * width + verdict[answered], minlength=size * width)
    counts = flat.reshape(size, width).astype(np.int64)
    of = _nearest(trials, rows[first], item)
    # A reference trial is compared with the reruns of its own condition, also where another one is as near.
    of[rows] = inverse
    planned = np.bincount(inverse, minlength=size).astype(np.int64)
    return ReferenceVerdicts(of=compact(of), counts=counts, trials=planned)


def _nearest(trials: Trials, groups: Codes, item: Codes) -> Codes:
    """Return the group each trial is compared with: that of its item that differs from it in the fewest levels.

    Nearly always an item has one reference condition, and that is it. Of several that are as near the plainest is
    taken. The place behind the last group means none.

    Args:
        trials: the trials.
        groups: a trial of each group, sorted by item and condition.
        item: number of task, judge and item of every trial.
    """
    starts = np.searchsorted(item[groups], item)
    number = np.searchsorted(item[groups], item, side="right") - starts
    of = np.where(number > 0, starts, len(groups))
    several = np.flatnonzero(number > 1)
    # The usual case: one reference condition per item, and nothing to choose.
    if not len(several):
        return of
    begins = np.concatenate([[0], np.cumsum(number[several])[:-1]])
    trial = np.repeat(several, number[several])
    place = np.arange(len(trial)) - np.repeat(begins, number[several])
    candidate = groups[starts[trial] + place]
    conditions = trials.conditions
    # Levels weigh twice: the variant's name decides only between conditions that are equally near.
    differing = 2 * conditions.distance(conditions.levels[trial], conditions.levels[candidate])
    differing += trials.variant.codes[trial] != trials.variant.codes[candidate]
    # Distance and place in one number: of equally near groups the first, which is the plainest.
    best = np.minimum.reduceat(differing * len(groups) + place, begins) % len(groups)
    of[several] = starts[several] + best
    return of
