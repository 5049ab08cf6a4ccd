"""The human ceiling: kappas as other code computes them, and how often a judge is wrongly said to reach it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from jrh_stats import Weighting, human_ceiling
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

Codes = NDArray[np.int64]
STUDIES = 1000
MARGIN = 0.1


def said(rng: np.random.Generator, truth: Codes, accuracy: float, labels: int = 3) -> Codes:
    right = rng.random(truth.shape) < accuracy
    return np.where(right, truth, (truth + rng.integers(1, labels, truth.shape)) % labels)


@pytest.mark.parametrize(("weighting", "name"), [("none", None), ("quadratic", "quadratic")])
def test_with_two_people_the_kappa_is_cohens(weighting: Weighting, name: str | None) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 80)
    people = np.stack([said(rng, truth, 0.8), said(rng, truth, 0.7)], axis=1)
    verdicts = said(rng, truth, 0.9)[:, None]
    found = human_ceiling(people, verdicts, np.arange(80), weighting=weighting)
    assert found.people.value == pytest.approx(cohen_kappa_score(people[:, 0], people[:, 1], weights=name))
    assert found.people_share == pytest.approx(np.mean(people[:, 0] == people[:, 1]))
    assert found.judge_share == pytest.approx(np.mean(people == verdicts))
    assert (found.difference.n, found.difference.clusters) == (80, 80)
    alone = human_ceiling(
        np.concatenate([people[:, :1], people[:, :1]], axis=1), verdicts, np.arange(80), weighting=weighting
    )
    assert alone.judge.value == pytest.approx(cohen_kappa_score(people[:, 0], verdicts[:, 0], weights=name))
    assert alone.people.value == pytest.approx(1.0)


def test_with_gaps_and_askings_the_kappas_are_those_of_all_pairs_one_by_one() -> None:
    """Pairs are enumerated and weighted item by item: 1 divided by the number of the item's pairs."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 60)
    people = np.stack([said(rng, truth, 0.8) for _ in range(4)], axis=1)
    people[rng.random(people.shape) < 0.3] = -1
    verdicts = np.stack([said(rng, truth, 0.75) for _ in range(3)], axis=1)
    verdicts[rng.random(verdicts.shape) < 0.2] = -1
    kept = ((people >= 0).sum(axis=1) > 1) & (verdicts >= 0).any(axis=1)
    people, verdicts = people[kept], verdicts[kept]
    among = [[(one, other, row[one], row[other], 1.0) for one, other in combinations(range(4), 2)] for row in people]
    beside = [
        [("judge", n, v, row[n], 1 / np.sum(asked >= 0)) for n in range(4) for v in asked if v >= 0]
        for row, asked in zip(people, verdicts, strict=True)
    ]
    found = human_ceiling(people, verdicts, np.arange(len(people)))
    for pairs, estimate in ((among, found.people), (beside, found.judge)):
        observed, chance = 0.0, 0.0
        tables: dict[object, NDArray[np.float64]] = {}
        for item in pairs:
            both = [each for each in item if each[2] >= 0 and each[3] >= 0]
            total = sum(each[4] for each in both)
            for one, other, first, second, weight in both:
                observed += weight / total * (first != second)
                tables.setdefault((one, other), np.zeros((3, 3)))[first, second] += weight / total
        for table in tables.values():
            chance += table.sum() - (table.sum(axis=1) @ table.sum(axis=0)) / table.sum()
        assert estimate.value == pytest.approx(1 - observed / chance)


def test_a_judge_that_always_says_the_most_common_label_does_not_reach_people() -> None:
    """Its share of equal labels is higher than that of people, so the share alone would say that it does."""
    rng = np.random.default_rng(3)
    truth = (rng.random(400) < 0.1).astype(np.int64)
    people = np.stack([said(rng, truth, 0.9, 2) for _ in range(3)], axis=1)
    found = human_ceiling(people, np.zeros((400, 1), dtype=np.int64), np.arange(400))
    assert found.judge_share is not None
    assert found.people_share is not None
    assert found.judge_share > found.people_share
    assert found.judge.value == pytest.approx(0.0)
    assert found.difference.high is not None
    assert found.difference.high < -MARGIN


def test_without_a_difference_the_interval_is_no_point_and_few_items_are_not_enough() -> None:
    labels = np.tile(np.array([[0, 0, 0], [1, 1, 1]]), (10, 1))
    found = human_ceiling(labels, labels[:, :1], np.arange(20)).difference
    assert found.value == 0.0
    assert found.low is not None
    assert found.low < -MARGIN
    assert "few-events" in found.flags


def test_empty_constant_and_single_clusters_have_no_interval() -> None:
    nothing = human_ceiling([[0, -1]], [[0]], [0])
    assert (nothing.difference.flags, nothing.people_share) == (("empty",), None)
    constant = human_ceiling([[0, 0]] * 5, [[0]] * 5, range(5))
    assert constant.difference.flags == ("degenerate",)
    assert human_ceiling([[0, 1], [1, 1], [0, 0]], [[0], [1], [0]], [4, 4, 4]).difference.low is None
    with pytest.raises(ValueError, match="a row for every item"):
        human_ceiling([[0, 0]], [[0], [1]], [0])


def test_a_judge_below_the_margin_is_rarely_said_to_agree_as_well() -> None:
    """Three people of accuracy .85 and a judge whose kappa with them is .1 below theirs, so that a claim is false.

    With two labels, a right label of either kind half of the time and independent errors, two raters of accuracy p and
    q have kappa (2p - 1)(2q - 1): .49 for people, .39 for a judge with 2q - 1 = .39 / .7. Nominal 2.5%.
    """
    accuracy = (1 + (0.49 - MARGIN) / 0.7) / 2
    claimed = covered = 0
    for study in range(STUDIES):
        rng = np.random.default_rng((4, study))
        truth = rng.integers(0, 2, 80)
        people = np.stack([said(rng, truth, 0.85, 2) for _ in range(3)], axis=1)
        found = human_ceiling(people, said(rng, truth, accuracy, 2)[:, None], np.arange(80)).difference
        assert found.low is not None
        assert found.high is not None
        claimed += found.low > -MARGIN
        covered += found.low <= -MARGIN <= found.high
    # At 5% of 1,000 more than 66 claims have a probability of 1%; at 95% fewer than 933 covered have .7%.
    assert claimed <= 66
    assert covered >= 933
