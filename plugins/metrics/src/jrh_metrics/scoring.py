"""How a trial scores: against a stated label, or against the reference verdicts of the same judge and item."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jrh_metrics.cells import Cell
from jrh_metrics.measuring import Scores
from jrh_metrics.reference import ReferenceVerdicts, reference_verdicts
from jrh_metrics.trials import Codes, Mask, Trials, is_named

NOTHING_EXPECTED: Final = "no trial of which anything is expected"


def change_due(trials: Trials, cell: Cell) -> tuple[str, ...]:
    """Return the flag `change-due` where no verdict of a cell is to stay as it was: agreeing is no merit there."""
    names = trials.expectation.names
    kept = [code for code, name in enumerate(names) if name in ("", "same")]
    return () if np.isin(trials.expectation.codes[cell.rows], kept).any() else ("change-due",)


def compared(trials: Trials) -> Mask:
    """Return the mask of the trials that are compared with the reference condition: something is expected of them.

    Where nothing is, as with the same response as every option, the verdict is about another question.
    """
    return trials.shared("compared", lambda: ~trials.reference & ~is_named(trials.expectation, ""))


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


def as_expected(trials: Trials) -> Scores:
    """Score every trial against what is expected of it; the reference condition itself against the gold label."""
    return trials.shared("as expected", lambda: _as_expected(trials, reference_verdicts(trials)))


def _as_expected(trials: Trials, reference: ReferenceVerdicts) -> Scores:
    perturbed = ~trials.reference
    same, changes = (perturbed & is_named(trials.expectation, name) for name in ("same", "changes"))
    above, below = (perturbed & is_named(trials.expectation, name) for name in ("not_above", "not_below"))
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
            _ranked(trials, reference, upwards=True, rows=above),
            _ranked(trials, reference, upwards=False, rows=below),
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


def _ranked(trials: Trials, reference: ReferenceVerdicts, *, upwards: bool, rows: Mask) -> Codes:
    """Count the reference verdicts that stand as high as the trial's or higher, or as low or lower, for some rows."""
    result = np.zeros(len(trials.label), dtype=np.int64)
    wanted = np.flatnonzero(rows & trials.usable)
    for task in np.unique(trials.task.codes[wanted]):
        rank = trials.rank[task]
        rows_of_task = wanted[trials.task.codes[wanted] == task]
        if rank.max(initial=-1) < 0:
            continue
        mine = rank[trials.label[rows_of_task]]
        # One column per label of the scale: labels are few, trials are many.
        for label, place in enumerate(rank):
            fits = (place >= mine) if upwards else (place <= mine)
            counted = reference.counts[reference.of[rows_of_task], label]
            result[rows_of_task] += np.where(fits & (place >= 0) & (mine >= 0), counted, 0)
    return result


def _share(part: Codes, whole: Codes, *, otherwise: float) -> NDArray[np.float64]:
    return np.where(whole > 0, part / np.maximum(whole, 1), otherwise)
