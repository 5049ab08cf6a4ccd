"""Order measures by hand, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from jrh import Mode, Scale, Task
from jrh.measuring import MetricOptions
from jrh_order.position import IdenticalChoice, PositionBias, signed_bias
from jrh_testing import sample_task
from scipy.stats import binomtest

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
    assert pick(found, "position-bias-p").estimate == pytest.approx(binomtest(6, 8, 0.5).pvalue)
    assert pick(found, "gold-agreement-by-order", order="AB").estimate == pytest.approx(10 / 12)
    assert pick(found, "gold-agreement-by-order", order="BA").estimate == pytest.approx(6 / 12)
    assert pick(found, "gold-agreement-by-order").estimate == pytest.approx(16 / 24)


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


@pytest.mark.parametrize(("share", "place"), [(0.0, 0.0), (0.5, 0.1), (0.9, 0.0)])
def test_the_interval_of_the_bias_covers_it_95_times_in_100(share, place):
    chance = np.random.default_rng(5)
    truth = share - place
    hits = 0
    for _ in range(2000):
        drawn = chance.random(30)
        first, second = (drawn < share).astype(float), ((drawn >= share) & (drawn < share + place)).astype(float)
        found = signed_bias(first, second, level=0.95)
        hits += found.low <= truth <= found.high
    assert hits / 2000 >= 0.93


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
