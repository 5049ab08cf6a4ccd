"""How a trial scores: against a stated label, or against the reference verdicts of the same judge and item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jrh_metrics.measuring import Scores
from jrh_metrics.reference import ReferenceVerdicts
from jrh_metrics.trials import Codes, Mask, Trials, is_named


def against_label(trials: Trials, truth: Codes, eligible: Mask) -> Scores:
    """Score 1 where the canonical label is the stated one; trials without a stated label are not eligible."""
    right = (trials.label == truth).astype(np.float64)
    usable = trials.usable
    return Scores(
        eligible=eligible & (truth >= 0),
        value=np.where(usable, right, np.nan),
        low=np.where(usable, right, 0.0),
        high=np.where(usable, right, 1.0),
        truth=truth,
    )


def against_reference(trials: Trials, reference: ReferenceVerdicts, favourable: Codes, eligible: Mask) -> Scores:
    """Score the share of the item's reference verdicts that are favourable.

    The mean over trials is thereby the mean over all pairs of a trial and a reference repeat, every trial weighing the
    same also where one of its reference repeats has no verdict.

    Args:
        trials: the trials.
        reference: the reference verdicts.
        favourable: number of usable reference verdicts that the trial fits, shape (n,).
        eligible: the trials the rate is about.
    """
    usable = np.where(trials.usable, reference.usable, 0)
    planned = np.where(trials.usable, reference.planned, 0)
    return Scores(
        eligible=eligible,
        value=_share(favourable, usable, otherwise=np.nan),
        low=_share(favourable, planned, otherwise=0.0),
        high=_share(favourable + planned - usable, planned, otherwise=1.0),
    )


def agreeing(trials: Trials, reference: ReferenceVerdicts, eligible: Mask) -> Scores:
    """Score the share of the item's reference verdicts that have the trial's canonical label."""
    return against_reference(trials, reference, reference.matching(trials.label), eligible)


def as_expected(trials: Trials, reference: ReferenceVerdicts) -> Scores:
    """Score every trial against what is expected of it; the reference condition itself against the gold label."""
    compared = ~trials.reference
    same, changes = (compared & is_named(trials.expectation, name) for name in ("same", "changes"))
    above, below = (compared & is_named(trials.expectation, name) for name in ("not_above", "not_below"))
    ordered = trials.rank.max(axis=1, initial=-1)[trials.task.codes] >= 0
    stated = np.where(
        trials.reference, trials.gold, np.where(is_named(trials.expectation, "equals"), trials.expected, -1)
    )
    matching = reference.matching(trials.label)
    favourable = np.select(
        [same, changes, above, below],
        [
            matching,
            reference.usable - matching,
            _at_least(trials, reference),
            _at_most(trials, reference),
        ],
        0,
    )
    relative = against_reference(trials, reference, favourable, same | changes | ((above | below) & ordered))
    absolute = against_label(trials, stated, np.ones(len(stated), dtype=np.bool_))
    return Scores(
        eligible=relative.eligible | absolute.eligible,
        value=np.where(absolute.eligible, absolute.value, relative.value),
        low=np.where(absolute.eligible, absolute.low, relative.low),
        high=np.where(absolute.eligible, absolute.high, relative.high),
        truth=stated,
    )


def _at_least(trials: Trials, reference: ReferenceVerdicts) -> Codes:
    """Count the reference verdicts that stand as high as the trial's or higher."""
    return _ranked(trials, reference, upwards=True)


def _at_most(trials: Trials, reference: ReferenceVerdicts) -> Codes:
    """Count the reference verdicts that stand as low as the trial's or lower."""
    return _ranked(trials, reference, upwards=False)


def _ranked(trials: Trials, reference: ReferenceVerdicts, *, upwards: bool) -> Codes:
    result = np.zeros(len(trials.label), dtype=np.int64)
    for task in range(len(trials.task.names)):
        rank = trials.rank[task]
        rows = np.flatnonzero((trials.task.codes == task) & trials.usable)
        if not len(rows) or rank.max(initial=-1) < 0:
            continue
        mine = rank[trials.label[rows]]
        # One column per label of the scale: labels are few, trials are many.
        for label, place in enumerate(rank):
            fits = (place >= mine) if upwards else (place <= mine)
            result[rows] += np.where(fits & (place >= 0) & (mine >= 0), reference.counts[reference.of[rows], label], 0)
    return result


def _share(part: Codes, whole: Codes, *, otherwise: float) -> NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), otherwise)
