"""Three responses or more: another order gives exactly the other order of the answer."""

from __future__ import annotations

from itertools import permutations

import pytest
from jrh import Mode, Question, Scale, Status, Task
from jrh.values import Example
from jrh_baseline.judge import Baseline
from jrh_baseline.options import BaselineOptions

GOOD = ["The Seine flows through Paris.", "Two and two is four.", "The sky scatters blue light.", "Water boils hot."]
FAIR = ["A river, perhaps!", "Some number, perhaps!", "Some colour, perhaps!", "Some heat, perhaps!"]
BAD = ["I do not know!!", "who cares!! not me!!", "no idea!!", "whatever!!"]
FIELDS = ("response_a", "response_b", "response_c")
ASKED = ("Ice melts in the sun.", "Some ice, perhaps!", "no clue!!")


def trained(*, tie: str | None = None, golds: str = "ABCA", **options):
    task = Task(name="t", scale=Scale.of_pairs(tie=tie, options=3), mode=Mode.PAIRWISE)
    examples = []
    for gold, good, *others in zip(golds, GOOD, FAIR, BAD, strict=True):
        texts = others.copy()
        texts.insert("ABC".index(gold), good)
        examples.append(Example(fields=dict(zip(FIELDS, texts, strict=True)), gold=gold, group=good))
    judge = Baseline(options=BaselineOptions(**options), task=task).fit(examples)

    def ask(*texts: str):
        question = Question(trial_id="1", task=task, fields={"request": "?", **dict(zip(FIELDS, texts, strict=True))})
        return judge.judge_batch([question])[0].verdict

    return ask


@pytest.mark.parametrize("golds", ["ABCA", "AAAA", "CCCC"])
def test_the_best_of_three_is_learnt_wherever_it_was_shown(golds):
    ask = trained(golds=golds)
    for texts in permutations(ASKED):
        assert ask(*texts).presented == "ABC"[texts.index(ASKED[0])]


def test_another_order_gives_exactly_the_probabilities_in_that_order():
    ask = trained()
    shares = dict(zip(ASKED, ask(*ASKED).probabilities.values(), strict=True))
    assert sum(shares.values()) == pytest.approx(1.0, abs=2e-6)
    for texts in permutations(ASKED):
        assert list(ask(*texts).probabilities.values()) == [shares[text] for text in texts]


def test_the_scores_are_those_of_a_logistic_regression_on_the_preferred_minus_each_other():
    from jrh_baseline.training import Features, documents_of
    from sklearn.linear_model import LogisticRegression

    shown = [documents_of(dict(zip(FIELDS, texts, strict=True)), FIELDS) for texts in zip(GOOD, FAIR, BAD, strict=True)]
    features = Features.fit([each for documents in shown for each in documents], requests=False)
    rows = [features.transform(documents).toarray() for documents in shown]
    wins = [each[0] - each[other] for each in rows for other in (1, 2)]
    signs = [1] * len(wins) + [0] * len(wins)
    model = LogisticRegression(C=0.5, fit_intercept=False, max_iter=5000).fit([*wins, *(-win for win in wins)], signs)
    asked = features.transform(documents_of(dict(zip(FIELDS, ASKED, strict=True)), FIELDS)).toarray()
    shares = trained(golds="AAAA", regularisation=1.0)(*ASKED).probabilities
    odds = model.predict_proba(asked[:1] - asked[1:2])[0]
    assert shares["A"] / shares["B"] == pytest.approx(odds[1] / odds[0], rel=1e-3)


def test_two_that_are_best_are_a_tie_or_an_abstention():
    verdict = trained()(ASKED[0], ASKED[0], ASKED[2])
    assert verdict.status is Status.ABSTAINED
    assert verdict.detail == "baseline: the best responses have the same features"
    assert trained(tie="TIE")(ASKED[0], ASKED[0], ASKED[2]).presented == "TIE"
    assert trained(tie="TIE", tie_margin=0.0)(*ASKED).presented == "A"


@pytest.mark.parametrize(
    ("golds", "last", "reason"),
    [
        (["TIE", "TIE", "A", "B", "C"], "two", "3 training examples have a preference; needs at least 4"),
        (["A", "B", "C", "B"], "one", "the responses are the same in all 4 training examples"),
    ],
)
def test_comparisons_that_teach_nothing_are_an_abstention_that_says_why(golds, last, reason):
    task = Task(name="t", scale=Scale.of_pairs(tie="TIE", options=3), mode=Mode.PAIRWISE)
    fields = dict(zip(FIELDS, ("one", "one", last), strict=True))
    judge = Baseline(options=BaselineOptions(), task=task).fit(
        [Example(fields=fields, gold=g, group="") for g in golds]
    )
    verdict = judge.judge_batch([Question(trial_id="1", task=task, fields=fields)])[0].verdict
    assert verdict.detail == f"baseline: {reason}"
