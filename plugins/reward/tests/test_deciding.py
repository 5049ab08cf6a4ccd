"""What a score becomes, and what is none."""

from __future__ import annotations

import asyncio
import json
import math

import jrh_reward.plugin
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import JrhError, Mode, Scale, Status
from jrh_reward.deciding import Decider, logistic, score_of
from jrh_reward.options import Decision, Probability
from jrh_testing import build, loop_over, sample_items, sample_question, sample_task

YES_NO, FIVE = Scale.of_labels("YES", "NO"), Scale.of_levels(1, 5)


def decided(scale, *scores, **decision):
    mode = Mode.PAIRWISE if "A" in scale else Mode.POINTWISE
    task = sample_task(mode, scale)
    verdict = Decider.of(Decision(**decision), task, "rm").verdict(scores, scale)
    return verdict.presented or verdict.status.value


@loop_over("answer", [0.7, {"score": 0.7}, np.float64(0.7), np.array([0.7])])
def test_numbers_are_scores(answer):
    assert score_of(answer) == pytest.approx(0.7)


@loop_over(
    ("answer", "status"),
    [
        *((bad, Status.UNPARSABLE) for bad in ("0.7", True, [0.7], float("nan"), math.inf, -math.inf, 10**400)),
        *(
            (bad, Status.UNPARSABLE)
            for bad in ({}, {"score": "0.7"}, {"score": math.nan}, np.array([1.0, 2.0]), object())
        ),
        (None, Status.ABSTAINED),
        ({"score": None}, Status.ABSTAINED),
        ({"status": "refused"}, Status.REFUSED),
    ],
)
def test_what_is_no_finite_number_is_a_status(answer, status):
    verdict = score_of(answer)

    assert (verdict.status, verdict.presented, verdict.score) == (status, None, None)


def test_a_number_too_long_to_write_down_is_a_status():
    assert score_of(10**5000).status is Status.UNPARSABLE


def test_thresholds_make_labels_and_levels():
    assert [decided(YES_NO, score) for score in (-0.1, 0.0, 0.1)] == ["NO", "YES", "YES"]
    assert [decided(YES_NO, score, probability=Probability.SCORE) for score in (0.49, 0.5, 1.2)] == [
        "NO",
        "YES",
        "off_scale",
    ]
    assert [decided(FIVE, score) for score in (-9, 1.49, 1.5, 4.5, 9)] == ["1", "1", "2", "5", "5"]
    assert [decided(FIVE, score, thresholds=(0, 1, 2, 3)) for score in (-1, 0, 2.5, 3)] == ["1", "2", "4", "5"]
    negative_first = Scale(kind=YES_NO.kind, labels=("bad", "good"), positive="good")
    assert [decided(negative_first, score) for score in (-1, 1)] == ["bad", "good"]


def test_two_scores_make_a_preference_with_margin_and_tie():
    plain, tied, three = Scale.of_pairs(), Scale.of_pairs(tie="TIE"), Scale.of_pairs(options=3)
    assert [decided(plain, *pair) for pair in ((1, 0), (0, 1), (1, 1))] == ["A", "B", "abstained"]
    assert [decided(tied, *pair, margin=0.5) for pair in ((1, 0), (0.5, 0), (0, 0.6))] == ["A", "TIE", "B"]
    assert [decided(three, *scores) for scores in ((1, 3, 2), (1, 0, 1))] == ["B", "abstained"]
    assert decided(plain, 1e308, -1e308) == "unparsable"


@given(st.floats(-800, 800))
def test_the_logistic_function_never_overflows(number):
    assert logistic(number) == pytest.approx(1 / (1 + np.exp(-np.longdouble(number))))


@loop_over(
    ("scale", "decision", "message"),
    [
        (Scale.of_labels("a", "b", "c"), {}, "scores have an order, but the 3 labels of the scale do not"),
        (FIVE, {"thresholds": (1.0,)}, "a scale of 5 labels needs 4 `thresholds`, got 1"),
        (FIVE, {"probability": Probability.SCORE}, "`probability` is for two labels, not for levels"),
        (Scale.of_pairs(), {"thresholds": (0.0,)}, "`thresholds` are not for comparisons; use `margin`"),
        (Scale.of_pairs(), {"probability": Probability.SCORE}, "is not for comparisons; use `logistic`"),
        (
            Scale.of_pairs(tie="TIE"),
            {"probability": Probability.LOGISTIC},
            "two options without a tie and without a margin",
        ),
        (YES_NO, {"margin": 1.0}, "`margin` is for comparisons only; use `thresholds`"),
    ],
)
def test_a_decision_that_the_scale_cannot_take_is_refused(scale, decision, message):
    with pytest.raises(JrhError, match=message) as error:
        decided(scale, 0.0, **decision)
    assert str(error.value).startswith("judge 'rm', task '")


@loop_over("thresholds", [(1.0, 0.0), (1.0, 1.0), (math.nan,), (math.inf,)])
def test_thresholds_rise(thresholds):
    with pytest.raises(JrhError, match="greater than the one before"):
        Decision(thresholds=thresholds)


@pytest.mark.parametrize(
    ("answer", "status", "score"),
    [
        ("0.5", Status.OK, 0.5),
        ('{"score": -2}', Status.OK, -2.0),
        *((text, Status.UNPARSABLE, None) for text in ("NaN", "Infinity", '"0.5"', "good", "[1, 2]", "")),
        ("null", Status.ABSTAINED, None),
    ],
)
def test_an_endpoint_answers_what_it_likes(scoring_server, answer, status, score):
    judge = build(jrh_reward.plugin, "score-http", options={"url": scoring_server})
    task = sample_task()
    question = sample_question(task, sample_items(task)[0])
    question = type(question)(trial_id="1", task=task, fields={**question.fields, "request": f"answer:{answer}"})

    async def asked():
        try:
            return await judge.judge(question)
        finally:
            await judge.aclose()

    verdict = asyncio.run(asked()).verdict
    assert (verdict.status, verdict.score) == (status, score), json.dumps(answer)


def test_every_option_is_scored_alone(tmp_path):
    (tmp_path / "rm.py").write_text(
        "seen = []\ndef score(question):\n    seen.append(question)\n    return len(question['fields']['response'])\n"
    )
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs())
    judge = build(jrh_reward.plugin, "score-function", options={"function": "rm.py:score"}, task=task, base=tmp_path)
    item = sample_items(task)[0]
    judgement = asyncio.run(judge.judge(sample_question(task, item)))
    lengths = [len(item.fields[name]) for name in ("response_a", "response_b")]

    assert judgement.verdict.score == lengths[0] - lengths[1]
    assert judgement.reply.attempts == 2
