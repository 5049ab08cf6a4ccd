"""What each judge said of each item in the reference condition, as counts; pairs are never listed."""

from __future__ import annotations

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from jrh.measuring.trials import Codes, Trials


@frozen(kw_only=True, eq=False)
class ReferenceVerdicts:
    """The reference verdicts of every (task, judge, item), and which of them every trial is compared with."""

    of: Codes
    """Trial -> its row in the tables below, shape (n,); the last row, all zeros, where there is no reference."""
    counts: NDArray[np.int64]
    """Usable reference verdicts by label, shape (groups + 1, labels)."""
    planned: Codes
    """Reference trials each trial is compared with, whether they have a verdict or not, shape (n,)."""
    usable: Codes
    """Of these, the ones with a verdict, shape (n,)."""

    def matching(self, label: Codes) -> Codes:
        """Count the reference verdicts that equal each trial's label, shape (n,); 0 where the label is -1."""
        if not self.counts.shape[1]:
            return np.zeros(len(label), dtype=np.int64)
        return np.where(label >= 0, self.counts[self.of, label], 0)


def reference_verdicts(trials: Trials) -> ReferenceVerdicts:
    """Count the reference verdicts and find every trial's own."""
    return trials.shared("reference verdicts", lambda: _reference_verdicts(trials))


def _reference_verdicts(trials: Trials) -> ReferenceVerdicts:
    key = (trials.task.codes * len(trials.judge.names) + trials.judge.codes) * len(trials.item.names)
    key = key + trials.item.codes
    rows = np.flatnonzero(trials.reference)
    groups, inverse = np.unique(key[rows], return_inverse=True)
    size, width = len(groups) + 1, len(trials.labels)
    verdict = trials.label[rows]
    answered = verdict >= 0
    flat = np.bincount(inverse[answered] * width + verdict[answered], minlength=size * width)
    counts = flat.reshape(size, width).astype(np.int64)
    of = _position(groups, key)
    return ReferenceVerdicts(
        of=of,
        counts=counts,
        planned=np.bincount(inverse, minlength=size).astype(np.int64)[of],
        usable=counts.sum(axis=1)[of],
    )


def _position(groups: Codes, key: Codes) -> Codes:
    """Return where each key stands in the sorted groups; behind the last where it is not among them."""
    if not len(groups):
        return np.zeros(len(key), dtype=np.int64)
    place = np.minimum(np.searchsorted(groups, key), len(groups) - 1)
    return np.where(groups[place] == key, place, len(groups))
