"""Compute the true values of measures in a world from the joint distribution of labels, without simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jrh import REFERENCE
from numpy.typing import NDArray

from jrh_selftest.world import TEST, World
from jrh_selftest.worlds import CovariateWorld, TemplateWorld

Matrix = NDArray[np.float64]


def truths(world: World) -> Mapping[tuple[str, str], float]:
    """Return (measure, test) -> planted value."""
    belief, moved = world.believing(), world.kernel(world.flips)
    gold_said = np.diag(world.shares) @ belief @ world.saying()
    believed = world.shares @ belief
    asked_twice = _both(world, np.diag(believed))
    test_twice = _both(world, np.diag(believed @ moved))
    across = _both(world, np.diag(believed) @ moved)
    same = float(np.trace(across))
    floor = 1 - (float(np.trace(asked_twice)) + float(np.trace(test_twice))) / 2
    found = {
        ("as-expected", REFERENCE): float(np.trace(gold_said)),
        ("as-expected", TEST): same,
        ("gold-accuracy", TEST): float(np.trace(gold_said_in_test(world))),
        ("agreement", TEST): same,
        ("flip-rate", TEST): 1 - same,
        ("rerun-disagreement", REFERENCE): 1 - float(np.trace(asked_twice)),
        ("rerun-disagreement", TEST): 1 - float(np.trace(test_twice)),
        ("disagreement", TEST): 1 - same,
        ("noise-floor", TEST): floor,
        ("excess-disagreement", TEST): 1 - same - floor,
        ("kappa", TEST): kappa(across, squared=False),
        ("missing", TEST): _lost(world),
        ("accuracy-change", TEST): float(np.trace(gold_said_in_test(world)) - np.trace(gold_said)),
    }
    if isinstance(world, TemplateWorld):
        found |= _between_templates(world, test_twice)
    if isinstance(world, CovariateWorld):
        found["covariate-effect", REFERENCE] = world.slope
    if world.scale.ordered:
        found |= {(name, REFERENCE): value for name, value in ordinal(gold_said).items()}
        found["kappa-quadratic", TEST] = kappa(across, squared=True)
    elif len(world.scale.labels) == 2:  # noqa: PLR2004 - rates of two labels
        found["false-negative-rate", REFERENCE] = float(gold_said[0, 1] / gold_said[0].sum())
        found["false-positive-rate", REFERENCE] = float(gold_said[1, 0] / gold_said[1].sum())
    return found


def _between_templates(world: TemplateWorld, twice: Matrix) -> dict[tuple[str, str], float]:
    """Return the agreement between templates, from the joint distribution of two answers to one question."""
    same = float(np.trace(twice))
    raw = (1 - world.mixed) * same + world.mixed * (1 - same)
    found = {"jss": same, "jss-raw": raw, "jss-correction": same - raw, "template-kappa": kappa(twice, squared=False)}
    return {(name, TEST): value for name, value in found.items()}


def _both(world: World, beliefs: Matrix) -> Matrix:
    """Return the joint distribution of two answers about one item, from that of the beliefs behind them."""
    return np.asarray(sum(share * (each.T @ beliefs @ each) for share, each in world.sayings()), dtype=np.float64)


def _lost(world: World) -> float:
    usual = world.missing if world.missing_in_test is None else world.missing_in_test
    if world.missing_if_wrong is None:
        return usual
    right = float(np.trace(gold_said_in_test(world)))
    return right * usual + (1 - right) * world.missing_if_wrong


def gold_said_in_test(world: World) -> Matrix:
    """Return the joint distribution of right label and answer under the test."""
    joint = np.diag(world.shares) @ world.believing() @ world.kernel(world.flips) @ world.saying()
    return np.asarray(joint, dtype=np.float64)


def kappa(joint: Matrix, *, squared: bool) -> float:
    """Return Cohen's kappa of a joint distribution, unweighted or with squared distances."""
    steps = np.subtract.outer(np.arange(len(joint)), np.arange(len(joint)))
    weight = np.square(steps) if squared else steps != 0
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return 1 - float((weight * joint).sum() / (weight * expected).sum())


def ordinal(joint: Matrix) -> dict[str, float]:
    """Return the ordinal measures of a joint distribution of right level (rows) and level given."""
    levels = np.arange(len(joint), dtype=np.float64)
    error = np.subtract.outer(levels, levels).T  # given less right
    right, given = joint.sum(axis=1), joint.sum(axis=0)
    means, variances = _moments(levels, right, given)
    covariance = float((joint * np.outer(levels - means[0], levels - means[1])).sum())
    return {
        "mean-absolute-error": float((joint * np.abs(error)).sum()),
        "root-mean-squared-error": float(np.sqrt((joint * np.square(error)).sum())),
        "bias": float((joint * error).sum()),
        "adjacent-accuracy": float(joint[np.abs(error) <= 1].sum()),
        "pearson": covariance / float(np.sqrt(variances[0] * variances[1])),
        "gold-kappa-quadratic": kappa(joint, squared=True),
        "scale-compression": float(np.sqrt(variances[1] / variances[0])),
        "spearman": _spearman(joint),
    }


def _moments(levels: Matrix, right: Matrix, given: Matrix) -> tuple[list[float], list[float]]:
    means = [float(levels @ side) for side in (right, given)]
    variances = [float(np.square(levels - mean) @ side) for mean, side in zip(means, (right, given), strict=True)]
    return means, variances


def _spearman(joint: Matrix) -> float:
    right, given = joint.sum(axis=1), joint.sum(axis=0)
    one, other = (np.cumsum(side) - side / 2 - 0.5 for side in (right, given))
    covariance = float((joint * np.outer(one, other)).sum())
    return covariance / float(np.sqrt((np.square(one) @ right) * (np.square(other) @ given)))
