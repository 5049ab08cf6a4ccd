"""Order measures by hand, and against scipy."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from attrs import evolve
from jrh import Mode, Scale, ScaleKind, Task
from jrh_measuring import MetricOptions
from jrh_order.position import IdenticalChoice, PositionBias, place_name
from jrh_stats import difference_by_exchange
from jrh_testing import loop_over, sample_task

METRIC = PositionBias(MetricOptions())
OTHER = {"A": "B", "B": "A", "TIE": "TIE"}


def ask(made, item, first_order, second_order, gold=None):
    """Add the presented labels of both orders; in the second the options are swapped."""
    for order, label in (("AB", first_order), ("BA", second_order)):
        canonical = label if order == "AB" or label is None else OTHER[label]
        made.add(
            item,
            "",
            canonical,
            presented=label,
            option_order=order,
            variant=order,
            test="order",
            family="option-order",
            gold=gold,
        )


@pytest.fixture
def pairs(bench):
    return bench(sample_task(Mode.PAIRWISE))


@pytest.fixture
def ties(bench):
    return bench(Task(name="t", mode=Mode.PAIRWISE, scale=Scale.of_pairs(tie="TIE")))


def test_a_judge_that_sticks_to_the_first_place_and_one_that_follows_the_response(pairs, pick):
    from scipy.stats import binom, binomtest

    for item in range(6):
        ask(pairs, f"stuck-{item}", "A", "A", gold="A")
    for item in range(4):
        ask(pairs, f"follows-{item}", "A", "B", gold="A")
    for item in range(2):
        ask(pairs, f"second-{item}", "B", "B", gold="A")
    found = pairs.measure(METRIC)
    assert pick(found, "swap-consistency").estimate == pytest.approx(4 / 12)
    assert pick(found, "first-position-rate").estimate == pytest.approx((12 + 4) / 24)
    assert pick(found, "second-position-rate").estimate == pytest.approx((4 + 4) / 24)
    bias = pick(found, "position-bias")
    assert bias.estimate == pytest.approx((6 - 2) / 12)
    assert bias.interval.low < bias.estimate < bias.interval.high
    assert bias.note == "first position in both orders: 6 items; second: 2"
    middle = binomtest(6, 8, 0.5).pvalue - binom.pmf(6, 8, 0.5)
    assert pick(found, "position-bias-p").estimate == pytest.approx(middle), "McNemar's mid-p"
    assert pick(found, "gold-agreement-by-order", order="AB").estimate == pytest.approx(10 / 12)
    assert pick(found, "gold-agreement-by-order", order="BA").estimate == pytest.approx(6 / 12)
    assert pick(found, "gold-agreement-by-order").estimate == pytest.approx(16 / 24)


def test_right_in_both_orders_is_the_product_of_the_orders(pairs, pick):
    ask(pairs, "right in both", "A", "B", gold="A")
    ask(pairs, "always first", "A", "A", gold="A")
    ask(pairs, "wrong in both", "B", "A", gold="A")
    ask(pairs, "one missing", "A", None, gold="A")
    ask(pairs, "no gold", "A", "B")
    strict = pick(pairs.measure(METRIC), "right-in-both-orders")
    assert strict.estimate == pytest.approx(1 / 3)
    assert strict.bounds == pytest.approx((1 / 4, 2 / 4))
    assert (strict.n_items, strict.n_trials, dict(strict.missing)) == (3, 6, {"unparsable": 1})
    assert strict.interval.low < 1 / 3 < strict.interval.high


def test_with_repeats_right_in_both_orders_is_the_chance_that_one_asking_in_each_is(pairs, pick):
    for label, repeat in (("A", 0), ("B", 1)):
        pairs.add("1", "", label, presented=label, option_order="AB", test="order", gold="A", repeat=repeat)
    pairs.add("1", "", "A", presented="B", option_order="BA", test="order", gold="A")
    assert pick(pairs.measure(METRIC), "right-in-both-orders").estimate == pytest.approx(1 / 2)


def test_every_order_weighs_the_same_however_often_it_was_asked(pairs, pick):
    for item in range(4):
        for repeat in range(5):
            pairs.add(str(item), "", "A", presented="A", option_order="", test="reference", gold="A", repeat=repeat)
        pairs.add(str(item), "", "A", presented="B", option_order="BA", variant="BA", test="option-order", gold="A")
    found = pairs.measure(METRIC)
    # A perfect judge whose right option is always A: five askings of AB are no position bias.
    assert pick(found, "first-position-rate").estimate == 0.5
    assert pick(found, "position-bias").estimate == 0.0
    assert pick(found, "right-in-both-orders").estimate == 1.0


THREE = Task(name="t", mode=Mode.PAIRWISE, scale=Scale(kind=ScaleKind.PAIRWISE, labels=("A", "B", "C")))
SQUARE = ("ABC", "BCA", "CAB")


def of_three(made, item, judge, orders, gold):
    """Ask about three options; `judge` turns (order, gold) into the presented label."""
    for order in orders:
        presented = judge(order, gold)
        canonical = order["ABC".index(presented)]
        made.add(
            item,
            "",
            canonical,
            presented=presented,
            option_order="" if order == "ABC" else order,
            variant="" if order == "ABC" else order,
            test="reference" if order == "ABC" else "option-order",
            gold=gold,
        )


def follows(order, gold):
    return "ABC"[order.index(gold)]


@pytest.mark.parametrize("orders", [SQUARE, (*SQUARE, "CBA"), tuple("".join(each) for each in permutations("ABC"))])
def test_a_judge_that_follows_the_response_has_no_bias_among_three_options(bench, pick, orders):
    made = bench(THREE)
    for item in range(12):
        of_three(made, str(item), follows, orders, gold="A")
    found = made.measure(METRIC)
    for place in ("first", "second", "third"):
        rate = pick(found, f"{place}-position-rate")
        assert (rate.estimate, rate.note) == (pytest.approx(1 / 3), "chance: 0.333")
    assert pick(found, "swap-consistency").estimate == 1.0
    assert pick(found, "right-in-both-orders").estimate == 1.0
    assert pick(found, "position-bias").estimate == pytest.approx(0.0)
    assert pick(found, "position-bias-p").estimate == 1.0


@pytest.mark.parametrize(("label", "bias"), [("A", 1.0), ("B", 0.0), ("C", -1.0)])
def test_a_judge_that_sticks_to_one_of_three_places(bench, pick, label, bias):
    made = bench(THREE)
    for item in range(12):
        of_three(made, str(item), lambda order, gold: label, (*SQUARE, "CBA"), gold="ABC"[item % 3])
    found = made.measure(METRIC)
    rates = [pick(found, f"{place}-position-rate").estimate for place in ("first", "second", "third")]
    assert rates == [float(label == name) for name in "ABC"]
    assert pick(found, "position-bias").estimate == bias
    assert pick(found, "right-in-both-orders").estimate == 0.0
    # CBA leaves an option of every other order in its place, so it is in no pair.
    assert pick(found, "swap-consistency").estimate == 0.0
    assert pick(found, "position-bias-p").estimate < 0.01, "also of the place between the first and the last"
    by_place = [pick(found, "position-preference", place=place) for place in ("first", "second", "third")]
    assert [each.estimate for each in by_place] == pytest.approx([(label == name) - 1 / 3 for name in "ABC"])
    assert all(-1 / 3 - 1e-9 <= each.interval.low <= each.interval.high <= 2 / 3 + 1e-9 for each in by_place)


def test_three_options_without_balanced_orders_have_no_bias(bench, pick):
    made = bench(THREE)
    for item in range(12):
        of_three(made, str(item), follows, ("ABC", "BAC"), gold="A")
    bias = pick(made.measure(METRIC), "position-bias")
    assert (bias.estimate, bias.note) == (None, "no item has verdicts in orders that put every option in every place")


@loop_over(("place", "name"), [(0, "first"), (9, "tenth"), (10, "11th"), (20, "21st"), (21, "22nd"), (25, "26th")])
def test_every_place_has_a_name(place, name):
    assert place_name(place) == name


def test_ties_are_neither_place_and_a_tie_against_a_choice_is_not_consistent(ties, pick):
    ask(ties, "1", "TIE", "TIE")
    ask(ties, "2", "TIE", "A")
    ask(ties, "3", "A", "A")
    ask(ties, "4", "A", "B")
    found = ties.measure(METRIC)
    assert pick(found, "tie-rate").estimate == pytest.approx(3 / 8)
    assert pick(found, "first-position-rate").estimate == pytest.approx(4 / 8)
    assert pick(found, "swap-consistency").estimate == pytest.approx(2 / 4)
    assert pick(found, "position-bias").estimate == pytest.approx(1 / 4)


def test_items_with_one_order_count_for_rates_and_not_for_consistency(pairs, pick):
    ask(pairs, "1", "A", None)
    ask(pairs, "2", "B", "A")
    found = pairs.measure(METRIC)
    swap = pick(found, "swap-consistency")
    assert (swap.estimate, dict(swap.missing)) == (1.0, {"unparsable": 1})
    assert swap.bounds == (0.5, 1.0)
    assert (swap.n_trials, swap.n_items) == (2, 1)
    assert pick(found, "position-bias").n_items == 1
    assert pick(found, "first-position-rate").estimate == pytest.approx(2 / 3)


def test_without_any_verdict_the_p_value_says_so_like_the_bias(pairs, pick):
    ask(pairs, "1", None, None)
    found = pairs.measure(METRIC)
    bias, p = pick(found, "position-bias"), pick(found, "position-bias-p")
    assert dict(p.missing) == dict(bias.missing) == {"unparsable": 2}
    assert "all-missing" in p.flags
    assert "all-missing" in bias.flags


def test_without_gold_there_is_no_agreement_with_it(pairs, pick):
    ask(pairs, "1", "A", "B")
    assert pick(pairs.measure(METRIC), "gold-agreement-by-order").estimate is None


@pytest.mark.parametrize(("first", "second", "items"), [(9, 2, 12), (7, 2, 12), (8, 1, 12), (6, 0, 40), (5, 0, 40)])
def test_the_bias_and_its_p_value_are_one_decision(pairs, pick, first, second, items):
    """Before, of 9 items against 2 out of 12 the interval excluded 0 where p was .065."""
    from scipy.stats import binom, binomtest

    for item in range(items):
        place = "A" if item < first else "B" if item < first + second else ""
        ask(pairs, str(item), place or "A", place or "B")
    found = pairs.measure(METRIC)
    bias, p = pick(found, "position-bias"), pick(found, "position-bias-p").estimate
    middle = binomtest(first, first + second, 0.5).pvalue - binom.pmf(first, first + second, 0.5)
    assert p == pytest.approx(middle)
    assert (bias.interval.low > 0) == (p < 0.05)


@pytest.mark.parametrize(
    ("share", "place"), [(0.5, 0.1), *(pytest.param(share, 0.0, marks=pytest.mark.study) for share in (0.0, 0.9))]
)
def test_the_interval_of_the_bias_covers_it_95_times_in_100(share, place):
    chance = np.random.default_rng(5)
    truth = share - place
    hits = 0
    for _ in range(2000):
        drawn = chance.random(30)
        first, second = (drawn < share).astype(float), ((drawn >= share) & (drawn < share + place)).astype(float)
        found = difference_by_exchange(first - second, np.ones(30)).estimate
        hits += found.low <= truth <= found.high
    assert hits / 2000 >= 0.93


@pytest.mark.parametrize("correlation", [pytest.param(0.0, marks=pytest.mark.study), 0.3])
def test_with_repeats_the_interval_of_the_bias_is_no_wider_than_its_error_asks_for(correlation):
    """Judges without a bias, asked three times in each order; 1,000 studies of 60 items."""
    generator = np.random.default_rng(8)
    size = (1 - correlation) / max(correlation, 1e-9)
    good = generator.beta(size / 2, size / 2, (1000, 60)) if correlation else np.full((1000, 60), 0.5)
    own, swapped_order = generator.binomial(3, good), generator.binomial(3, 1 - good)
    first, second = own * swapped_order / 9, (3 - own) * (3 - swapped_order) / 9
    found = [difference_by_exchange(each, np.ones(60), resamples=400).estimate for each in first - second]
    error = (first - second).mean(axis=1).std()
    width = np.mean([one.high - one.low for one in found])
    assert np.mean([one.low <= 0 <= one.high for one in found]) == pytest.approx(0.95, abs=3 * 0.0069)
    assert width <= 1.15 * 2 * 1.96 * error
    assert not any(one.flags for one in found)


def test_with_repeats_the_test_of_the_bias_is_about_its_mean(pairs, pick):
    """Three askings an order: 8 items always pick the first place, 24 the second in two of three: the mean is 0."""
    for item in range(32):
        for repeat, label in enumerate("AAA" if item < 8 else "ABB"):
            for order in ("AB", "BA"):
                canonical = label if order == "AB" else OTHER[label]
                pairs.add(
                    str(item), "", canonical, presented=label, option_order=order, variant=order, test="order",
                    family="option-order", repeat=repeat,
                )  # fmt: skip
    found = pairs.measure(METRIC)
    bias, p = pick(found, "position-bias"), pick(found, "position-bias-p")
    assert bias.estimate == pytest.approx(0)
    assert bias.interval.method == "exchange-wilson"
    assert "exchange" in p.note
    assert p.estimate > 0.9  # of 8 items against 24, McNemar's p is 0.007


def test_identical_options_show_which_place_is_picked(ties, pick):
    for item, label in enumerate(["A", "A", "B", "TIE"]):
        ties.add(str(item), "", label, variant="AA", test="control", family="identical-options")
    found = ties.measure(IdenticalChoice(MetricOptions()))
    assert pick(found, "identical-first-position-rate").estimate == 0.5
    assert pick(found, "identical-second-position-rate").estimate == 0.25
    assert pick(found, "identical-tie-rate").estimate == 0.25


def swapped(bench, item, first, second, family="swap", template="", asked=""):
    """Ask in the item's own order under the reference, and swapped under a test of its own."""
    bench.add(item, asked, first, test="reference", option_order="", presented=first)
    canonical = {"A": "B", "B": "A"}[second]
    bench.add(item, template, canonical, test="swap", option_order="BA", presented=second, family=family)


def test_a_test_that_shows_the_swapped_order_only_is_completed_by_the_reference(pairs, pick):
    for item in range(3):
        swapped(pairs, f"stuck-{item}", "A", "A")
    swapped(pairs, "follows", "A", "B")
    found = pairs.measure(METRIC)
    assert {each.test for each in found} == {"swap"}
    assert pick(found, "position-bias").estimate == pytest.approx(3 / 4)
    assert pick(found, "swap-consistency").estimate == pytest.approx(1 / 4)
    assert pick(found, "first-position-rate").estimate == pytest.approx((4 + 3) / 8)


@pytest.mark.parametrize("how", [{"family": "option-order+format"}, {"template": "short"}])
def test_a_reference_that_differs_in_more_than_the_order_is_no_other_side(pairs, how):
    swapped(pairs, "1", "A", "A", **how)
    assert pairs.measure(METRIC) == []


def _chained(made, item, alone, chained, *, test="format", variant="spaces"):
    """Add the presented labels of `format` alone, in the item's own order, and of the chain, swapped."""
    made.add(item, "", alone, presented=alone, test=test, family="format", variant=variant)
    made.add(
        item,
        "",
        OTHER[chained],
        presented=chained,
        option_order="BA",
        variant=f"{variant}+BA",
        test=f"{test}+option-order",
        family="format+option-order",
    )


def test_a_chain_is_completed_by_the_test_that_does_the_same_without_the_order(pairs, pick):
    for item in range(8):
        _chained(pairs, f"stuck-{item}", "A", "A")
    for item in range(2):
        _chained(pairs, f"follows-{item}", "A", "B")
    for item in range(4):  # the reference has another text: it is not the other side
        pairs.add(f"stuck-{item}", "", "B", presented="B", test="reference", family="reference", variant="")
    found = [each for each in pairs.measure(METRIC) if each.test == "format+option-order"]
    assert pick(found, "swap-consistency").estimate == pytest.approx(2 / 10)
    assert pick(found, "position-bias").estimate == pytest.approx(8 / 10)
    assert pick(found, "first-position-rate").estimate == pytest.approx((16 + 2) / 20)


def test_each_variant_of_a_chain_has_its_own_other_side(pairs, pick):
    for item in range(3):
        _chained(pairs, f"{item}", "A", "A")
        _chained(pairs, f"{item}", "B", "A", variant="lines")
    pairs.add("9", "", "A", presented="A", test="format", family="format", variant="dots")  # not in the chain
    found = [each for each in pairs.measure(METRIC) if each.test == "format+option-order"]
    assert pick(found, "swap-consistency").n_items == 3
    assert pick(found, "first-position-rate").estimate == pytest.approx((3 * 3) / 12)


def test_the_name_tells_the_other_side_of_two_and_without_a_name_there_is_none(pairs, pick):
    _chained(pairs, "1", "A", "A", test="first.format")
    _chained(pairs, "1", "B", "A", test="second.format")
    found = pairs.measure(METRIC)
    for test, bias in (("first", 1.0), ("second", 0.0)):
        own = [each for each in found if each.test == f"{test}.format+option-order"]
        assert pick(own, "position-bias").estimate == bias
    for place, record in enumerate(pairs.records):
        if record.test == "first.format+option-order":
            pairs.records[place] = evolve(record, test="anything")
    assert not [each for each in pairs.measure(METRIC) if each.test == "anything"]
