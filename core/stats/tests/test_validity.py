"""Failure rates where some cases are themselves invalid: bounds by hand, coverage by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import Estimate, clustered_proportion, corrected_failure_rate, validity_bounds


def rate(hits, n, level=0.95):
    outcomes = np.array([1.0] * hits + [0.0] * (n - hits))
    return clustered_proportion(outcomes, np.ones(n), level=level)


def test_the_bounds_by_hand():
    # 30 % fail, 20 % are invalid: among the valid ones between (0.3 - 0.2) / 0.8 and 0.3 / 0.8.
    found = validity_bounds(rate(30, 100), invalid=10, reviewed=50)
    assert found.low == pytest.approx(0.125)
    assert found.high == pytest.approx(0.375)
    assert found.outer_low < found.low
    assert found.outer_high > found.high
    assert found.invalid.value == 0.2


def test_without_invalid_cases_the_bounds_are_the_rate_itself():
    found = validity_bounds(rate(30, 100), invalid=0, reviewed=50)
    assert found.low == found.high == 0.3


def test_what_was_not_reviewed_has_no_bounds():
    assert validity_bounds(rate(30, 100), invalid=0, reviewed=0) is None
    assert validity_bounds(rate(30, 100), invalid=5, reviewed=5) is None
    assert validity_bounds(Estimate(value=None), invalid=0, reviewed=5) is None
    with pytest.raises(ValueError, match="among the reviewed"):
        validity_bounds(rate(30, 100), invalid=6, reviewed=5)


def test_the_corrected_rate_by_hand():
    found = corrected_failure_rate(
        rate(30, 100), valid_failures=10, reviewed_failures=20, valid_passes=18, reviewed_passes=20
    )
    assert found.value == pytest.approx(0.15 / (0.15 + 0.63))
    assert found.method == "mover-logit"
    assert found.low < found.value < found.high


def test_where_all_reviewed_cases_are_valid_nothing_is_corrected_but_the_interval_knows_of_the_review():
    plain = rate(30, 100)
    found = corrected_failure_rate(plain, valid_failures=20, reviewed_failures=20, valid_passes=20, reviewed_passes=20)
    assert found.value == pytest.approx(0.3)
    assert found.high - found.low > plain.high - plain.low


def test_where_no_reviewed_failure_is_valid_the_rate_is_zero_with_a_wide_interval():
    found = corrected_failure_rate(
        rate(30, 100), valid_failures=0, reviewed_failures=20, valid_passes=20, reviewed_passes=20
    )
    assert found.value == 0
    assert found.method == "box"
    assert found.high > 0.05


def test_a_side_that_was_needed_and_not_reviewed_has_no_correction():
    found = corrected_failure_rate(
        rate(30, 100), valid_failures=0, reviewed_failures=0, valid_passes=20, reviewed_passes=20
    )
    assert found.flags == ("empty",)
    nothing = corrected_failure_rate(
        rate(0, 100), valid_failures=0, reviewed_failures=0, valid_passes=20, reviewed_passes=20
    )
    assert nothing.value == 0
    none_valid = corrected_failure_rate(
        rate(30, 100), valid_failures=0, reviewed_failures=5, valid_passes=0, reviewed_passes=5
    )
    assert none_valid.flags == ("degenerate",)


@pytest.mark.parametrize(("real", "invalid_fails"), [(0.1, 0.8), (0.3, 0.3)])
def test_the_interval_of_the_corrected_rate_covers(real, invalid_fails):
    generator = np.random.default_rng(7)
    covered = []
    for _ in range(400):
        valid = generator.random(300) < 0.85
        fails = generator.random(300) < np.where(valid, real, invalid_fails)
        failed, passed = np.flatnonzero(fails), np.flatnonzero(~fails)
        seen_failed, seen_passed = failed[:30], passed[:30]
        found = corrected_failure_rate(
            rate(len(failed), 300),
            valid_failures=int(valid[seen_failed].sum()),
            reviewed_failures=len(seen_failed),
            valid_passes=int(valid[seen_passed].sum()),
            reviewed_passes=len(seen_passed),
        )
        covered.append(found.low <= real <= found.high)
    assert 0.925 <= np.mean(covered) <= 0.985


@given(
    hits=st.integers(1, 99),
    a=st.integers(0, 20),
    b=st.integers(1, 20),
)
def test_the_corrected_rate_lies_within_the_bounds_that_its_own_reviews_imply(hits, a, b):
    p = hits / 100
    found = corrected_failure_rate(
        rate(hits, 100), valid_failures=a, reviewed_failures=20, valid_passes=b, reviewed_passes=20
    )
    invalid = p * (1 - a / 20) + (1 - p) * (1 - b / 20)
    assert max(0, (p - invalid) / (1 - invalid)) - 1e-9 <= found.value <= min(1, p / (1 - invalid)) + 1e-9
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_reviews_that_share_clusters_cover_and_counted_one_by_one_do_not():
    """80 clusters of 5 cases with a failure rate and a share of valid cases of their own; 200 studies."""
    generator = np.random.default_rng(12)
    clusters, size, studies = 80, 5, 200
    covered = naive = 0
    for _seed in range(studies):
        ease, validity = generator.beta(1.2, 2.8, clusters), generator.beta(1.4, 0.6, clusters)
        fails = generator.random((clusters, size)) < ease[:, None]
        valid = generator.random((clusters, size)) < validity[:, None]
        rate = clustered_proportion(fails.sum(1), np.full(clusters, size))
        sides = [(valid & side).sum(1) for side in (fails, ~fails)], [side.sum(1) for side in (fails, ~fails)]
        names = ("valid_failures", "valid_passes"), ("reviewed_failures", "reviewed_passes")
        counts = {name: side for pair in zip(names, sides, strict=True) for name, side in zip(*pair, strict=True)}
        found = corrected_failure_rate(rate, **counts)
        alone = corrected_failure_rate(rate, **{name: int(side.sum()) for name, side in counts.items()})
        covered += found.low <= 0.3 <= found.high  # failing and being valid are independent
        naive += alone.low <= 0.3 <= alone.high
    assert covered / studies >= 0.95 - 2.5 * (0.95 * 0.05 / studies) ** 0.5
    assert naive < covered
