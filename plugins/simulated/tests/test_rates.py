"""Every planted rate comes out at its closed form, within four standard deviations of that many trials."""

from __future__ import annotations

from collections import Counter

import pytest
from jrh import Mode, Polarity, Scale, Status
from jrh.values import Condition
from jrh_simulated.options import ErrorKind

pytestmark = pytest.mark.slow

LEVELS = Scale.of_levels(1, 6)
INVERTED = Condition(family="prompts", template="worse", polarity=Polarity.INVERTED)


@pytest.fixture(params=[4_000, pytest.param(20_000, marks=pytest.mark.study)], ids="{:,} trials".format)
def trials(request):
    """Provide the number of trials: 4,000 show a rate that is off by 3%, 20,000 one that is off by 1.4%."""
    return request.param


def gold_of(item: int) -> str:
    return "YES" if item % 4 else "NO"


def test_without_options_the_judge_is_always_right(bench):
    perfect = bench()
    assert all(perfect.ask(item, gold_of(item)) == gold_of(item) for item in range(500))


def test_accuracy_is_the_planted_one(bench, near, trials):
    judge = bench(accuracy=0.8)
    right = sum(judge.ask(item, gold_of(item)) == gold_of(item) for item in range(trials))
    assert near(right, trials, 0.8)


def test_accuracy_per_class_follows_the_gold_label(bench, near, trials):
    judge = bench(accuracy={"YES": 0.9, "NO": 0.6})
    assert near(sum(judge.ask(item, "YES") == "YES" for item in range(trials)), trials, 0.9)
    assert near(sum(judge.ask(item, "NO") == "NO" for item in range(trials)), trials, 0.6)


def test_accuracy_of_a_label_left_out_is_one(bench):
    judge = bench(accuracy={"YES": 0.0})
    assert [judge.ask(item, gold) for item, gold in enumerate(["YES", "NO", "YES"])] == ["NO", "NO", "NO"]


def test_uniform_errors_spread_evenly_over_the_other_labels(bench, near, trials):
    judge = bench(scale=LEVELS, accuracy=0.0)
    counts = Counter(judge.ask(item, "2") for item in range(trials))
    assert sorted(counts) == ["1", "3", "4", "5", "6"]
    assert all(near(count, trials, 1 / 5) for count in counts.values())


def test_adjacent_errors_stay_one_level_away(bench, near, trials):
    judge = bench(scale=LEVELS, accuracy=0.0, error=ErrorKind.ADJACENT)
    inside = Counter(judge.ask(item, "3") for item in range(trials))
    assert sorted(inside) == ["2", "4"]
    assert near(inside["2"], trials, 1 / 2)
    assert {judge.ask(item, "1") for item in range(100)} == {"2"}
    assert {judge.ask(item, "6") for item in range(100)} == {"5"}


def test_position_preference_flips_its_share_of_swapped_pairs(bench, near, trials):
    judge = bench(mode=Mode.PAIRWISE, accuracy=0.9, position_preference=0.3)
    straight = [judge.ask(item, "A") for item in range(trials)]
    swapped = [judge.ask(item, "A", swapped=True) for item in range(trials)]
    assert near(sum(one != other for one, other in zip(straight, swapped, strict=True)), trials, 0.3)
    assert near(straight.count("A"), trials, 0.7 * 0.9 + 0.3)
    assert near(swapped.count("A"), trials, 0.7 * 0.9)


def test_negative_position_preference_takes_the_second_option(bench):
    judge = bench(mode=Mode.PAIRWISE, position_preference=-1.0)
    assert judge.ask(1, "A") == "B"
    assert judge.ask(1, "B", swapped=True) == "A"


def test_length_preference_decides_its_share_of_pairs_in_both_orders(bench, near, trials):
    texts = {"response_a": "short", "response_b": "very much longer"}
    turned = {"response_a": "very much longer", "response_b": "short"}
    judge = bench(mode=Mode.PAIRWISE, length_preference=0.25, texts=texts)
    straight = [judge.ask(item, "A") for item in range(trials)]
    swapped = [judge.ask(item, "A", texts=turned, swapped=True) for item in range(trials)]
    assert near(straight.count("B"), trials, 0.25)
    assert straight == swapped


def test_length_preference_is_for_the_text_also_when_asked_for_the_worse(bench):
    judge = bench(mode=Mode.PAIRWISE, length_preference=1.0, texts={"response_a": "short", "response_b": "longer one"})
    assert judge.ask(1, "A") == "B"
    assert judge.ask(1, "A", swapped=True, condition=INVERTED) == "B"


def test_a_lengthened_text_is_rated_one_level_up_in_the_planted_share(bench, near, trials):
    judge = bench(scale=LEVELS, length_preference=0.4)
    longer = {"response": "Some text. And then some more of it."}
    levels = Counter(judge.ask(item, "3", texts=longer) for item in range(trials))
    assert sorted(levels) == ["3", "4"]
    assert near(levels["4"], trials, 0.4)
    assert {judge.ask(item, "6", texts=longer) for item in range(100)} == {"6"}


@pytest.mark.parametrize(
    ("preference", "text", "level"),
    [(1.0, "Some", "2"), (-1.0, "Some", "4"), (-1.0, "Some text, longer.", "2"), (1.0, "Some\n\n   text.", "3")],
)
def test_length_preference_moves_the_level_with_the_letters_and_digits(bench, preference, text, level):
    assert bench(scale=LEVELS, length_preference=preference).ask(1, "3", texts={"response": text}) == level


def test_length_ratio_says_how_much_longer_counts(bench):
    judge = bench(scale=LEVELS, length_preference=1.0, length_ratio=1.5, texts={"response": "abcd"})
    assert judge.ask(1, "3", texts={"response": "abcdef"}) == "3"
    assert judge.ask(1, "3", texts={"response": "abcdefg"}) == "4"


def test_format_sensitivity_is_the_flip_rate_of_layout_changes(bench, near, trials):
    judge = bench(accuracy=0.7, format_sensitivity=0.15)
    layout = {"response": "# Some\n\n- **text**."}
    flips = sum(judge.ask(item, "YES") != judge.ask(item, "YES", texts=layout) for item in range(trials))
    assert near(flips, trials, 0.15)


def test_format_sensitivity_leaves_changed_words_and_unchanged_texts_alone(bench):
    judge = bench(format_sensitivity=1.0)
    assert judge.ask(1, "YES") == "YES"
    assert judge.ask(1, "YES", texts={"response": "Some texts."}) == "YES"
    assert judge.ask(1, "YES", texts={"response": "```text\nSome text.\n```"}) == "NO"


def test_two_layouts_of_one_item_are_drawn_apart(bench, near, trials):
    judge = bench(format_sensitivity=0.5)
    one, other = {"response": "Some\ntext."}, {"response": "Some  text."}
    both = sum(judge.ask(i, "YES", texts=one) == judge.ask(i, "YES", texts=other) == "NO" for i in range(trials))
    assert near(both, trials, 0.25)


def test_meaning_blindness_is_the_share_of_flipped_items_missed(bench, near, trials):
    judge = bench(meaning_blindness=0.35)
    flipped = {"response": "Some other text."}
    right = sum(judge.ask(item, "YES", expected="NO", texts=flipped) == "NO" for item in range(trials))
    assert near(right, trials, 0.65)


def test_belief_about_a_flipped_item_is_drawn_apart_from_the_unflipped_one(bench, near, trials):
    judge = bench(accuracy=0.8)
    both = sum(judge.ask(i, "YES") == "YES" and judge.ask(i, "YES", expected="NO") == "NO" for i in range(trials))
    assert near(both, trials, 0.8 * 0.8)


def test_polarity_blindness_is_the_canonical_flip_rate_of_inverted_questions(bench, near, trials):
    judge = bench(accuracy=0.9, polarity_blindness=0.2)
    flips = sum(
        judge.ask(item, "YES") != judge.ask(item, "YES", swapped=True, condition=INVERTED) for item in range(trials)
    )
    assert near(flips, trials, 0.2)


def test_polarity_blindness_needs_an_inverted_question(bench):
    judge = bench(mode=Mode.PAIRWISE, polarity_blindness=1.0)
    swapped_options = Condition(family="prompts", option_order="BA")
    assert judge.ask(1, "A", swapped=True, condition=swapped_options) == "A"


@pytest.mark.parametrize(("scale", "labels"), [(Scale.of_labels("YES", "NO"), 2), (LEVELS, 6)])
def test_rerun_noise_gives_the_closed_form_of_disagreement_and_accuracy(bench, near, scale, labels, trials):
    noise, stay = 0.3, 0.7
    judge = bench(scale=scale, rerun_noise=noise)
    gold = scale.labels[0]
    first = [judge.ask(item, gold, occasion=0) for item in range(trials)]
    second = [judge.ask(item, gold, occasion=1) for item in range(trials)]
    disagreements = sum(one != other for one, other in zip(first, second, strict=True))
    assert near(disagreements, trials, (1 - stay**2) * (1 - 1 / labels))
    assert near(first.count(gold), trials, stay + noise / labels)


def test_a_planted_flip_rate_under_rerun_noise_follows_the_combined_formula(bench, near, trials):
    judge = bench(mode=Mode.PAIRWISE, position_preference=0.2, rerun_noise=0.1)
    flips = sum(judge.ask(item, "A") != judge.ask(item, "A", swapped=True, occasion=1) for item in range(trials))
    stay = 0.9**2
    assert near(flips, trials, 1 - stay * (1 - 0.2) - (1 - stay) / 2)


def test_missing_verdicts_come_at_their_rates_and_leave_the_others_alone(bench, near, trials):
    rates = {
        "refusals": 0.10,
        "unparsable": 0.08,
        "off_scale": 0.06,
        "truncated": 0.05,
        "abstentions": 0.04,
        "timeouts": 0.03,
        "provider_errors": 0.02,
    }
    judge = bench(accuracy=0.8, **rates)
    verdicts = [judge.judge.answer(*judge.pose(item, "YES")).verdict for item in range(trials)]
    counts = Counter(verdict.status for verdict in verdicts)
    statuses = ("refused", "unparsable", "off_scale", "truncated", "abstained", "timeout", "provider_error")
    for status, rate in zip(statuses, rates.values(), strict=True):
        assert near(counts[Status(status)], trials, rate), status
    labels = [verdict.presented for verdict in verdicts if verdict.status is Status.OK]
    assert near(labels.count("YES"), len(labels), 0.8)


def test_pseudo_gold_of_unlabelled_items_is_stable_and_even(bench, near, trials):
    judge = bench()
    first = [judge.ask(item, None) for item in range(trials)]
    assert first == [judge.ask(item, None, occasion=1) for item in range(trials)]
    assert near(first.count("YES"), trials, 0.5)


def test_judges_of_other_names_and_runs_of_other_seeds_err_on_other_items(bench, near, trials):
    here, named, seeded = bench(accuracy=0.7), bench(accuracy=0.7, name="other"), bench(accuracy=0.7, seed=2)
    agreement = 0.7**2 + 0.3**2
    answers = [here.ask(item, "YES") for item in range(trials)]
    for other in (named, seeded):
        assert near(sum(answers[item] == other.ask(item, "YES") for item in range(trials)), trials, agreement)


def template(name: str) -> Condition:
    return Condition(family="templates", template=name)


@pytest.mark.parametrize("scale", [Scale.of_labels("YES", "NO"), LEVELS], ids=["two labels", "six levels"])
def test_template_sensitivity_flips_its_share_and_templates_differ_from_each_other(bench, near, scale, trials):
    rate, labels = 0.2, len(scale.labels)
    judge = bench(scale=scale, template_sensitivity=rate)
    gold = scale.labels[0]
    own = [judge.ask(item, gold) for item in range(trials)]
    one, other = (
        [judge.ask(item, gold, condition=template(name), prompt=name) for item in range(trials)]
        for name in ("one", "other")
    )
    assert set(own) == {gold}
    assert near(sum(label != gold for label in one), trials, rate)
    agreeing = (1 - rate) ** 2 + rate**2 / (labels - 1)
    assert near(sum(first == second for first, second in zip(one, other, strict=True)), trials, agreeing)


def test_a_judge_with_its_own_template_is_not_upset_by_it(bench):
    judge = bench(template_sensitivity=1.0)
    assert {judge.ask(item, "YES") for item in range(200)} == {"YES"}


def test_identical_options_are_a_tie_where_there_is_one(bench):
    alike = {"response_a": "the same", "response_b": "the same"}
    judge = bench(mode=Mode.PAIRWISE, scale=Scale.of_pairs(tie="TIE"))
    assert {judge.ask(item, "A", texts=alike) for item in range(200)} == {"TIE"}


def test_identical_options_without_a_tie_are_drawn_evenly_and_position_preference_shows(bench, near, trials):
    alike = {"response_a": "the same", "response_b": "the same"}
    judge = bench(mode=Mode.PAIRWISE, position_preference=0.3)
    first = sum(judge.ask(item, "B", texts=alike) == "A" for item in range(trials))
    assert near(first, trials, 0.3 + 0.7 / 2)
