"""Compute the true values of measures in a world from the joint distribution of labels, without simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jrh import REFERENCE

from jrh_selftest.world import TEST, Matrix, World
from jrh_selftest.worlds import CovariateWorld, TemplateWorld


def truths(world: World) -> Mapping[tuple[str, str], float]:
    """Return (measure, test) -> planted value."""
    belief, moved = world.belief_matrix(), world.kernel(world.flips)
    gold_said = np.diag(world.shares) @ belief @ world.answer_matrix()
    believed = world.shares @ belief
    # Given the belief, two answers are independent: their joint distribution is N' diag(belief) N.
    asked_twice = _both(world, np.diag(believed))
    test_twice = _both(world, np.diag(believed @ moved))
    across = _both(world, np.diag(believed) @ moved)
    same = float(np.trace(across))
    # The noise floor is the mean of both conditions' own disagreement with themselves.
    floor = 1 - (float(np.trace(asked_twice)) + float(np.trace(test_twice))) / 2
    values = {
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
        ("self-kappa", TEST): kappa(across, squared=world.scale.ordered),
        ("missing", TEST): _missing_rate(world),
        ("accuracy-change", TEST): float(np.trace(gold_said_in_test(world)) - np.trace(gold_said)),
    }
    if isinstance(world, TemplateWorld):
        values |= _between_templates(world, test_twice)
    if isinstance(world, CovariateWorld):
        values["covariate-effect", REFERENCE] = world.slope
    if world.scale.ordered:
        values |= {(name, REFERENCE): value for name, value in ordinal(gold_said).items()}
    elif len(world.scale.labels) == 2:  # noqa: PLR2004 - rates of two labels
        values["false-negative-rate", REFERENCE] = float(gold_said[0, 1] / gold_said[0].sum())
        values["false-positive-rate", REFERENCE] = float(gold_said[1, 0] / gold_said[1].sum())
    return values


def _between_templates(world: TemplateWorld, twice: Matrix) -> dict[tuple[str, str], float]:
    """Return the agreement between templates, from the joint distribution of two answers to one question."""
    same = float(np.trace(twice))
    # Between templates of opposite polarity the presented labels agree exactly where the canonical ones differ.
    raw = (1 - world.opposite_share) * same + world.opposite_share * (1 - same)
    values = {"jss": same, "jss-raw": raw, "jss-correction": same - raw, "template-kappa": kappa(twice, squared=False)}
    return {(name, TEST): value for name, value in values.items()}


def _both(world: World, beliefs: Matrix) -> Matrix:
    """Return the joint distribution of two answers about one item, from that of the beliefs behind them."""
    return np.asarray(
        sum(share * (answers.T @ beliefs @ answers) for share, answers in world.answer_matrices()), dtype=np.float64
    )


def _missing_rate(world: World) -> float:
    usual = world.missing if world.missing_in_test is None else world.missing_in_test
    if world.missing_if_wrong is None:
        return usual
    right = float(np.trace(gold_said_in_test(world)))
    return right * usual + (1 - right) * world.missing_if_wrong


def gold_said_in_test(world: World) -> Matrix:
    """Return the joint distribution of right label and answer under the test."""
    joint = np.diag(world.shares) @ world.belief_matrix() @ world.kernel(world.flips) @ world.answer_matrix()
    return np.asarray(joint, dtype=np.float64)


def kappa(joint: Matrix, *, squared: bool) -> float:
    """Return Cohen's kappa of a joint distribution, unweighted or with squared distances."""
    steps = np.subtract.outer(np.arange(len(joint)), np.arange(len(joint)))
    # Cohen (1968): kappa is one minus the ratio of observed to expected weighted disagreement.
    weight = np.square(steps) if squared else steps != 0
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return 1 - float((weight * joint).sum() / (weight * expected).sum())


def ordinal(joint: Matrix) -> dict[str, float]:
    """Return the ordinal measures of a joint distribution of right level (rows) and level given."""
    levels = np.arange(len(joint), dtype=np.float64)
    error = np.subtract.outer(levels, levels).T  # given less right
    right, answers = joint.sum(axis=1), joint.sum(axis=0)
    # Ties share the middle of their ranks, as in Spearman's coefficient.
    ranks, answer_ranks = (np.cumsum(side) - side / 2 for side in (right, answers))
    spreads = [float(np.square(levels - levels @ side) @ side) for side in (right, answers)]
    return {
        "mean-absolute-error": float((joint * np.abs(error)).sum()),
        "root-mean-squared-error": float(np.sqrt((joint * np.square(error)).sum())),
        "bias": float((joint * error).sum()),
        "adjacent-accuracy": float(joint[np.abs(error) <= 1].sum()),
        "pearson": _correlation(joint, levels, levels),
        "gold-kappa": kappa(joint, squared=True),
        "scale-compression": float(np.sqrt(spreads[1] / spreads[0])),
        "spearman": _correlation(joint, ranks, answer_ranks),
    }


def _correlation(joint: Matrix, rows: Matrix, columns: Matrix) -> float:
    """Return Pearson's correlation of the scores of rows and columns under a joint distribution."""
    right, answers = joint.sum(axis=1), joint.sum(axis=0)
    rows, columns = rows - rows @ right, columns - columns @ answers
    return float(rows @ joint @ columns / np.sqrt((np.square(rows) @ right) * (np.square(columns) @ answers)))
