"""Predict preferences with logistic regression on differences, between two responses or more."""

from __future__ import annotations

import math
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


@frozen(kw_only=True)
class Choices:
    """A linear score of one response; the chance of each is that of Luce's choice rule, the softmax of the scores.

    Another order of the responses gives the same scores in that order, to the last bit. Between two responses it is the
    model of `Pairs`.
    """

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
        cls, shown: Sequence[Any], golds: Sequence[str], groups: Sequence[str], scale: Scale, options: BaselineOptions
    ) -> Choices:
        """Fit to preferences; ties carry no direction and are left out.

        Args:
            shown: per option, the features of its response in every example.
            golds: the gold label of every example.
            groups: the group of every example; the differences of an example stay in one group.
            scale: of the task.
            options: of the judge.

        Raises:
            CannotLearnError: Fewer than `min_examples` examples have a preference, or their responses do not differ.
        """
        places = {option: place for place, option in enumerate(scale.options)}
        decided = [(number, places[gold]) for number, gold in enumerate(golds) if gold in places]
        if len(decided) < options.min_examples:
            raise CannotLearnError(
                f"{len(decided)} training examples have a preference; needs at least {options.min_examples}"
            )
        pairs = [(number, best, other) for number, best in decided for other in range(len(shown)) if other != best]
        differences = vstack([shown[best][number] - shown[other][number] for number, best, other in pairs], "csr")
        if not differences.nnz:
            raise CannotLearnError(f"the responses are the same in all {len(decided)} training examples")
        first = [scale.options[0]] * len(pairs)
        fitted = Pairs.fit(differences, first, [groups[number] for number, _, _ in pairs], scale, options)
        return cls(scale=scale, weights=fitted.weights, tie_margin=options.tie_margin)

    def predict(self, rows: Sequence[Any]) -> list[Prediction]:
        """Return the option with the highest score per question, or a tie if the scale has one and two are close."""
        scores = zip(*((matrix @ self.weights).tolist() for matrix in rows), strict=True)
        return [self._prediction(each) for each in scores]

    def _prediction(self, scores: Sequence[float]) -> Prediction:
        odds = [math.exp(score - max(scores)) for score in scores]
        total = math.fsum(odds)  # exact, so that no order of the responses shows
        shares = dict(zip(self.scale.options, (round(each / total, DIGITS) for each in odds), strict=True))
        best, second = sorted(shares.values(), reverse=True)[:2]
        # For two responses this is the distance of the larger share from one half.
        if self.scale.tie is not None and (best - second) / 2 <= self.tie_margin:
            return Prediction(label=self.scale.tie, probabilities=shares)
        highest = [option for option, score in zip(self.scale.options, scores, strict=True) if score == max(scores)]
        if len(highest) > 1:
            return Prediction(label=None, detail="the best responses have the same features")
        return Prediction(label=highest[0], probabilities=shares)
