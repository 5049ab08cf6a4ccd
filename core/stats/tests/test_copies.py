"""Copies of items add nothing: estimates and tests by cluster are those of the items alone."""

from __future__ import annotations

import numpy as np
import pytest
from jrh_stats import (
    best_panel,
    clustered_proportion,
    corrected_failure_rate,
    effective_judges,
    excess_disagreement,
    excess_permutation_test,
    missingness_test,
    panel_accuracy,
    validity_bounds,
)

COPIES = 3


def answers(items: int = 40) -> np.ndarray:
    generator = np.random.default_rng(5)
    return np.stack(
        [generator.multinomial(3, (0.7, 0.3), size=items), generator.multinomial(2, (0.6, 0.4), size=items)], 1
    )


def test_excess_of_copies_is_that_of_the_items():
    table = answers()
    copied, clusters = np.repeat(table, COPIES, axis=0), np.repeat(np.arange(len(table)), COPIES)
    alone, found = excess_disagreement(table).excess, excess_disagreement(copied, clusters).excess
    assert (found.value, found.clusters) == (pytest.approx(alone.value), len(table))
    assert (found.low, found.high) == (pytest.approx(alone.low), pytest.approx(alone.high))
    wrong = excess_disagreement(copied).excess
    assert wrong.high - wrong.low < 0.7 * (found.high - found.low)


@pytest.mark.parametrize("items", [40, 400])
def test_copies_are_dealt_together(items):
    table = answers(items)
    copied, clusters = np.repeat(table, COPIES, axis=0), np.repeat(np.arange(items), COPIES)
    alone = excess_permutation_test(table, resamples=4000)
    found = excess_permutation_test(copied, clusters, resamples=4000)
    assert found.clusters == items
    assert found.statistic == pytest.approx(COPIES * alone.statistic)
    assert found.p == pytest.approx(alone.p, abs=0.04)


def test_items_that_are_alone_have_the_same_draws_with_and_without_clusters():
    table = answers()
    clusters = np.random.default_rng(1).permutation(len(table))
    assert excess_permutation_test(table, clusters) == excess_permutation_test(table)
    assert excess_disagreement(table, clusters) == excess_disagreement(table)


def test_panels_count_clusters_and_folds_never_part_one():
    generator = np.random.default_rng(2)
    truth = generator.integers(0, 2, 30)
    votes = np.where(generator.random((30, 5)) < 0.7, truth[:, None], 1 - truth[:, None])
    clusters = np.repeat(np.arange(30), COPIES)
    copied, right = np.repeat(votes, COPIES, axis=0), np.repeat(truth, COPIES)
    alone, found = (
        panel_accuracy(votes, truth, n_labels=2),
        panel_accuracy(copied, right, clusters, n_labels=2),
    )
    # With several trials per cluster the variance is the bootstrap's.
    assert (found.value, found.low, found.high) == pytest.approx((alone.value, alone.low, alone.high), abs=0.01)
    errors = (votes != truth[:, None]).astype(float)
    one, many = effective_judges(errors), effective_judges(np.repeat(errors, COPIES, axis=0), clusters)
    assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))
    best = best_panel(copied, right, clusters, n_labels=2)
    assert best is not None
    assert best.held_out.clusters == 30


def test_missing_verdicts_of_copies_are_no_further_evidence():
    generator = np.random.default_rng(3)
    item = np.repeat(np.arange(60), 4)
    condition = np.tile([0, 0, 1, 1], 60)
    missing = generator.random(240) < np.where(condition == 1, 0.2, 0.1)
    alone = missingness_test(missing, condition, item)
    rows = np.tile(np.arange(240), COPIES)
    copy = np.repeat(np.arange(COPIES), 240)
    found = missingness_test(missing[rows], condition[rows], item[rows] + 60 * copy, item[rows])
    assert found.p == pytest.approx(alone.p, abs=0.05)
    assert missingness_test(missing[rows], condition[rows], item[rows] + 60 * copy).p < alone.p / 2


def test_reviews_of_copies_are_no_further_reviews():
    failures = clustered_proportion([3.0] * 40 + [0.0] * 60, [3.0] * 100)
    valid, reviewed = np.array([1.0] * 24 + [0.0] * 8 + [1.0] * 27 + [0.0] * 3), np.ones(62)
    sides = {
        "valid_failures": valid * (np.arange(62) < 32),
        "reviewed_failures": reviewed * (np.arange(62) < 32),
        "valid_passes": valid * (np.arange(62) >= 32),
        "reviewed_passes": reviewed * (np.arange(62) >= 32),
    }
    counted = {name: int(side.sum()) for name, side in sides.items()}
    alone = corrected_failure_rate(failures, **counted)
    copied = corrected_failure_rate(failures, **{name: COPIES * side for name, side in sides.items()})
    assert (copied.value, copied.low, copied.high) == pytest.approx((alone.value, alone.low, alone.high))
    naive = corrected_failure_rate(failures, **{name: COPIES * side for name, side in counted.items()})
    assert naive.high - naive.low < 0.95 * (copied.high - copied.low)
    bounds = validity_bounds(failures, invalid=COPIES * (1 - valid), reviewed=COPIES * reviewed)
    single = validity_bounds(failures, invalid=11, reviewed=62)
    assert bounds is not None
    assert single is not None
    assert bounds.outer_high == pytest.approx(single.outer_high)


def test_the_choice_of_a_panel_is_as_sure_with_copies():
    generator = np.random.default_rng(6)
    truth = generator.integers(0, 2, 80)
    votes = np.where(generator.random((80, 6)) < 0.7, truth[:, None], 1 - truth[:, None])
    clusters = np.repeat(np.arange(80), COPIES)
    alone = best_panel(votes, truth, n_labels=2)
    found = best_panel(np.repeat(votes, COPIES, axis=0), np.repeat(truth, COPIES), clusters, n_labels=2)
    assert alone is not None
    assert found is not None
    assert (found.held_out.value, found.held_out.low) == pytest.approx((alone.held_out.value, alone.held_out.low))
    assert found.same == alone.same
