"""Choose the penalty inside the training examples, by cross-validation that never splits a group.

Penalised linear models depend on the rows through their inner products alone, so that the search runs on a matrix of
examples by examples and takes a fraction of the time of the final fit, however many columns there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

Numbers: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
Fold = TypeVar("Fold")
HeldOut: TypeAlias = Callable[[Numbers, Places, Places, float], Fold]
"""Rows in few columns, training and held-out places, penalty -> what is known of the held-out ones."""

UNTUNED: Final = 1.0
"""Without enough groups to hold some out: scikit-learn's default."""
PENALTIES: Final = (UNTUNED, 0.3, 0.1, 0.03, 0.01)
"""Tried from the most cautious on; a smaller one has to be better, not as good. None is above the default: squared
error and log loss prefer shrunken predictions on small data, which cost agreement with the gold labels."""
_FOLDS: Final = 5
_LEAST: Final = 20
"""With fewer examples the search would choose noise."""
_DIGITS: Final = 6
"""Losses are rounded: the last bits of another processor must not choose another penalty."""
_NOISE: Final = 1e-10


def choose(rows: Any, groups: Sequence[str], held_out: HeldOut[Fold], loss: Callable[[Sequence[Fold]], float]) -> float:
    """Return the penalty with the least held-out loss.

    Args:
        rows: the feature rows, sparse.
        groups: the group of every row; no group is split.
        held_out: what a fold tells, such as its loss.
        loss: the loss of all folds.
    """
    places = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    folds = min(_FOLDS, len(places))
    if len(groups) < _LEAST or folds <= 1:
        return UNTUNED
    small = _reduced(rows)
    codes = np.array([places[group] for group in groups])
    splits = list(GroupKFold(folds).split(small, groups=codes))
    losses = [
        round(loss([held_out(small, np.asarray(train), np.asarray(held), penalty) for train, held in splits]), _DIGITS)
        for penalty in PENALTIES
    ]
    return PENALTIES[int(np.argmin(losses))]


def total(losses: Sequence[float]) -> float:
    """Return the summed loss of all folds."""
    return sum(losses)


def _reduced(rows: Any) -> Numbers:
    """Return rows with the same inner products in as many columns as there are rows, at most."""
    products = np.asarray((rows @ rows.T).todense(), dtype=np.float64)
    values, vectors = np.linalg.eigh(products)
    kept = values > max(float(values[-1]), 1.0) * _NOISE
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
