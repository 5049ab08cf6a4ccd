"""The change of a share of right verdicts between the reference condition and a test, answer by answer."""

from __future__ import annotations

import numpy as np
from jrh_stats import Change, paired_change
from numpy.typing import NDArray

from jrh_measuring.builder import MeasureBuilder
from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes
from jrh_measuring.reference import reference_verdicts
from jrh_measuring.scoring import stated_label
from jrh_measuring.trials import Trials, condition_codes


def accuracy_change_of(builder: MeasureBuilder, cell: Cell, rows: Codes) -> Change:
    """Estimate and test the change of accuracy in some trials from their items' reference verdicts.

    The estimate is the mean of `gold_changes`. Answers go in one by one, and not as one difference per item: how much
    an item's verdicts vary when nothing changes is seen only among those of one condition.

    Args:
        builder: the metric's.
        cell: where the trials stand; seeds the draws.
        rows: the eligible trials of the test, with or without a verdict.
    """
    trials, context = builder.trials, builder.context
    right = trials.shared("right or not", lambda: _right(trials))
    of = reference_verdicts(trials).of
    compared = np.zeros(int(of.max(initial=0)) + 1, dtype=np.bool_)
    compared[of[rows]] = True
    before = np.flatnonzero(trials.reference & compared[of]).astype(np.int32)
    # What is asked in the same place of every item is one slot of its cluster.
    answers = np.concatenate([before, rows])
    answers = answers[np.lexsort((trials.repeat[answers], condition_codes(trials)[answers]))]
    return paired_change(
        right[answers],
        ~trials.reference[answers],
        of[answers],
        trials.cluster.codes[answers],
        level=context.level,
        resamples=context.resamples,
        seed=builder.seed(cell),
    )


def _right(trials: Trials) -> NDArray[np.float32]:
    """Return 1 where a verdict is the stated label, 0 where it is not, NaN without a verdict or a stated label."""
    truth = stated_label(trials)
    return np.where((truth >= 0) & trials.usable, (trials.label == truth).astype(np.float32), np.float32(np.nan))
