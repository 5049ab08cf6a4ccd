"""How a trial scores: against a stated label, against the reference verdicts, against what is expected, in levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from jrh import JrhError, Status, Task
from jrh_stats import parts_of

from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes, Floats, Mask, compact, is_named
from jrh_measuring.declaring import positive_conflict
from jrh_measuring.flags import CHANGE_DUE
from jrh_measuring.reference import ReferenceVerdicts, reference_verdicts
from jrh_measuring.trials import Trials, once_per_table

"""Scores of trials, or what is computed of them."""
Side: TypeAlias = Callable[[Codes], Floats]
"""Returns the scores of some trials."""
Bound: TypeAlias = float | Floats | Side
"""What a trial scores at worst, or at best: of one number, that is the score of all trials without one, and the others
keep theirs; or the scores of all trials, shape (n,); or what returns those of some."""

NO_REFERENCE: Final = "no_reference"
"""Reason for counting a verdict as missing: the reference condition has none to compare it with."""
NOTHING_EXPECTED: Final = "no trial of which anything is expected"
"""The reason for a missing measure where no trial has an expectation."""
_PARTS: Final = 4
_TWO: Final = 2


@frozen(kw_only=True, eq=False)
class Scores:
    """What every trial scores on a rate or a mean; arrays of shape (n,) over all trials."""

    eligible: Mask
    """The trials the measure is about."""
    value: Floats
    """The score, of a rate from 0 to 1; NaN where it is missing."""
    low: Bound | None = None
    """Score if every missing verdict, the reference's included, had been the worst; None: no bounds."""
    high: Bound | None = None
    """Score if every verdict that is missing had been the best."""
    truth: Codes | None = None
    """Label the trial was compared with where that is a stated one, else -1."""
    unscored: str = NO_REFERENCE
    """What trials count as in `missing` that have a verdict and no score."""
    answered: Mask = field(repr=False)
    """Where there is a value; scores that share this array and `eligible` are counted once."""

    @answered.default
    def _has_value(self) -> Mask:
        return ~np.isnan(self.value)

    @classmethod
    def of(
        cls,
        trials: Trials,
        value: Floats | Mask,
        eligible: Mask,
        *,
        least: Floats | float = 0.0,
        most: Floats | float = 1.0,
        rows: Codes | None = None,
    ) -> Scores:
        """Return the scores of trials that have one wherever they have a verdict, within `least` and `most`.

        Args:
            trials: all trials.
            value: the score of every trial.
            eligible: the trials the measure is about.
            least: the worst score.
            most: the best.
            rows: the only trials whose scores are asked for; those of the others are 0, and take no memory.
        """
        if rows is None:
            scores = np.where(trials.usable, value, np.nan)
        else:
            scores = np.zeros(len(trials.usable))
            scores[rows] = np.where(trials.usable[rows], value[rows], np.nan)

        def fill(missing: Floats | float) -> Bound:
            return missing if isinstance(missing, float) else np.where(trials.usable, scores, missing)

        return cls(eligible=eligible, value=scores, low=fill(least), high=fill(most), answered=trials.usable)

    def among(self, mask: Mask) -> Scores:
        """Return the same scores, about fewer trials."""
        return evolve(self, eligible=self.eligible & mask)

    def bounds(self, rows: Codes) -> tuple[float, float] | None:
        """Return the mean score of some trials if all missing verdicts had been the worst, and the best."""
        if self.low is None or self.high is None or not len(rows):
            return None
        return self._mean(self.low, rows), self._mean(self.high, rows)

    def _mean(self, bound: Bound, rows: Codes) -> float:
        total = 0.0
        for part in parts_of(len(rows)):
            side = self._side(bound, rows[part])
            if not _exact(side):  # the order of addition must not show in the last digit
                return float(np.sort(self._side(bound, rows)).mean())
            total += float(side.sum())
        return total / len(rows)

    def sides(self, rows: Codes) -> tuple[Floats, Floats] | None:
        """Return the scores of some trials if all missing verdicts had been the worst, and the best."""
        if self.low is None or self.high is None:
            return None
        return self._side(self.low, rows), self._side(self.high, rows)

    def _side(self, bound: Bound, rows: Codes) -> Floats:
        if isinstance(bound, np.ndarray):
            return np.asarray(bound[rows])
        return bound(rows) if callable(bound) else np.where(self.answered[rows], self.value[rows], bound)


def _exact(scores: Floats) -> bool:
    """Tell whether sums are exact in any order: the scores are whole numbers, halves, quarters."""
    parts = scores * _PARTS
    return np.array_equal(parts, np.rint(parts))


@once_per_table
def right_label(trials: Trials) -> Codes:
    """Return the right label of every trial, shape (n,), -1 where none is stated.

    The stated label where a case expects one; the gold label in the reference condition and where the case expects the
    verdict to stay the same.
    """
    equals = is_named(trials.expectation, "equals") & ~trials.reference
    return compact(np.where(equals, trials.expected, np.where(keeps_gold(trials), trials.gold, -1)))


def keeps_gold(trials: Trials) -> Mask:
    """Return the trials whose condition keeps the gold label: the reference, and where the same verdict is expected."""
    return trials.reference | is_named(trials.expectation, "same")


@once_per_table
def comparable_trials(trials: Trials) -> Mask:
    """Return the mask of the trials that are compared with the reference condition: something is expected of them.

    Where nothing is, as with the same response as every option, the verdict is about another question.
    """
    return ~trials.reference & ~is_named(trials.expectation, "")


def abstentions_by_design(trials: Trials) -> Mask:
    """Return the trials in which the judge declined a question without a right answer: they are not missing verdicts.

    Nothing is expected of such a case, as of the same response as every option, and the judge said that it abstains. An
    abstention where something is expected is missing, and so is every other status anywhere.
    """
    unasked = ~trials.reference & is_named(trials.expectation, "")
    return unasked & is_named(trials.status, Status.ABSTAINED.value)


def change_due(trials: Trials, cell: Cell) -> tuple[str, ...]:
    """Return the flag `change-due` where no verdict of a cell is to stay as it was: agreeing is no merit there."""
    names = trials.expectation.names
    # Where nothing is expected, no change is due either.
    unchanged = [code for code, name in enumerate(names) if name in ("", "same")]
    return () if np.isin(trials.expectation.codes[cell.rows], unchanged).any() else (CHANGE_DUE,)


def against_label(trials: Trials, truth: Codes, eligible: Mask) -> Scores:
    """Score 1 where the canonical label is the stated one; trials without a stated label are not eligible."""
    right = (trials.label == truth).astype(np.float64)
    return evolve(Scores.of(trials, right, eligible & (truth >= 0)), truth=truth)


@once_per_table
def against_gold(trials: Trials) -> Scores:
    """Score 1 where the canonical label is the gold label, in conditions that keep it."""
    return against_label(trials, trials.gold, keeps_gold(trials))


def against_reference(trials: Trials, reference: ReferenceVerdicts, favourable: Codes, eligible: Mask) -> Scores:
    """Score the share of the item's reference verdicts that are favourable.

    So the mean over trials is the mean over all pairs of a trial and a reference repeat, every trial weighing the
    same also where one of its reference repeats has no verdict.

    Args:
        trials: the trials.
        reference: the reference verdicts.
        favourable: number of usable reference verdicts that the trial fits, shape (n,).
        eligible: the trials the rate is about.
    """
    worst, best = _sides_of(trials, reference, favourable)
    usable = np.where(trials.usable, reference.usable, 0)
    return Scores(eligible=eligible, value=_share(favourable, usable, otherwise=np.nan), low=worst, high=best)


def _sides_of(trials: Trials, reference: ReferenceVerdicts, favourable: Codes) -> tuple[Side, Side]:
    """Return what makes the scores of some trials with every missing verdict at its worst, and at its best."""
    # Computed when they are needed: few measures lack verdicts, and two arrays of numbers for each score are large.
    fits = trials.store(compact(favourable))
    return partial(_worst, trials.usable, reference, fits), partial(_best, trials.usable, reference, fits)


def _count_fits(usable: Mask, reference: ReferenceVerdicts, fits: Codes, rows: Codes) -> tuple[Codes, Codes, Codes]:
    """Return of some trials the verdicts they fit, and the usable and planned verdicts they are compared with."""
    there, of = usable[rows], reference.of[rows]
    return fits[rows], np.where(there, reference.verdict_counts[of], 0), np.where(there, reference.trials[of], 0)


def _worst(usable: Mask, reference: ReferenceVerdicts, fits: Codes, rows: Codes) -> Floats:
    fitting, _, planned = _count_fits(usable, reference, fits, rows)
    return _share(fitting, planned, otherwise=0.0)


def _best(usable: Mask, reference: ReferenceVerdicts, fits: Codes, rows: Codes) -> Floats:
    fitting, answered, planned = _count_fits(usable, reference, fits, rows)
    return _share(fitting + planned - answered, planned, otherwise=1.0)


@once_per_table
def agreement_scores(trials: Trials) -> Scores:
    """Score the share of the item's reference verdicts that have the trial's canonical label."""
    reference = reference_verdicts(trials)
    return against_reference(trials, reference, reference.count_matches(trials.label), comparable_trials(trials))


@once_per_table
def as_expected(trials: Trials) -> Scores:
    """Score every trial against what is expected of it; the reference condition itself against the gold label."""
    reference, perturbed = reference_verdicts(trials), ~trials.reference
    same, changes = (perturbed & is_named(trials.expectation, name) for name in ("same", "changes"))
    above, below = (perturbed & is_named(trials.expectation, name) for name in ("not_above", "not_below"))
    # Higher and lower mean nothing on an unordered scale: such trials do not count.
    ordered = trials.rank.max(axis=1, initial=-1)[trials.task.codes] >= 0
    # Not `right_label`: where the same verdict is expected, the reference verdict decides and not the gold label.
    stated = np.where(
        trials.reference, trials.gold, np.where(is_named(trials.expectation, "equals"), trials.expected, -1)
    )
    matching = reference.count_matches(trials.label)
    favourable = np.select(
        [same, changes, above, below],
        [
            matching,
            reference.usable - matching,
            _count_ranked(trials, reference, upwards=True, rows=above),
            _count_ranked(trials, reference, upwards=False, rows=below),
        ],
        0,
    )
    relative = against_reference(trials, reference, favourable, same | changes | ((above | below) & ordered))
    # The sides as such: those of `relative` may be of any kind of bound.
    worst, best = _sides_of(trials, reference, favourable)
    absolute = against_label(trials, stated, np.ones(len(stated), dtype=np.bool_))
    first = absolute.eligible
    value = np.where(first, absolute.value, relative.value)
    side = partial(_combine_sides, trials.usable, first, value)
    return Scores(
        eligible=relative.eligible | first,
        value=value,
        low=partial(side, 0.0, worst),
        high=partial(side, 1.0, best),
        truth=stated,
    )


def _combine_sides(usable: Mask, first: Mask, value: Floats, missing: float, other: Side, rows: Codes) -> Floats:
    return np.where(first[rows], np.where(usable[rows], value[rows], missing), other(rows))


def _count_ranked(trials: Trials, reference: ReferenceVerdicts, *, upwards: bool, rows: Mask) -> Codes:
    """Count the reference verdicts that stand as high as the trial's or higher, or as low or lower, for some rows."""
    # Rows of other expectations stay at 0: their counts come from elsewhere.
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


def _share(part: Codes | Floats, whole: Codes, *, otherwise: float) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), otherwise)


@once_per_table
def gold_changes(trials: Trials) -> Scores:
    """Score whether a verdict is right, less the mean of that over its item's and judge's reference verdicts.

    Eligible are the perturbed trials with a stated label (see `right_label`).
    """
    truth = right_label(trials)
    scored = (truth >= 0) & trials.usable
    right = scored & (trials.label == truth)
    reference = reference_verdicts(trials)
    of, groups = reference.of, len(reference.counts)
    before = np.flatnonzero(trials.reference & scored)
    changed = np.where(scored & ~trials.reference, right, np.nan)
    # NaN where the item has no reference verdict with a right label: there is nothing to compare with.
    changed -= _group_means(of[before], right[before], groups, otherwise=np.nan)[of]
    side = partial(_change, of, scored, right)
    return Scores(
        eligible=(truth >= 0) & ~trials.reference,
        value=changed,
        # At worst every lost reference verdict was right, and every lost one of the test wrong.
        low=partial(side, _before(trials, reference, truth, missing=1.0), 0.0),
        high=partial(side, _before(trials, reference, truth, missing=0.0), 1.0),
    )


def _change(of: Codes, scored: Mask, right: Mask, before: Floats, missing: float, rows: Codes) -> Floats:
    """Return the change of some trials; those without a verdict score `missing`."""
    return np.where(scored[rows], right[rows], missing) - before[of[rows]]


def _before(trials: Trials, reference: ReferenceVerdicts, truth: Codes, *, missing: float) -> Floats:
    """Return the mean score of each group of reference trials if those without a verdict scored `missing`."""
    rows = np.flatnonzero(trials.reference & (truth >= 0))
    score = np.where(trials.usable[rows], trials.label[rows] == truth[rows], missing)
    return _group_means(reference.of[rows], score, len(reference.counts), otherwise=missing)


def _group_means(of: Codes, score: Floats | Mask, groups: int, *, otherwise: float) -> Floats:
    number, total = np.bincount(of, minlength=groups), np.bincount(of, weights=score, minlength=groups)
    return _share(total, number, otherwise=otherwise)


def positive_label(task: Task | None, stated: str, metric: str) -> str | None:
    """Return the positive label of a task: the stated one, otherwise that of its scale (`Scale.positive_label`).

    Raises:
        JrhError: the stated label contradicts the one the scale declares, or is not one of its two labels.
    """
    if task is None:
        return None
    scale = task.scale
    if not stated:
        return scale.positive_label
    conflict = positive_conflict(stated, task)
    if conflict:
        raise JrhError(conflict)
    if stated not in scale and len(scale.labels) == _TWO:
        raise JrhError(
            f"{metric}: the positive label '{stated}' is not on the scale of task '{task.name}': "
            f"{', '.join(scale.labels)}"
        )
    # The label belongs to the scale of another task of the suite: this one has no such rate.
    return stated if stated in scale else None


@frozen(kw_only=True, eq=False)
class Levels:
    """The trials as levels of their ordinal scale, counted from 0; arrays of shape (n,)."""

    verdict: Floats
    """Level of the verdict; NaN where it is missing."""
    right: Floats
    """Level of the stated label; -1 where there is none."""
    top: Floats
    """Highest level of the task's scale."""
    eligible: Mask
    """The trials of ordinal tasks with a right level."""
    store: Callable[[Scores], Scores]
    """`Trials.store`."""

    @classmethod
    def of(cls, trials: Trials) -> Levels:
        """Read the levels."""
        return trials.compute_once("levels", lambda: cls._read(trials))

    @classmethod
    def _read(cls, trials: Trials) -> Levels:
        truth = right_label(trials)
        # One more column, of -1, is what the code -1 of a missing label reads.
        rank = np.hstack([trials.rank, np.full((len(trials.rank), 1), -1, dtype=np.int64)])
        verdict, right = (rank[trials.task.codes, code] for code in (trials.label, truth))
        return cls(
            verdict=np.where(verdict >= 0, verdict, np.nan),
            right=right.astype(np.float64),
            top=np.maximum(trials.levels - 1, 0).astype(np.float64)[trials.task.codes],
            eligible=right >= 0,
            store=trials.store,
        )

    def usable(self, rows: Codes) -> Codes:
        """Return those of the rows that have both levels."""
        return rows[self.eligible[rows] & ~np.isnan(self.verdict[rows])]

    @cached_property
    def has_verdict(self) -> Mask:
        """Return which trials have a verdict."""
        return np.asarray(~np.isnan(self.verdict))

    @property
    def errors(self) -> Floats:
        """Return the level of the verdict minus the right one; NaN without a verdict."""
        return self.verdict - self.right

    def scores(self, value: Floats, low: Floats | float, high: Floats | float) -> Scores:
        """Score trials by a function of their errors, and state the least and the largest it can have per trial."""
        value = np.where(self.has_verdict, value, np.nan)
        return self.store(
            Scores(
                eligible=self.eligible,
                value=value,
                low=low if isinstance(low, float) else partial(_fill_missing, value, low),
                high=high if isinstance(high, float) else partial(_fill_missing, value, high),
                answered=self.has_verdict,
            )
        )


def _fill_missing(value: Floats, missing: Floats, rows: Codes) -> Floats:
    """Return the scores of some trials; those without one have what a missing verdict scores."""
    return np.where(np.isnan(value[rows]), missing[rows], value[rows])
