"""Predict labels of unordered scales with logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from attrs import frozen
from sklearn.linear_model import LogisticRegression

from jrh_baseline.options import BaselineOptions
from jrh_baseline.penalty import Numbers, Places, choose, total
from jrh_baseline.predictions import DIGITS, CannotLearnError, Prediction

_LEAST_SHARE: Final = 1e-6
ITERATIONS: Final = 5000
"""Iteration limit; far above what such problems need, as the solver stops on convergence."""


@frozen(kw_only=True)
class Classes:
    """A logistic regression over the labels seen in training."""

    regression: Any

    @property
    def method(self) -> str:
        """Return the model's name for rationales."""
        return "logistic regression"

    @classmethod
    def fit(cls, rows: Any, golds: Sequence[str], groups: Sequence[str], options: BaselineOptions) -> Classes:
        """Fit to gold labels, with the penalty of the options or the best one on held-out groups.

        Raises:
            CannotLearnError: All examples have the same label.
        """
        if len(set(golds)) == 1:
            raise CannotLearnError(f"all {len(golds)} training examples have the label '{golds[0]}'")
        labels = np.array(golds, dtype=object)
        penalty = options.regularisation or choose(rows, groups, partial(_held_out_loss, labels, options), total)
        return cls(regression=_regression(penalty, options).fit(rows, labels))

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the likeliest label per row, with the probability of every label seen in training."""
        labels = [str(label) for label in self.regression.classes_]
        shares = self.regression.predict_proba(rows)
        return [
            Prediction(label=labels[best], probabilities=dict(zip(labels, row, strict=True)))
            for best, row in zip(shares.argmax(axis=1).tolist(), np.round(shares, DIGITS).tolist(), strict=True)
        ]


def _regression(penalty: float, options: BaselineOptions) -> LogisticRegression:
    return LogisticRegression(C=1 / penalty, class_weight="balanced" if options.balanced else None, max_iter=ITERATIONS)


def _held_out_loss(
    labels: Any, options: BaselineOptions, rows: Numbers, train: Places, held: Places, penalty: float
) -> float:
    """Return the summed logarithmic loss of a fold; a label that is not in training has the least probability."""
    if len(set(labels[train])) == 1:
        return 0.0  # says nothing about the penalty
    regression = _regression(penalty, options).fit(rows[train], labels[train])
    shares = regression.predict_proba(rows[held])
    place = {label: number for number, label in enumerate(regression.classes_)}
    given = [share[place[label]] if label in place else 0.0 for share, label in zip(shares, labels[held], strict=True)]
    return float(-np.log(np.clip(given, _LEAST_SHARE, 1.0)).sum())
