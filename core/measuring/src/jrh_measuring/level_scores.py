"""Verdicts as levels of an ordinal scale, and how far they are from the right ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from attrs import frozen

from jrh_measuring.coded import Codes, Mask
from jrh_measuring.scoring import Numbers, Scores, stated_label
from jrh_measuring.trials import Trials


@frozen(kw_only=True, eq=False)
class Levels:
    """The trials as levels of their ordinal scale, counted from 0; arrays of shape (n,)."""

    given: Numbers
    """Level of the verdict; NaN where it is missing."""
    right: Numbers
    """Level of the stated label; -1 where there is none."""
    top: Numbers
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

    def errors(self, *names: str) -> Mapping[str, Scores]:
        """Score the error in levels: its size, its square, itself, and whether it is 0, and at most 1.

        Args:
            names: which of them; without any, all.
        """
        error = self.given - self.right
        missing = np.isnan(error)
        answered = ~missing

        def scores(value: Numbers, low: Numbers | float, high: Numbers | float) -> Scores:
            value = np.where(missing, np.nan, value)
            made = Scores(
                eligible=self.eligible,
                value=value,
                low=low if isinstance(low, float) else partial(_filled, value, low),
                high=high if isinstance(high, float) else partial(_filled, value, high),
                answered=answered,
            )
            return self.kept(made)

        made: Mapping[str, Callable[[], Scores]] = {
            "mean-absolute-error": lambda: scores(np.abs(error), 0.0, self.top),
            "root-mean-squared-error": lambda: scores(np.square(error), 0.0, np.square(self.top)),
            "bias": lambda: scores(error, -self.top, self.top),
            "exact-accuracy": lambda: scores((error == 0).astype(np.float64), 0.0, 1.0),
            "adjacent-accuracy": lambda: scores((np.abs(error) <= 1).astype(np.float64), 0.0, 1.0),
        }
        return {name: make() for name, make in made.items() if name in names or not names}


def _filled(value: Numbers, missing: Numbers, rows: Codes) -> Numbers:
    """Return the scores of some trials; those without one have what a missing verdict scores."""
    return np.where(np.isnan(value[rows]), missing[rows], value[rows])
