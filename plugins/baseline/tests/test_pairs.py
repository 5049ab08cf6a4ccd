"""Pairs: swapped responses give exactly the swapped answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Mode, Question, Scale, Status, Task
from jrh.values import Example
from jrh_baseline.judge import Baseline
from jrh_baseline.options import BaselineOptions

GOOD = ["The Seine flows through Paris.", "Two and two is four.", "The sky scatters blue light.", "Water boils hot."]
BAD = ["I do not know!!", "who cares!! not me!!", "no idea!!", "whatever!!"]
MIRROR = {"A": "B", "B": "A", "TIE": "TIE", None: None}


def example(gold: str, good: str, bad: str) -> Example:
    first, second = (good, bad) if gold == "A" else (bad, good)
    return Example(fields={"request": "?", "response_a": first, "response_b": second}, gold=gold, group="")


def trained(*, tie: str | None = None, golds: str = "ABAB", **options):
    task = Task(name="t", scale=Scale.of_pairs(tie=tie), mode=Mode.PAIRWISE)
    examples = [example(gold, good, bad) for gold, good, bad in zip(golds, GOOD, BAD, strict=True)]
    judge = Baseline(options=BaselineOptions(**options), task=task).fit(examples)

    def ask(first: str, second: str):
        fields = {"request": "?", "response_a": first, "response_b": second}
        return judge.judge_batch([Question(trial_id="1", task=task, fields=fields)])[0].verdict

    return ask


WITHOUT_TIE = trained()
WITH_TIE = trained(tie="TIE", tie_margin=0.1)
TEXTS = st.one_of(st.text(max_size=60), st.sampled_from(GOOD + BAD))


@settings(max_examples=60, deadline=None)
@given(first=TEXTS, second=TEXTS)
@pytest.mark.slow
def test_swapped_responses_give_exactly_the_swapped_answer(first, second):
    for ask in (WITHOUT_TIE, WITH_TIE):
        straight, swapped = ask(first, second), ask(second, first)
        assert swapped.status is straight.status
        assert swapped.presented == MIRROR[straight.presented]
        assert swapped.probabilities == {MIRROR[label]: p for label, p in straight.probabilities.items()}


def test_preferences_are_learnt_whichever_side_they_were_shown_on():
    for golds in ("ABAB", "AAAA", "BBBB"):
        ask = trained(golds=golds)
        assert ask("Ice melts in the sun.", "no clue!!").presented == "A"
        assert ask("no clue!!", "Ice melts in the sun.").presented == "B"


def test_the_side_of_the_preferred_response_in_training_does_not_matter():
    one, other = trained(golds="AAAA")(GOOD[0], BAD[0]), trained(golds="ABBA")(GOOD[0], BAD[0])
    assert one.probabilities["A"] == pytest.approx(other.probabilities["A"], abs=1e-4)


def test_equal_responses_are_a_tie_or_an_abstention():
    assert WITH_TIE("same", "same").presented == "TIE"
    verdict = WITHOUT_TIE("same", "same")
    assert verdict.status is Status.ABSTAINED
    assert verdict.detail == "baseline: the two responses have the same features"


def test_a_tie_is_called_within_the_margin_only():
    probability = WITH_TIE(GOOD[0], BAD[0]).probabilities["A"]
    margin = abs(probability - 0.5)
    assert trained(tie="TIE", tie_margin=margin + 0.001)(GOOD[0], BAD[0]).presented == "TIE"
    assert trained(tie="TIE", tie_margin=margin - 0.001)(GOOD[0], BAD[0]).presented == "A"


@pytest.mark.parametrize(
    ("golds", "second", "reason"),
    [
        (["TIE", "TIE", "TIE", "A", "B", "A"], "two", "3 training pairs have a preference; needs at least 4"),
        (["A", "B", "A", "B"], "one", "the two responses are the same in all 4 training pairs"),
    ],
)
def test_pairs_that_teach_nothing_are_an_abstention_that_says_why(golds, second, reason):
    task = Task(name="t", scale=Scale.of_pairs(tie="TIE"), mode=Mode.PAIRWISE)
    fields = {"response_a": "one", "response_b": second}
    examples = [Example(fields=fields, gold=gold, group="") for gold in golds]
    judge = Baseline(options=BaselineOptions(), task=task).fit(examples)
    verdict = judge.judge_batch([Question(trial_id="1", task=task, fields=fields)])[0].verdict
    assert verdict.detail == f"baseline: {reason}"
