import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import clustered_kappa, matthews_correlation, pearson
from sklearn.metrics import matthews_corrcoef

_pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


@given(_pairs)
def test_the_coefficient_is_that_of_scikit_learn(pairs) -> None:
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    found = matthews_correlation(one, other, np.arange(len(one)))

    if found.value is None:
        assert found.flags == ("degenerate",)
        assert min(len(set(one)), len(set(other))) == 1
    else:
        assert found.value == pytest.approx(matthews_corrcoef(one, other), abs=1e-9)
        assert found.low <= found.value <= found.high


def test_two_labels_give_pearsons_correlation_and_never_less_than_kappa_in_size() -> None:
    draws = np.random.default_rng(2)
    for _ in range(50):
        one, other = draws.integers(0, 2, 30), draws.integers(0, 2, 30)
        found = matthews_correlation(one, other, np.arange(30)).value
        assert found == pytest.approx(pearson(one, other, np.arange(30)).value)
        assert abs(found) >= abs(clustered_kappa(one, other, np.arange(30)).value) - 1e-12


def test_copies_within_a_cluster_add_nothing_and_weights_count_as_copies() -> None:
    draws = np.random.default_rng(4)
    one, items = draws.integers(0, 3, 60), np.arange(60)
    other = np.where(draws.random(60) < 0.3, draws.integers(0, 3, 60), one)
    once = matthews_correlation(one, other, items)
    thrice = matthews_correlation(np.repeat(one, 3), np.repeat(other, 3), np.repeat(items, 3))
    weighted = matthews_correlation(one, other, items, case_weights=np.full(60, 3.0))

    assert (thrice.value, thrice.low, thrice.high) == pytest.approx((once.value, once.low, once.high), abs=1e-9)
    assert (weighted.value, weighted.low, weighted.high) == pytest.approx((once.value, once.low, once.high), abs=1e-9)


def test_perfect_agreement_leaves_room_for_what_was_not_drawn() -> None:
    labels = np.array([0, 1] * 30)
    found = matthews_correlation(labels, labels, np.arange(60))
    # A share h of 60 unseen items, all confused: 1 - 2 h with even margins.
    share = 1.9599640**2 / (60 + 1.9599640**2)

    assert (found.value, found.high, found.low) == (1.0, 1.0, pytest.approx(1 - 2 * share, abs=1e-6))


@pytest.mark.parametrize(
    ("items", "error", "rare", "labels"), [(60, 0.1, 0.2, 2), (60, 0.02, 0.5, 2), (200, 0.1, 0.2, 3)]
)
def test_intervals_of_kappa_and_mcc_cover(items: int, error: float, rare: float, labels: int) -> None:
    draws = np.random.default_rng(items)
    shares = [rare, *[(1 - rare) / (labels - 1)] * (labels - 1)]

    def study(n: int) -> tuple[np.ndarray, np.ndarray]:
        gold = draws.choice(labels, n, p=shares)
        return np.where(draws.random(n) < error, (gold + draws.integers(1, labels, n)) % labels, gold), gold

    large = study(400_000)
    for coefficient in (clustered_kappa, matthews_correlation):
        truth = coefficient(*large, np.arange(400_000)).value
        covered = 0
        for _ in range(1000):
            found = coefficient(*study(items), np.arange(items))
            covered += found.low - 1e-9 <= truth <= found.high + 1e-9
        assert 930 <= covered <= 990, coefficient
