"""Combine the votes of a panel of judges into one decision."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ties: TypeAlias = Literal["none", "lowest", "highest", "first"]
"""What a tied vote decides: nothing, the lowest or highest of the tied labels, or that of the first judge of them."""
MedianTies: TypeAlias = Literal["mean", "lower", "upper"]
"""What an even number of scores decides: the mean of the two middle ones, or the lower or upper of them."""

_SAME: Final = 1e-9


def majority_vote(
    votes: ArrayLike, *, n_labels: int, weights: ArrayLike | None = None, ties: Ties = "none"
) -> NDArray[np.int64]:
    """Decide by the label with the most votes, or the greatest weight of votes.

    Args:
        votes: label codes 0 to `n_labels` - 1, -1 for a missing verdict, shape (items, judges).
        n_labels: number of labels.
        weights: weight of every judge, not negative, shape (judges,); 1 by default.
        ties: the rule where several labels have the greatest weight. Sums that differ by rounding count as tied.

    Returns:
        The label of every item, shape (items,); -1 without a vote, or where a tie is left undecided.

    Raises:
        ValueError: the shapes do not fit, a code is out of range, or a weight is negative.
    """
    table = _votes(votes, n_labels)
    power = _weights(weights, table.shape[1])
    tally = np.stack([(table == label) @ power for label in range(n_labels)], axis=1)
    top = tally.max(axis=1, keepdims=True)
    tied = (tally >= top - _SAME * np.maximum(top, 1.0)) & (top > 0)
    several = tied.sum(axis=1) > 1
    lowest = np.where(tied.any(axis=1), tied.argmax(axis=1), -1)
    if ties == "lowest":
        return lowest.astype(np.int64)
    if ties == "highest":
        highest = n_labels - 1 - tied[:, ::-1].argmax(axis=1)
        return np.where(lowest >= 0, highest, -1).astype(np.int64)
    broken = _first_among(table, tied) if ties == "first" else np.full(len(table), -1)
    return np.where(several, broken, lowest).astype(np.int64)


def mean_score(scores: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Decide by the (weighted) mean of the available scores.

    Args:
        scores: NaN for a missing verdict, shape (items, judges).
        weights: weight of every judge, not negative, shape (judges,); 1 by default.

    Returns:
        Shape (items,), in the unit of the scores; NaN where no judge with a weight has a score.
    """
    table = _scores(scores)
    power = np.where(np.isnan(table), 0.0, _weights(weights, table.shape[1]))
    total = power.sum(axis=1)
    summed = (np.nan_to_num(table) * power).sum(axis=1)
    return np.where(total > 0, summed / np.where(total > 0, total, 1.0), np.nan)


def median_score(scores: ArrayLike, *, ties: MedianTies = "mean") -> NDArray[np.float64]:
    """Decide by the median of the available scores.

    Args:
        scores: NaN for a missing verdict, shape (items, judges).
        ties: the rule for an even number of scores.

    Returns:
        Shape (items,), in the unit of the scores; NaN where there is no score.
    """
    table = np.sort(_scores(scores), axis=1)  # NaN goes last
    present = (~np.isnan(table)).sum(axis=1)
    rows = np.arange(len(table))
    if not table.shape[1]:
        return np.full(len(table), np.nan)
    lower = table[rows, np.maximum(present - 1, 0) // 2]
    upper = table[rows, np.minimum(present // 2, table.shape[1] - 1)]
    chosen = {"mean": (lower + upper) / 2, "lower": lower, "upper": upper}[ties]
    return np.where(present > 0, chosen, np.nan)


def _first_among(table: NDArray[np.int64], tied: NDArray[np.bool_]) -> NDArray[np.int64]:
    has = np.take_along_axis(tied, np.maximum(table, 0), axis=1) & (table >= 0)
    first = has.argmax(axis=1)
    return np.where(has.any(axis=1), table[np.arange(len(table)), first], -1)


def _votes(votes: ArrayLike, n_labels: int) -> NDArray[np.int64]:
    table = np.asarray(votes, dtype=np.int64)
    if table.ndim != 2:  # noqa: PLR2004 - items and judges
        raise ValueError(f"votes must have the shape (items, judges), got {table.shape}")
    if table.size and (table.min() < -1 or table.max() >= n_labels):
        raise ValueError(f"votes must be between 0 and {n_labels - 1}, or -1 where missing")
    return table


def _scores(scores: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:  # noqa: PLR2004 - items and judges
        raise ValueError(f"scores must have the shape (items, judges), got {table.shape}")
    return table


def _weights(weights: ArrayLike | None, judges: int) -> NDArray[np.float64]:
    power = np.ones(judges) if weights is None else np.asarray(weights, dtype=np.float64)
    if power.shape != (judges,) or np.any(power < 0) or not np.all(np.isfinite(power)):
        raise ValueError(f"weights must be {judges} numbers, none negative")
    return power
