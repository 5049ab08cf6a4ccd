"""How a trial scores: against a stated label, against the reference verdicts, against what is expected, in levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from jrh.errors import JrhError
from jrh.values.items import Task
from jrh.values.verdicts import Status
from jrh_stats import parts_of

from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes, Floats, Mask, compact, is_named
from jrh_measuring.declaring import positive_conflict
from jrh_measuring.flags import CHANGE_DUE
from jrh_measuring.reference import ReferenceVerdicts, reference_verdicts
from jrh_measuring.trials import Trials

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
    def _answered(self) -> Mask:
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
            found = np.where(trials.usable, value, np.nan)
        else:
            found = np.zeros(len(trials.usable))
            found[rows] = np.where(trials.usable[rows], value[rows], np.nan)

        def filled(missing: Floats | float) -> Bound:
            return missing if isinstance(missing, float) else np.where(trials.usable, found, missing)

        return cls(eligible=eligible, value=found, low=filled(least), high=filled(most), answered=trials.usable)

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


def stated_label(trials: Trials) -> Codes:
    """Return the right label of every trial, shape (n,), -1 where none is stated.

    The stated label where a case expects one; the gold label in the reference condition and where the case expects the
    verdict to stay the same.
    """
    return trials.shared("stated label", lambda: compact(_stated_label(trials)))


def _stated_label(trials: Trials) -> Codes:
    equals = is_named(trials.expectation, "equals") & ~trials.reference
    return np.where(equals, trials.expected, np.where(keeps_gold(trials), trials.gold, -1))


def keeps_gold(trials: Trials) -> Mask:
    """Return the trials whose condition keeps the gold label: the reference, and where the same verdict is expected."""
    return trials.reference | is_named(trials.expectation, "same")


def compared(trials: Trials) -> Mask:
    """Return the mask of the trials that are compared with the reference condition: something is expected of them.

    Where nothing is, as with the same response as every option, the verdict is about another question.
    """
    return trials.shared("compared", lambda: ~trials.reference & ~is_named(trials.expectation, ""))


def abstained_by_design(trials: Trials) -> Mask:
    """Return the trials in which the judge declined a question without a right answer: they are not missing verdicts.

    Nothing is expected of such a case, as of the same response as every option, and the judge said that it abstains. An
    abstention where something is expected is missing, and so is every other status anywhere.
    """
    unasked = ~trials.reference & is_named(trials.expectation, "")
    return unasked & is_named(trials.status, Status.ABSTAINED.value)


def change_due(trials: Trials, cell: Cell) -> tuple[str, ...]:
    """Return the flag `change-due` where no verdict of a cell is to stay as it was: agreeing is no merit there."""
    names = trials.expectation.names
    kept = [code for code, name in enumerate(names) if name in ("", "same")]
    return () if np.isin(trials.expectation.codes[cell.rows], kept).any() else (CHANGE_DUE,)


def against_label(trials: Trials, truth: Codes, eligible: Mask) -> Scores:
    """Score 1 where the canonical label is the stated one; trials without a stated label are not eligible."""
    right = (trials.label == truth).astype(np.float64)
    return evolve(Scores.of(trials, right, eligible & (truth >= 0)), truth=truth)


def against_gold(trials: Trials) -> Scores:
    """Score 1 where the canonical label is the gold label, in conditions that keep it."""
    return trials.shared("against gold", lambda: against_label(trials, trials.gold, keeps_gold(trials)))


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
    worst, best = _sides_of(trials, reference, favourable)
    usable = np.where(trials.usable, reference.usable, 0)
    return Scores(eligible=eligible, value=_share(favourable, usable, otherwise=np.nan), low=worst, high=best)


def _sides_of(trials: Trials, reference: ReferenceVerdicts, favourable: Codes) -> tuple[Side, Side]:
    """Return what makes the scores of some trials with every missing verdict at its worst, and at its best."""
    fits = trials.kept(compact(favourable))
    return partial(_worst, trials.usable, reference, fits), partial(_best, trials.usable, reference, fits)


def _counted(usable: Mask, reference: ReferenceVerdicts, fits: Codes, rows: Codes) -> tuple[Codes, Codes, Codes]:
    """Return of some trials the verdicts they fit, and the usable and planned verdicts they are compared with."""
    there, of = usable[rows], reference.of[rows]
    return fits[rows], np.where(there, reference.answered[of], 0), np.where(there, reference.trials[of], 0)


def _worst(usable: Mask, reference: ReferenceVerdicts, fits: Codes, rows: Codes) -> Floats:
    found, _, planned = _counted(usable, reference, fits, rows)
    return _share(found, planned, otherwise=0.0)


def _best(usable: Mask, reference: ReferenceVerdicts, fits: Codes, rows: Codes) -> Floats:
    found, answered, planned = _counted(usable, reference, fits, rows)
    return _share(found + planned - answered, planned, otherwise=1.0)


def agreeing(trials: Trials) -> Scores:
    """Score the share of the item's reference verdicts that have the trial's canonical label."""
    reference = reference_verdicts(trials)
    return trials.shared(
        "agreeing", lambda: against_reference(trials, reference, reference.matching(trials.label), compared(trials))
    )


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
    worst, best = _sides_of(trials, reference, favourable)
    absolute = against_label(trials, stated, np.ones(len(stated), dtype=np.bool_))
    first = absolute.eligible
    value = np.where(first, absolute.value, relative.value)
    side = partial(_stated_or_relative, trials.usable, first, value)
    return Scores(
        eligible=relative.eligible | first,
        value=value,
        low=partial(side, 0.0, worst),
        high=partial(side, 1.0, best),
        truth=stated,
    )


def _stated_or_relative(usable: Mask, first: Mask, value: Floats, missing: float, other: Side, rows: Codes) -> Floats:
    return np.where(first[rows], np.where(usable[rows], value[rows], missing), other(rows))


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


def _share(part: Codes, whole: Codes, *, otherwise: float) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), otherwise)


def gold_changes(trials: Trials) -> Scores:
    """Score whether a verdict is right, less the mean of that over its item's and judge's reference verdicts.

    Eligible are the perturbed trials with a stated label (see `stated_label`).
    """
    return trials.shared("gold changes", lambda: _gold_changes(trials))


def _gold_changes(trials: Trials) -> Scores:
    truth = stated_label(trials)
    scored = (truth >= 0) & trials.usable
    right = scored & (trials.label == truth)
    reference = reference_verdicts(trials)
    of, groups = reference.of, len(reference.counts)
    before = np.flatnonzero(trials.reference & scored)
    number = np.bincount(of[before], minlength=groups)
    total = np.bincount(of[before], weights=right[before], minlength=groups)
    mean = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    changed = np.where(scored & ~trials.reference, right, np.nan)
    changed -= mean[of]
    side = partial(_changed, of, scored, right)
    return Scores(
        eligible=(truth >= 0) & ~trials.reference,
        value=changed,
        low=partial(side, _before(trials, reference, truth, missing=1.0), 0.0),
        high=partial(side, _before(trials, reference, truth, missing=0.0), 1.0),
    )


def _changed(of: Codes, scored: Mask, right: Mask, before: Floats, missing: float, rows: Codes) -> Floats:
    """Return the change of some trials; those without a verdict score `missing`."""
    return np.where(scored[rows], right[rows], missing) - before[of[rows]]


def _before(trials: Trials, reference: ReferenceVerdicts, truth: Codes, *, missing: float) -> Floats:
    """Return the mean score of each group of reference trials if those without a verdict scored `missing`."""
    rows = np.flatnonzero(trials.reference & (truth >= 0))
    groups = len(reference.counts)
    score = np.where(trials.usable[rows], trials.label[rows] == truth[rows], missing)
    asked = np.bincount(reference.of[rows], minlength=groups)
    total = np.bincount(reference.of[rows], weights=score, minlength=groups)
    return np.where(asked > 0, total / np.maximum(asked, 1), missing)


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
    return stated if stated in scale else None


@frozen(kw_only=True, eq=False)
class Levels:
    """The trials as levels of their ordinal scale, counted from 0; arrays of shape (n,)."""

    given: Floats
    """Level of the verdict; NaN where it is missing."""
    right: Floats
    """Level of the stated label; -1 where there is none."""
    top: Floats
    """Highest level of the task's scale."""
    eligible: Mask
    """The trials of ordinal tasks with a right level."""
    kept: Callable[[Scores], Scores]
    """`Trials.kept`."""

    @classmethod
    def of(cls, trials: Trials) -> Levels:
        """Read the levels."""
        return trials.shared("levels", lambda: cls._read(trials))

    @classmethod
    def _read(cls, trials: Trials) -> Levels:
        truth = stated_label(trials)
        # One more column, of -1, is what the code -1 of a missing label reads.
        rank = np.hstack([trials.rank, np.full((len(trials.rank), 1), -1, dtype=np.int64)])
        given, right = (rank[trials.task.codes, code] for code in (trials.label, truth))
        return cls(
            given=np.where(given >= 0, given, np.nan),
            right=right.astype(np.float64),
            top=np.maximum(trials.levels - 1, 0).astype(np.float64)[trials.task.codes],
            eligible=right >= 0,
            kept=trials.kept,
        )

    def usable(self, rows: Codes) -> Codes:
        """Return those of the rows that have both levels."""
        return rows[self.eligible[rows] & ~np.isnan(self.given[rows])]

    @cached_property
    def answered(self) -> Mask:
        """Return which trials have a verdict."""
        return np.asarray(~np.isnan(self.given))

    @property
    def errors(self) -> Floats:
        """Return the level of the verdict minus the right one; NaN without a verdict."""
        return self.given - self.right

    def scores(self, value: Floats, low: Floats | float, high: Floats | float) -> Scores:
        """Score trials by a function of their errors, and state the least and the largest it can have per trial."""
        value = np.where(self.answered, value, np.nan)
        return self.kept(
            Scores(
                eligible=self.eligible,
                value=value,
                low=low if isinstance(low, float) else partial(_filled, value, low),
                high=high if isinstance(high, float) else partial(_filled, value, high),
                answered=self.answered,
            )
        )


def _filled(value: Floats, missing: Floats, rows: Codes) -> Floats:
    """Return the scores of some trials; those without one have what a missing verdict scores."""
    return np.where(np.isnan(value[rows]), missing[rows], value[rows])
