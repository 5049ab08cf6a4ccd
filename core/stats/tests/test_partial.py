"""Bounds of kappa and of the excess against every way to fill in what is missing, and their coverage by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from jrh_stats import (
    cohen_kappa,
    excess_bounds,
    kappa_bounds,
)
from jrh_stats.kappa import Weighting


def _fillings(sides: np.ndarray, labels: int) -> np.ndarray:
    holes = np.argwhere(sides < 0)
    values = np.array(list(product(range(labels), repeat=len(holes))))
    found = np.repeat(sides[None], len(values), axis=0)
    found[:, holes[:, 0], holes[:, 1]] = values
    return found


def _kappas(sides: np.ndarray, labels: int, weighting: Weighting) -> np.ndarray:
    """Compute kappa from one-hot labels, shape (fillings, 2, pairs)."""
    one, other = (np.eye(labels)[sides[:, side]].mean(axis=1) for side in (0, 1))
    steps = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))).astype(float)
    weight = {"none": steps > 0, "linear": steps, "quadratic": steps**2}[weighting]
    chance = np.einsum("fi,ij,fj->f", one, weight, other)
    seen = weight[sides[:, 0], sides[:, 1]].mean(axis=1)
    return 1 - seen[chance > 0] / chance[chance > 0]


def _excesses(sides: np.ndarray) -> np.ndarray:
    """Average over pairs of answers: two of the reference, three of the condition, shape (fillings, items, 5)."""
    differ = sides[..., :, None] != sides[..., None, :]
    raw = differ[..., :2, 2:].mean(axis=(-2, -1))
    own = (differ[..., 0, 1] + differ[..., [2, 2, 3], [3, 4, 4]].mean(axis=-1)) / 2
    return (raw - own).mean(axis=-1)


@pytest.mark.parametrize("weighting", ["none", "linear", "quadratic"])
@pytest.mark.parametrize("labels", [2, 3])
def test_kappa_is_bounded_by_its_extremes_over_all_labels_that_were_lost(weighting: Weighting, labels: int) -> None:
    rng = np.random.default_rng(31 + labels)
    for study in range(8):
        first = rng.integers(0, labels, 14)
        second = np.where(rng.random(14) < 0.7, first, rng.integers(0, labels, 14))
        sides = np.stack([first, second])
        sides[0, rng.choice(14, 3, replace=False)] = -1
        sides[1, rng.choice(14, 2 + study % 2, replace=False)] = -1
        known = _kappas(_fillings(sides, labels), labels, weighting)
        found = kappa_bounds(sides[0], sides[1], np.arange(14), np.arange(labels), weighting=weighting)
        assert found is not None
        both = bool(np.any((sides < 0).all(axis=0)))
        # A pair without either label is filled in parts: its bounds may be a little wider than those of whole pairs.
        slack = 0.02 if both else 1e-9
        assert known.min() - slack <= found.low <= known.min() + 1e-9
        assert known.max() - 1e-9 <= found.high <= known.max() + slack
        assert found.interval is not None
        assert found.interval[0] < found.low <= found.high <= found.interval[1]


def test_without_missing_labels_both_bounds_are_kappa() -> None:
    rng = np.random.default_rng(32)
    first = rng.integers(0, 3, 40)
    second = np.where(rng.random(40) < 0.8, first, 0)
    found = kappa_bounds(first, second, np.arange(40), [0, 1, 2])
    assert found is not None
    assert found.low == found.high == pytest.approx(cohen_kappa(first, second).value)


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


def test_intervals_cover_kappa_whatever_is_lost() -> None:
    """Disagreeing verdicts are lost six times as often. The interval of what is left covers far less."""
    rng, studies, covered = np.random.default_rng(20261123), 300, 0
    for _ in range(studies):
        first = rng.random(100) < 0.5
        second = first ^ (rng.random(100) < 0.2)  # kappa is 0.6
        lost = rng.random(100) < np.where(first == second, 0.05, 0.3)
        found = kappa_bounds(np.where(lost, -1, first), second.astype(int), np.arange(100), [0, 1])
        assert found is not None
        assert found.interval is not None
        covered += found.interval[0] <= 0.6 <= found.interval[1]
    assert covered / studies >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / studies)
