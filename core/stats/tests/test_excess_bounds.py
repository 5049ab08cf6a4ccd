"""Bounds of the excess against every way to fill in what is missing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from jrh_stats import excess_bounds


def _fillings(sides: np.ndarray, labels: int) -> np.ndarray:
    holes = np.argwhere(sides < 0)
    values = np.array(list(product(range(labels), repeat=len(holes))))
    found = np.repeat(sides[None], len(values), axis=0)
    found[:, holes[:, 0], holes[:, 1]] = values
    return found


def _excesses(sides: np.ndarray) -> np.ndarray:
    """Average over pairs of answers: two of the reference, three of the condition, shape (fillings, items, 5)."""
    differ = sides[..., :, None] != sides[..., None, :]
    raw = differ[..., :2, 2:].mean(axis=(-2, -1))
    own = (differ[..., 0, 1] + differ[..., [2, 2, 3], [3, 4, 4]].mean(axis=-1)) / 2
    return (raw - own).mean(axis=-1)


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_the_excess_is_bounded_by_its_extremes_over_all_answers_that_were_lost(labels: int) -> None:
    rng = np.random.default_rng(33 + labels)
    for _ in range(6):
        answers = rng.integers(0, 2, (4, 5))  # items; two reference answers and three of the condition
        lost = rng.random(answers.shape) < 0.2
        lost.flat[np.flatnonzero(lost)[5:]] = False
        sides = np.where(lost, -1, answers)

        def counted(rows: np.ndarray) -> np.ndarray:
            groups = (rows[:, :2], rows[:, 2:])
            return np.stack([np.stack([(g == k).sum(1) for k in range(labels)], 1) for g in groups], 1).astype(float)

        known = _excesses(_fillings(sides, labels))
        gone = np.stack([lost[:, :2].sum(1), lost[:, 2:].sum(1)], 1)
        found = excess_bounds(counted(sides), gone, n_labels=labels)
        assert found is not None
        assert (found.low, found.high) == (pytest.approx(known.min()), pytest.approx(known.max()))


def test_too_many_missing_answers_to_list_give_outer_bounds() -> None:
    counts = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    found = excess_bounds(counts, [[200, 200]], n_labels=2)
    assert found is not None
    assert found.low == -0.5
    assert found.high == pytest.approx(1 - 2 / 201, abs=1e-3), "two labels, each nearly all of one side"
