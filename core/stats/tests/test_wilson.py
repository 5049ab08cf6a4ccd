import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import wilson, z_quantile
from jrh_stats.score_intervals import t_quantile
from scipy.stats import binomtest


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_table_of_newcombe_1998(successes: int, n: int, low: float, high: float) -> None:
    ends = wilson(successes, n)

    assert [round(float(end), 4) for end in ends] == [low, high]


@given(n=st.integers(1, 5000), share=st.floats(0, 1), level=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_equals_scipy(n: int, share: float, level: float) -> None:
    successes = round(n * share)
    expected = binomtest(successes, n).proportion_ci(level, method="wilson")

    low, high = wilson(successes, n, level=level)

    assert float(low) == pytest.approx(expected.low, abs=1e-12)
    assert float(high) == pytest.approx(expected.high, abs=1e-12)


@given(n=st.integers(1, 1000), share=st.floats(0, 1))
def test_wilson_mirrors_when_successes_and_failures_swap(n: int, share: float) -> None:
    low, high = wilson(n * share, n)
    mirrored_low, mirrored_high = wilson(n - n * share, n)

    assert float(low) == pytest.approx(1 - float(mirrored_high), abs=1e-9)
    assert float(high) == pytest.approx(1 - float(mirrored_low), abs=1e-9)
    assert low <= share <= high or share == pytest.approx(float(low)) or share == pytest.approx(float(high))


def test_wilson_broadcasts_and_knows_nothing_of_no_trials() -> None:
    low, high = wilson(np.array([[0], [5]]), np.array([10, 20]))

    assert low.shape == high.shape == (2, 2)
    assert low[0].tolist() == [0.0, 0.0]
    assert [float(end) for end in wilson(0, 0)] == [0.0, 1.0]


def test_wilson_at_the_ends_keeps_exactly_zero_and_one() -> None:
    assert float(wilson(0, 7)[0]) == 0.0
    assert float(wilson(7, 7)[1]) == 1.0


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 2)])
def test_wilson_rejects_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(successes, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_zero_and_one_is_rejected(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        wilson(1, 2, level=level)


def test_the_quantiles_are_those_of_the_printed_tables() -> None:
    assert round(z_quantile(0.95), 4) == 1.96
    assert round(z_quantile(0.99), 4) == 2.5758
    assert round(t_quantile(0.95, 9), 3) == 2.262
    assert round(t_quantile(0.95, 1), 3) == 12.706
