"""A change between two sides: one decision by test and interval, valid for unequal numbers of answers."""

from itertools import combinations, product

import numpy as np
import pytest
from jrh_stats import Change, cluster_sums, difference_by_exchange, paired_change
from scipy.stats import binom, norm
from statsmodels.stats.contingency_tables import mcnemar


def _answers(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, sides and items of two tables of answers, shape (items, answers)."""
    items = np.arange(len(first))
    values = np.concatenate([first.ravel(), second.ravel()])
    sides = np.repeat([False, True], [first.size, second.size])
    return values, sides, np.concatenate([np.repeat(items, first.shape[1]), np.repeat(items, second.shape[1])])


@pytest.mark.parametrize(("only_first", "only_second"), [(12, 3), (5, 5), (0, 6), (40, 20), (1, 0)])
def test_one_answer_per_side_has_mcnemars_mid_p(only_first: int, only_second: int) -> None:
    first = np.r_[np.ones(only_first), np.zeros(only_second), np.ones(30)][:, None]
    second = np.r_[np.zeros(only_first), np.ones(only_second), np.ones(30)][:, None]
    exact = mcnemar([[0, only_first], [only_second, 0]], exact=True).pvalue
    fewer, number = min(only_first, only_second), only_first + only_second
    expected = exact - binom.pmf(fewer, number, 0.5) * (1 if only_first != only_second else 0.5)

    found = paired_change(*_answers(first, second))

    assert found.test.p == pytest.approx(expected)
    assert found.test.method == "exchange-exact"


def _statistic(first: np.ndarray, second: np.ndarray, floor: float) -> float:
    """Return the studentised change of two tables whose items have the same numbers of answers, step by step."""
    change = second.mean(axis=1) - first.mean(axis=1)
    mean, items = change.mean(), len(change)
    variance = max(((change - mean) ** 2).sum(), floor * (1 - mean**2)) / items / (items - 1)
    if variance < 1e-12:
        return 0.0 if abs(mean) < 1e-9 else np.inf
    return abs(mean) * np.sqrt((1 - mean**2) / variance)


def _all_dealings(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mid-p-value of all ways to deal every item's answers again, item by item."""
    table = np.hstack([first, second])
    number, taken = table.shape[1], second.shape[1]
    ways = [(np.setdiff1d(np.arange(number), way), np.array(way)) for way in combinations(range(number), taken)]
    floor = 2 / 3 * sum(np.mean([(row[own].mean() - row[other].mean()) ** 2 for other, own in ways]) for row in table)
    seen, values = _statistic(first, second, floor), []
    for chosen in product(ways, repeat=len(table)):
        dealt = [(row[other], row[own]) for row, (other, own) in zip(table, chosen, strict=True)]
        values.append(_statistic(*(np.array(side) for side in zip(*dealt, strict=True)), floor))
    values = np.array(values)
    return float((values > seen + 1e-9).mean() + (np.abs(values - seen) <= 1e-9).mean() / 2)


def _all_flips(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mid-p-value of all sign patterns, with a share of the variance of the dealings as the least one."""
    change = second.mean(axis=1) - first.mean(axis=1)
    table = np.hstack([first, second])
    number, taken = table.shape[1], second.shape[1]
    ways = [(np.setdiff1d(np.arange(number), way), np.array(way)) for way in combinations(range(number), taken)]
    floor = 2 / 3 * sum(np.mean([(row[own].mean() - row[other].mean()) ** 2 for other, own in ways]) for row in table)
    values = [
        _statistic(np.zeros((len(change), 1)), (change * signs)[:, None], floor)
        for signs in np.array(list(product([1, -1], repeat=len(change))))
    ]
    seen = _statistic(first, second, floor)
    values = np.array(values)
    return float((values > seen + 1e-9).mean() + (np.abs(values - seen) <= 1e-9).mean() / 2)


@pytest.mark.parametrize("seed", range(6))
def test_few_items_have_the_p_value_of_all_dealings_and_all_sign_patterns(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first = (generator.random((6, 3)) < 0.6).astype(float)
    second = (generator.random((6, 1)) < 0.4).astype(float)

    found = paired_change(*_answers(first, second))

    assert found.test.method == "exchange-exact"
    assert found.test.p == pytest.approx(max(_all_dealings(first, second), _all_flips(first, second)))


def test_too_many_outcomes_are_drawn_and_come_close_to_all() -> None:
    generator = np.random.default_rng(1)
    change = generator.normal(0.1, 0.3, 13).clip(-1, 1)
    drawn = difference_by_exchange(np.append(change, [0.2, -0.1]), np.ones(15), resamples=40_000)
    signs = np.array(list(product([1, -1], repeat=15)))
    totals = np.abs(signs @ np.append(change, [0.2, -0.1]))

    assert drawn.test.method == "exchange"
    assert drawn.test.p == pytest.approx((totals >= totals[0] - 1e-9).mean(), abs=0.01)


def test_more_than_two_hundred_moving_clusters_have_students_distribution() -> None:
    change = np.random.default_rng(2).normal(0.03, 0.3, 400).clip(-1, 1)
    found = difference_by_exchange(change, np.ones(400))
    t = change.mean() / change.std(ddof=1) * 20

    assert found.test.method == "exchange-student"
    assert found.test.p == pytest.approx(2 * norm.sf(t), abs=0.003)


@pytest.mark.parametrize("shape", [(1, 1, 20), (5, 1, 30), (2, 1, 60), (3, 3, 25), (2, 6, 40), (1, 1, 5)])
def test_the_interval_excludes_0_exactly_where_the_test_rejects(shape: tuple[int, int, int]) -> None:
    before, after, items = shape
    generator, rejected = np.random.default_rng(5), 0
    for seed in range(60):
        chance = generator.beta(4, 1, (items, 1))
        first = (generator.random((items, before)) < chance).astype(float)
        second = (generator.random((items, after)) < chance - 0.2).astype(float)
        found = paired_change(*_answers(first, second), resamples=300, seed=seed)
        low, high = found.estimate.low, found.estimate.high
        assert (low > 0 or high < 0) == (found.test.p < 0.05)
        assert -1 <= low <= found.estimate.value <= high <= 1
        rejected += found.test.p < 0.05
    assert rejected < 60


def _rejections(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...], clusters: np.ndarray | None) -> int:
    return sum(
        paired_change(*(answers := _answers(one, other)), None if clusters is None else clusters[answers[2]],
                      resamples=400, seed=seed).test.p < 0.05
        for seed, (one, other) in enumerate(zip(first, second, strict=True))
    )  # fmt: skip


@pytest.mark.parametrize(("before", "after", "items"), [(5, 1, 30), (10, 1, 60), (2, 10, 60), (3, 3, 30)])
def test_unequal_numbers_of_noisy_answers_reject_no_more_often_than_the_level(
    before: int, after: int, items: int
) -> None:
    """Nothing changes; sign flips of the items' differences reject in 9% (5 and 1) and 16% (10 and 1) of studies."""
    generator, studies = np.random.default_rng(11), 300
    first = (generator.random((studies, items, before)) < 0.97).astype(float)
    second = (generator.random((studies, items, after)) < 0.97).astype(float)

    assert _rejections(tuple(first), tuple(second), None) <= binom.ppf(0.999, studies, 0.05)


def test_a_judge_that_repeats_itself_rejects_no_more_often_than_the_level() -> None:
    """Each item flips upwards or downwards in 8%, and five answers are one: dealing them again rejects in 13%."""
    generator, studies = np.random.default_rng(12), 300
    kind = generator.random((studies, 60, 1))
    first = np.repeat(np.where(kind < 0.08, 1.0, np.where(kind < 0.16, 0.0, 1.0)), 5, axis=2)
    second = np.where(kind < 0.08, 0.0, np.where(kind < 0.16, 1.0, 1.0))

    rejected = _rejections(tuple(first), tuple(second), None)
    assert binom.ppf(0.001, studies, 0.03) <= rejected <= binom.ppf(0.999, studies, 0.05)


def test_copies_in_clusters_reject_no_more_often_than_the_level() -> None:
    generator, studies = np.random.default_rng(13), 200
    clusters = np.repeat(np.arange(40), 3)
    chance = generator.beta(9, 1, (studies, 40, 1))
    first, second = (
        np.repeat((generator.random((studies, 40, number)) < chance).astype(float), 3, axis=1) for number in (4, 1)
    )
    assert _rejections(tuple(first), tuple(second), clusters) <= binom.ppf(0.999, studies, 0.05)


def test_copies_of_an_item_in_its_cluster_change_nothing() -> None:
    generator = np.random.default_rng(14)
    first, second = ((generator.random((30, number)) < 0.8).astype(float) for number in (4, 1))
    clusters = np.repeat(np.arange(30), 2)
    values, sides, items = _answers(np.repeat(first, 2, axis=0), np.repeat(second, 2, axis=0))

    alone, copied = paired_change(*_answers(first, second)), paired_change(values, sides, items, clusters[items])

    assert copied.test.p == pytest.approx(alone.test.p)
    assert copied.estimate.low == pytest.approx(alone.estimate.low)


def test_a_missing_answer_leaves_the_items_of_a_cluster_nearly_together() -> None:
    generator = np.random.default_rng(15)
    first, second = ((generator.random((30, number)) < 0.8).astype(float) for number in (4, 1))
    clusters = np.repeat(np.arange(30), 2)
    values, sides, items = _answers(np.repeat(first, 2, axis=0), np.repeat(second, 2, axis=0))
    whole = paired_change(values, sides, items, clusters[items])
    values[[0, 50, 100]] = np.nan
    found = paired_change(values, sides, items, clusters[items])

    assert found.estimate.n == whole.estimate.n == 60
    assert found.test.p == pytest.approx(whole.test.p, abs=0.1)


def test_scores_in_few_bytes_lose_no_digit() -> None:
    generator = np.random.default_rng(8)
    first, second = ((generator.random((30, number)) < share).astype(float) for number, share in ((7, 0.9), (3, 0.6)))
    values, sides, items = _answers(first, second)
    values[generator.random(len(values)) < 0.1] = np.nan

    found = paired_change(values.astype(np.float32), sides, items, items // 2, seed=1)

    assert found == paired_change(values, sides, items, items // 2, seed=1)


def test_neither_rows_nor_clusters_have_an_order() -> None:
    generator = np.random.default_rng(16)
    first, second = ((generator.random((25, number)) < 0.7).astype(float) for number in (3, 1))
    values, sides, items = _answers(first, second)
    backwards = _answers(first[::-1], second[::-1])

    assert paired_change(values, sides, items) == paired_change(*backwards)
    assert paired_change(values, sides, items) == paired_change(values[::-1], sides[::-1], items[::-1])


def test_clusters_are_dealt_in_parts_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(7)
    items = np.repeat(np.arange(60), 5)
    second = np.tile([False, False, True, True, True], 60)
    values = generator.integers(0, 3, len(items)) / 2
    values[generator.random(len(items)) < 0.05] = np.nan
    clusters = items // 2

    def found() -> Change:
        return paired_change(values, second, items, clusters, span=1.0, seed=1)

    whole = found()
    monkeypatch.setattr("jrh_stats.exchange._CLUSTERS", 7)
    assert found() == whole


def test_without_any_change_the_bounds_are_those_of_unseen_items() -> None:
    ones = np.ones((40, 1))
    found = paired_change(*_answers(ones, ones))
    share = norm.ppf(0.975) ** 2 / (40 + norm.ppf(0.975) ** 2)

    assert found.test.p == 1.0
    assert (found.estimate.low, found.estimate.high) == pytest.approx((-share, share))
    assert found.estimate.method == "wilson-clusters"


@pytest.mark.parametrize("items", [2, 3, 4, 5, 40])
def test_a_change_everywhere_is_decided_by_what_unseen_items_could_change(items: int) -> None:
    found = paired_change(*_answers(np.ones((items, 1)), np.zeros((items, 1))))

    assert found.test.p == pytest.approx(max(2 * norm.sf(items**0.5), 0.5**items))
    assert (found.estimate.high < 0) == (found.test.p < 0.05)


def test_sums_say_the_same_as_single_answers() -> None:
    generator = np.random.default_rng(17)
    first, second = ((generator.random((50, 2)) < 0.7).astype(float) for _ in range(2))
    clusters = np.arange(50) // 2
    values, sides, items = _answers(first, second)
    sums = cluster_sums(np.repeat(clusters, 2), (second - first).ravel(), np.ones(100))

    one, other = paired_change(values, sides, items, clusters[items]), difference_by_exchange(sums[:, 0], sums[:, 1])

    assert (one.estimate, one.test.p) == (other.estimate, other.test.p)


def test_items_without_answers_on_both_sides_are_left_out_and_levels_have_a_span() -> None:
    values = np.array([3.0, 1.0, 2.0, 2.0, np.nan, 5.0])
    found = paired_change(values, [False, True, False, True, False, True], [0, 0, 1, 1, 2, 2], span=5)

    assert (found.estimate.value, found.estimate.n) == (-1.0, 2)
    assert paired_change([1.0], [False], [0]).estimate.flags == ("empty",)
    assert difference_by_exchange([], []).test.p is None
    with pytest.raises(ValueError, match="one value, side, item"):
        paired_change([1.0, 0.0], [True], [0, 1])
    with pytest.raises(ValueError, match="span"):
        difference_by_exchange([3.0, 1.0], [1.0, 1.0])


def test_few_events_on_the_side_with_fewer_answers_are_flagged() -> None:
    """Half of the items have an error among ten reference answers, so that many differences vary, each a little."""
    first = np.ones((60, 10))
    first[:30, 0] = 0.0
    second = np.ones((60, 1))
    second[30:33] = 0.0
    assert paired_change(*_answers(first, second)).estimate.flags == ("few-events",)
    assert paired_change(*_answers(second, first)).estimate.flags == ("few-events",)

    second[33:50] = 0.0
    assert paired_change(*_answers(first, second)).estimate.flags == ()
