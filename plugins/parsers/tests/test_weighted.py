"""The expectation over levels, checked against numbers worked out by hand."""

from __future__ import annotations

import jrh_parsers.plugin
import pytest
from jrh import JrhError, Reply, Scale, ScaleKind, Status
from jrh_testing import build, loop_over

FIVE = Scale.of_levels(1, 5)


def parse(probabilities, text="4", scale=FIVE, **options):
    reply = Reply(status=Status.OK, text=text, token_probabilities=tuple(probabilities))
    return build(jrh_parsers.plugin, "weighted", options=options).parse(reply, scale)


def test_the_level_nearest_to_the_expectation_is_given_and_not_the_likeliest():
    # 0.45 * 5 + 0.40 * 3 + 0.15 * 2 = 3.75, nearest 4, though 4 itself has no probability.
    verdict = parse([{"5": 0.45, "3": 0.40, "2": 0.15}], text="5")

    assert verdict.presented == "4"
    assert verdict.probabilities == {
        "1": 0.0,
        "2": pytest.approx(0.15),
        "3": pytest.approx(0.40),
        "4": 0.0,
        "5": pytest.approx(0.45),
    }


def test_probabilities_are_renormalised_over_the_levels():
    verdict = parse([{"4": 0.6, "2": 0.2, "Score": 0.2}])

    assert verdict.probabilities["4"] == pytest.approx(0.75)
    assert verdict.presented == "4"  # 0.75 * 4 + 0.25 * 2 = 3.5: 3 and 4 are equally near, 4 is likelier


def test_spellings_of_one_level_are_added_up():
    verdict = parse([{"4": 0.3, " 4": 0.3, "▁4": 0.1, "1": 0.3}])

    assert verdict.probabilities["4"] == pytest.approx(0.7)
    assert verdict.presented == "3"  # 0.7 * 4 + 0.3 * 1 = 3.1


def test_of_two_equally_near_and_equally_likely_levels_the_lower_is_given():
    assert parse([{"3": 0.5, "4": 0.5}]).presented == "3"


def test_words_are_weighted_by_their_rank():
    scale = Scale(kind=ScaleKind.ORDINAL, labels=("poor", "fair", "good"))

    assert parse([{"poor": 0.5, "good": 0.5}], text="good", scale=scale).presented == "fair"


@loop_over(
    ("probabilities", "scale", "reason"),
    [
        ([], FIVE, "no token probabilities"),
        ([{"The": 1.0}], FIVE, "no token is"),
        ([{"4": 0.3, "The": 0.7}], FIVE, "no token is"),
        ([{"4": 0.9}, {"/": 1.0}, {"5": 1.0}], FIVE, "2 tokens could be"),
        ([{"1": 0.9}], Scale.of_levels(1, 10), "begin alike"),
        ([{"YES": 1.0}], Scale.of_labels("YES", "NO"), "ordinal scale"),
        ([{"x": 1.0}] * 64 + [{"4": 1.0}], FIVE, "too long"),
    ],
)
def test_where_the_score_stands_is_never_guessed(probabilities, scale, reason):
    verdict = parse(probabilities, scale=scale)

    assert verdict.status is Status.UNPARSABLE
    assert reason in verdict.detail


def test_ten_is_told_from_one_where_the_tokens_tell_them_apart():
    assert parse([{"10": 0.7, "1": 0.1, "9": 0.2}], text="10", scale=Scale.of_levels(1, 10)).presented == "9"


def test_text_is_read_only_where_the_fallback_is_on():
    assert parse([], text="Score: 4", fallback=True).presented == "4"
    assert parse([], text="Score: 4").presented is None


def test_a_judge_that_cannot_decide_is_not_averaged():
    assert parse([{"I": 0.5, "4": 0.5}], text="I cannot determine a score.").status is Status.ABSTAINED


def test_a_mass_above_one_is_a_mistake_of_the_suite():
    with pytest.raises((JrhError, ValueError)):
        parse([], min_mass=1.5)
