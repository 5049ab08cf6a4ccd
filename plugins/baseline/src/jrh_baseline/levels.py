"""Predict ordinal levels with ridge regression on ranks and normally distributed cross-validated errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from attrs import frozen
from jrh import Scale
from scipy.stats import norm
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from jrh_baseline.options import BaselineOptions
from jrh_baseline.penalty import Numbers, Places, choose
from jrh_baseline.predictions import DIGITS, CannotLearnError, Prediction

_FOLDS: Final = 5
_LEAST_ERROR: Final = 1e-3


@frozen(kw_only=True)
class Levels:
    """A linear model of the rank, cut at the half-way points between levels."""

    scale: Scale
    ridge: Any
    lowest: int
    """Rank of the lowest level in training; lower ones are never predicted."""
    highest: int
    error: float
    """Root mean square error on held-out training examples, in levels."""

    @property
    def method(self) -> str:
        """Return the model's name for rationales."""
        return "ridge regression on levels"

    @classmethod
    def fit(
        cls, rows: Any, golds: Sequence[str], groups: Sequence[str], scale: Scale, options: BaselineOptions
    ) -> Levels:
        """Fit to gold levels, with the penalty of the options or the best one on held-out groups.

        Raises:
            CannotLearnError: All examples have the same level.
        """
        ranks = np.array([scale.rank(gold) for gold in golds], dtype=np.float64)
        if ranks.min() == ranks.max():
            raise CannotLearnError(f"all {len(golds)} training examples have the level '{golds[0]}'")
        ridge = Ridge(alpha=options.regularisation or choose(rows, groups, partial(_held_out_loss, ranks)))
        together = len(set(groups)) > 1
        folds = GroupKFold(min(_FOLDS, len(set(groups)))) if together else KFold(min(_FOLDS, len(ranks)))
        held_out = cross_val_predict(ridge, rows, ranks, cv=folds, groups=list(groups))
        return cls(
            scale=scale,
            ridge=ridge.fit(rows, ranks),
            lowest=int(ranks.min()),
            highest=int(ranks.max()),
            error=max(float(np.sqrt(np.mean((held_out - ranks) ** 2))), _LEAST_ERROR),
        )

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the median level per row, with the probability of every level seen in training's range."""
        expected = self.ridge.predict(rows)
        seen = np.arange(self.lowest, self.highest + 1)
        labels = self.scale.labels[self.lowest : self.highest + 1]
        # The median of a normal distribution cut half-way between levels is the nearest level.
        chosen = np.clip(np.floor(expected + 0.5).astype(int), self.lowest, self.highest)
        cuts = norm.cdf((seen[:-1] + 0.5 - expected[:, None]) / self.error)
        edges = np.hstack([np.zeros((len(expected), 1)), cuts, np.ones((len(expected), 1))])
        shares = np.round(np.diff(edges, axis=1), DIGITS)
        return [
            Prediction(label=self.scale.labels[rank], probabilities=dict(zip(labels, row, strict=True)))
            for rank, row in zip(chosen.tolist(), shares.tolist(), strict=True)
        ]


def _held_out_loss(ranks: Numbers, rows: Numbers, train: Places, held: Places, penalty: float) -> float:
    """Return the summed squared error of a fold, in levels."""
    ridge = Ridge(alpha=penalty).fit(rows[train], ranks[train])
    return float(np.square(ridge.predict(rows[held]) - ranks[held]).sum())
