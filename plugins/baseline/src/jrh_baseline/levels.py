"""Predict ordinal levels with ridge regression on ranks and normally distributed cross-validated errors.

A penalised prediction is drawn towards the mean, so that the nearest level is a middle one too often. Predictions are
therefore stretched about the mean until those of held-out training examples spread as the gold levels do: of all linear
maps that keep the mean this has the largest concordance (and quadratic kappa, up to rounding) with them. Since the
stretch undoes the shrinking, the penalty is chosen by the correlation of held-out predictions with gold levels.
"""

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
_MOST_STRETCH: Final = 3.0
"""Where held-out predictions hardly vary, the features say nothing, and noise is not to be stretched to the scale."""


@frozen(kw_only=True)
class Levels:
    """A linear model of the rank, cut at the half-way points between levels."""

    scale: Scale
    ridge: Any
    lowest: int
    """Rank of the lowest level in training; lower ones are never predicted."""
    highest: int
    centre: float
    """Mean rank in training."""
    stretch: float
    """How much predictions spread less than ranks do, 1 or more."""
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
        penalty = options.regularisation or choose(rows, groups, partial(_held_out, ranks), _lack_of_correlation)
        ridge = Ridge(alpha=penalty)
        together = len(set(groups)) > 1
        folds = GroupKFold(min(_FOLDS, len(set(groups)))) if together else KFold(min(_FOLDS, len(ranks)))
        held_out = cross_val_predict(ridge, rows, ranks, cv=folds, groups=list(groups))
        centre, stretch = float(ranks.mean()), _stretch(held_out, ranks)
        stretched = centre + stretch * (held_out - centre)
        return cls(
            scale=scale,
            ridge=ridge.fit(rows, ranks),
            lowest=int(ranks.min()),
            highest=int(ranks.max()),
            centre=centre,
            stretch=stretch,
            error=max(float(np.sqrt(np.mean((stretched - ranks) ** 2))), _LEAST_ERROR),
        )

    def predict(self, rows: Any) -> list[Prediction]:
        """Return the median level per row, with the probability of every level seen in training's range."""
        expected = self.centre + self.stretch * (self.ridge.predict(rows) - self.centre)
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


def _stretch(held_out: Numbers, ranks: Numbers) -> float:
    """Return how much less held-out predictions spread than ranks do; 1 where they tell nothing of them."""
    if _lack_of_correlation([np.stack([held_out, ranks])]) >= 1:
        return 1.0
    return float(np.clip(ranks.std() / held_out.std(), 1.0, _MOST_STRETCH))


def _held_out(ranks: Numbers, rows: Numbers, train: Places, held: Places, penalty: float) -> Numbers:
    """Return the predictions of a fold and the ranks, shape (2, held out)."""
    ridge = Ridge(alpha=penalty).fit(rows[train], ranks[train])
    return np.stack([ridge.predict(rows[held]), ranks[held]])


def _lack_of_correlation(folds: Sequence[Numbers]) -> float:
    predicted, ranks = np.concatenate(folds, axis=1)
    if predicted.std() < _LEAST_ERROR or ranks.std() < _LEAST_ERROR:
        return 1.0
    return 1.0 - float(np.corrcoef(predicted, ranks)[0, 1])
