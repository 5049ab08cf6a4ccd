"""Predict labels of unordered scales with logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen
from sklearn.linear_model import LogisticRegression

from jrh_baseline.options import BaselineOptions
from jrh_baseline.predictions import DIGITS, CannotLearnError, Prediction

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
    def fit(cls, rows: Any, golds: Sequence[str], options: BaselineOptions) -> Classes:
        """Fit to gold labels.

        Raises:
            CannotLearnError: All examples have the same label.
        """
        if len(set(golds)) == 1:
            raise CannotLearnError(f"all {len(golds)} training examples have the label '{golds[0]}'")
        regression = LogisticRegression(
            C=1 / options.regularisation,
            class_weight="balanced" if options.balanced else None,
            max_iter=ITERATIONS,
        )
        return cls(regression=regression.fit(rows, np.array(golds, dtype=object)))

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the likeliest label per row, with the probability of every label seen in training."""
        labels = [str(label) for label in self.regression.classes_]
        shares = self.regression.predict_proba(rows)
        return [
            Prediction(label=labels[best], probabilities=dict(zip(labels, row, strict=True)))
            for best, row in zip(shares.argmax(axis=1).tolist(), np.round(shares, DIGITS).tolist(), strict=True)
        ]
