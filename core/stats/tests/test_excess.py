import tracemalloc
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from jrh_stats import excess_disagreement, excess_limits, excess_permutation_test
from scipy.stats import binom


def _by_pairs(reference: list[int], condition: list[int]) -> float:
    def differ(one: list[int], other: list[int], same: bool) -> float:
        pairs = [(a, b) for i, a in enumerate(one) for j, b in enumerate(other) if not (same and i == j)]
        return float(np.mean([a != b for a, b in pairs]))

    floor = (differ(reference, reference, True) + differ(condition, condition, True)) / 2
    return differ(reference, condition, False) - floor


def _counts(*groups: list[int], labels: int = 3) -> list[list[int]]:
    return [np.bincount(group, minlength=labels).tolist() for group in groups]


def _drawn(generator, items: int, asked: tuple[int, int], shift: float) -> np.ndarray:
    before = generator.beta(0.5, 0.5, items)
    after = np.clip(before + shift * np.where(before < 0.5, 1, -1), 0, 1)
    hits = [generator.binomial(n, p) for n, p in zip(asked, (before, after), strict=True)]
    return np.stack([np.stack([hit, n - hit], axis=1) for hit, n in zip(hits, asked, strict=True)], axis=1)


def test_the_excess_is_the_mean_over_items_of_pairs_counted_one_by_one() -> None:
    items = [([0, 0, 1], [1, 1, 1]), ([2, 2], [2, 2, 0]), ([0, 1], [1, 0])]
    found = excess_disagreement([_counts(*item) for item in items])

    assert found.excess.value == pytest.approx(np.mean([_by_pairs(*item) for item in items]))
    assert found.excess.value == pytest.approx(found.raw.value - found.floor.value)
    assert found.excess.clusters == 3


def test_it_estimates_half_the_squared_distance_of_the_two_distributions() -> None:
    generator = np.random.default_rng(1)
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    counts = np.stack([generator.multinomial(2, p, 40_000), generator.multinomial(3, q, 40_000)], axis=1)
    found = excess_disagreement(counts).excess

    assert found.value == pytest.approx(np.square(p - q).sum() / 2, abs=0.01)
    assert found.low < np.square(p - q).sum() / 2 < found.high


def test_a_noisy_judge_has_no_excess_where_nothing_changes() -> None:
    generator = np.random.default_rng(2)
    found = excess_disagreement(_drawn(generator, 4000, (2, 2), 0.0))

    assert found.raw.value > 0.2
    assert found.excess.low < 0 < found.excess.high
    assert found.excess.value == pytest.approx(0, abs=0.02)


def test_a_condition_asked_once_borrows_the_references_floor_and_says_so() -> None:
    found = excess_disagreement([_counts([0, 0], [1]), _counts([0, 1], [0])])

    assert found.floor.value == pytest.approx(0.5)
    assert found.raw.value == pytest.approx(0.75)
    assert found.excess.flags == ("few-events", "reference-floor", "few-clusters")


def test_items_without_a_second_reference_answer_take_no_part() -> None:
    found = excess_disagreement([_counts([0], [1, 1])])

    assert (found.excess.value, found.excess.flags) == (None, ("empty",))
    assert excess_permutation_test([_counts([0], [1, 1])]).p is None


def test_several_conditions_of_an_item_are_one_cluster() -> None:
    one = np.array([_counts([0, 0], [1, 1])] * 5 + [_counts([0, 0], [0, 0])] * 5)
    two = np.concatenate([one, one[:, 1:]], axis=1)
    first, second = excess_disagreement(one).excess, excess_disagreement(two).excess

    assert (second.value, second.low, second.high) == pytest.approx((first.value, first.low, first.high))
    assert (second.n, second.clusters) == (20, 10)


def test_the_permutation_test_raises_no_more_false_alarms_than_stated() -> None:
    generator = np.random.default_rng(3)
    p = [excess_permutation_test(_drawn(generator, 30, (2, 3), 0.0), resamples=200, seed=seed).p for seed in range(300)]

    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_the_permutation_test_finds_a_shift() -> None:
    generator = np.random.default_rng(4)

    assert excess_permutation_test(_drawn(generator, 60, (2, 2), 0.6)).p < 0.01
    assert excess_permutation_test([_counts([0, 0], [0, 0])] * 9).p == 1.0


def test_few_items_give_the_p_value_of_all_dealings() -> None:
    # Two of two differ: of the 6 ways to deal 2 + 2 answers 2 have the full excess, in both items 4 of 36.
    found = excess_permutation_test([_counts([0, 0], [1, 1])] * 2, resamples=20_000)

    assert found.p == pytest.approx(4 / 36, abs=0.01)


def test_thousands_of_answers_to_an_item_take_little_memory() -> None:
    tables = np.random.default_rng(20261122).multinomial([4, 3332], np.ones(5) / 5, size=(30, 2))
    tracemalloc.start()
    found = excess_permutation_test(tables, resamples=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.p is not None
    assert peak < 100_000_000


def test_the_order_of_items_changes_nothing_to_the_last_digit() -> None:
    counts = _drawn(np.random.default_rng(5), 40, (3, 2), 0.2)
    mixed = counts[np.random.default_rng(6).permutation(40)]

    assert excess_disagreement(mixed) == excess_disagreement(counts)
    assert excess_permutation_test(mixed, seed=1) == excess_permutation_test(counts, seed=1)


def test_a_table_without_a_condition_is_refused() -> None:
    with pytest.raises(ValueError, match="item, group and label"):
        excess_disagreement(np.ones((3, 1, 2)))


def test_many_items_have_the_normal_limit_of_the_dealings(monkeypatch) -> None:
    from jrh_stats import excess

    counts = _drawn(np.random.default_rng(13), 700, (2, 3), 0.1)
    limit = excess_permutation_test(counts)
    monkeypatch.setattr(excess, "_DEALT", 10_000)
    dealt = excess_permutation_test(counts, resamples=4000)

    assert limit.n > 200
    assert limit.method == "permutation-within-items-normal"
    assert limit.p == pytest.approx(dealt.p, abs=0.02)
    assert 0.005 < dealt.p < 0.2  # where a wrong variance would show


def _excess(reference: list[int], condition: list[int]) -> float:
    """Return an item's excess by pairs; a condition that was asked once borrows the reference's floor."""
    if len(condition) > 1:
        return _by_pairs(reference, condition)
    pairs = [a != b for i, a in enumerate(reference) for j, b in enumerate(reference) if i != j]
    return float(np.mean([each != condition[0] for each in reference]) - np.mean(pairs))


def _summed(item: list[list[int]]) -> Counter[float]:
    """Count the excess of an item, summed over its conditions, over all orders of its answers."""
    ends = np.cumsum([0, *map(len, item)])
    found: Counter[float] = Counter()
    for order in permutations([each for group in item for each in group]):
        groups = [list(order[start:end]) for start, end in pairwise(ends)]
        found[round(sum(_excess(groups[0], group) for group in groups[1:]), 9)] += 1
    return found


@pytest.mark.parametrize(
    "items",
    [
        [[[0, 0], [1]], [[0, 0], [1]], [[1, 0], [1]], [[1, 1], [1]], [[1, 1], [0]]],
        [[[0, 0, 1], [1, 1, 1]], [[2, 2], [2, 0, 0]], [[0, 1], [1, 0]], [[0, 0], [1]]],
        [[[0, 0], [1], [1]], [[0, 1], [1], [1, 1]], [[0, 0, 0], [1], [0]]],
    ],
)
def test_the_p_value_is_that_of_all_orders_of_every_items_answers(items: list[list[list[int]]]) -> None:
    """Each item's orders are listed one by one, and their sums counted."""
    sums = Counter({0.0: 1})
    for item in items:
        orders = _summed(item)
        joined: Counter[float] = Counter()
        for one, times in sums.items():
            for other, more in orders.items():
                joined[round(one + other, 9)] += times * more
        sums = joined
    seen = sum(_excess(item[0], group) for item in items for group in item[1:])
    width = max(len(item) for item in items)
    counts = [_counts(*item, *[[]] * (width - len(item))) for item in items]
    found = excess_permutation_test(counts)

    assert found.p == pytest.approx(sum(n for v, n in sums.items() if v >= seen - 1e-6) / sums.total())


def _moved(flips: int, items: int) -> np.ndarray:
    """Return answers of a judge that never wavers and answers `flips` items otherwise under the condition."""
    counts = np.zeros((items, 2, 2))
    counts[:, 0, 0], counts[:, 1, 0] = 3, 1
    counts[:flips, 1] = [0, 1]
    return counts


@pytest.mark.parametrize("items", [20, 60])
def test_each_limit_of_wholly_moved_items_errs_as_seldom_as_it_says(items: int) -> None:
    found = [excess_limits(_moved(flips, items)) for flips in range(items + 1)]
    low, high = (np.array([getattr(each, end) for each in found]) for end in ("low", "high"))
    for share in (0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 0.97):
        likely = binom.pmf(np.arange(items + 1), items, share)
        assert likely[high < share].sum() <= 0.025
        assert likely[low > share].sum() <= 0.025


@pytest.mark.parametrize("items", [20, 60, 200])
def test_an_excess_that_is_the_same_on_every_item_is_decided(items: int) -> None:
    """Its interval has the flag `few-events` at any n, so that no rule could be decided."""
    none, every = excess_limits(_moved(0, items)), excess_limits(_moved(items, items))
    assert none.high == pytest.approx(1 - 0.025 ** (1 / items))
    share = 0.0125 ** (1 / items)
    assert every.low == pytest.approx(share - (1 - share) / 2)
    assert (none.flags, every.flags) == (("reference-floor",), ("reference-floor",))
    assert {none.method, every.method} == {"clopper-pearson"}


def test_limits_of_few_items_that_waver_err_seldom() -> None:
    """Excess 0.05 of items of which few move halfway, asked 2 and 2; drawn, as items are not wholly moved."""
    generator = np.random.default_rng(14)
    studies, items, after = 400, 40, 0.9
    # One item in ten moves from certainty to a coin that lands on the other side in 90%: E = 0.81 * 0.1.
    moves = generator.random((studies, items)) < 0.1
    hits = np.where(moves, generator.binomial(2, after, (studies, items)), 0)
    errors = np.zeros(2)
    for study in hits:
        counts = np.zeros((items, 2, 2))
        counts[:, 0, 0], counts[:, 1, 1], counts[:, 1, 0] = 2, study, 2 - study
        found = excess_limits(counts)
        errors += [found.low > 0.081, found.high < 0.081]
        assert "few-events" not in found.flags or found.method == "cluster-robust-wilson"
    assert np.all(errors / studies <= 0.025 + 3 * (0.025 * 0.975 / studies) ** 0.5)
