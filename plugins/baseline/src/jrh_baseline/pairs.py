"""Predict preferences with logistic regression on differences; no intercept, so swapping responses swaps the answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from attrs import frozen
from jrh import Scale
from scipy.sparse import vstack
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from jrh_baseline.classes import ITERATIONS
from jrh_baseline.options import BaselineOptions
from jrh_baseline.penalty import Numbers, Places, choose, total
from jrh_baseline.predictions import DIGITS, CannotLearnError, Prediction


@frozen(kw_only=True)
class Pairs:
    """A linear score of the difference between two responses: score(a, b) = -score(b, a), to the last bit."""

    scale: Scale
    weights: Any
    """One weight per feature."""
    tie_margin: float

    @property
    def method(self) -> str:
        """Return the model's name for rationales."""
        return "logistic regression on differences"

    @classmethod
    def fit(
        cls, rows: Any, golds: Sequence[str], groups: Sequence[str], scale: Scale, options: BaselineOptions
    ) -> Pairs:
        """Fit to preferences; rows are features of the first response minus those of the second.

        Training uses every pair in both orders, so gold labels that are all A are as good as balanced ones. Ties carry
        no direction and are left out.

        Raises:
            CannotLearnError: Fewer than `min_examples` pairs have a preference, or no pair differs in its features.
        """
        decided = [place for place, gold in enumerate(golds) if gold != scale.tie]
        if len(decided) < options.min_examples:
            raise CannotLearnError(
                f"{len(decided)} training pairs have a preference; needs at least {options.min_examples}"
            )
        differences = rows[decided]
        if not differences.nnz:
            raise CannotLearnError(f"the two responses are the same in all {len(decided)} training pairs")
        first = np.array([1.0 if golds[place] == scale.options[0] else -1.0 for place in decided])
        penalty = options.regularisation or choose(
            differences, [groups[place] for place in decided], partial(_held_out_loss, first), total
        )
        regression = _regression(penalty)
        regression.fit(vstack([differences, -differences], format="csr"), np.concatenate([first, -first]))
        return cls(scale=scale, weights=regression.coef_[0], tie_margin=options.tie_margin)

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the preferred option per row, or a tie if the scale has one and the margin is small."""
        return [self._prediction(score) for score in (rows @ self.weights).tolist()]

    def _prediction(self, score: float) -> Prediction:
        first, second = self.scale.options[:2]
        # Compute the smaller share from the larger, so that swapping the responses swaps exactly these two numbers.
        larger = round(float(expit(abs(score))), DIGITS)
        smaller = round(1 - larger, DIGITS)
        shares = {first: larger, second: smaller} if score > 0 else {first: smaller, second: larger}
        if self.scale.tie is not None and larger - 0.5 <= self.tie_margin:
            return Prediction(label=self.scale.tie, probabilities=shares)
        if score == 0:
            return Prediction(label=None, detail="the two responses have the same features")
        return Prediction(label=first if score > 0 else second, probabilities=shares)


def _regression(penalty: float) -> LogisticRegression:
    # Both orders double the weight of the data against the penalty; half the constant restores it.
    return LogisticRegression(C=0.5 / penalty, fit_intercept=False, max_iter=ITERATIONS)


def _held_out_loss(first: Numbers, rows: Numbers, train: Places, held: Places, penalty: float) -> float:
    """Return the summed logarithmic loss of a fold."""
    shown, right = np.vstack([rows[train], -rows[train]]), np.concatenate([first[train], -first[train]])
    scores = rows[held] @ _regression(penalty).fit(shown, right).coef_[0]
    return float(np.logaddexp(0.0, -first[held] * scores).sum())
