"""What the judge learns, what it says of its certainty, and when it abstains."""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist

import jrh_baseline.plugin
import pytest
from attrs import evolve
from jrh import JrhError, Mode, Scale, Status
from jrh_testing import build

LEVELS = Scale.of_levels(1, 5)
GOOD = [f"The answer {word} is correct and explained." for word in ("one", "two", "six", "ten", "red", "big")]
BAD = [f"No idea, maybe {word}, whatever." for word in ("one", "two", "six", "ten", "red", "big")]
JUDGED = Mode.POINTWISE.judged_fields


def test_labels_are_learnt_from_words(bench):
    judge = bench()
    ask = judge.learn([judge.example("YES", text) for text in GOOD] + [judge.example("NO", text) for text in BAD])
    yes, no = ask("The answer blue is correct and explained."), ask("No idea, maybe blue, whatever.")
    assert (yes.verdict.presented, no.verdict.presented) == ("YES", "NO")
    assert yes.verdict.probabilities["YES"] > 0.7
    assert sum(yes.verdict.probabilities.values()) == pytest.approx(1, abs=1e-5)


def test_levels_are_learnt_from_length(bench):
    judge = bench(scale=LEVELS)
    essay = "Trees give shade and air to all who live near them. "
    ask = judge.learn([judge.example(str(level), essay * (4 ** (level - 1))) for level in range(1, 6)] * 3)
    assert [ask(essay * (4**power)).verdict.presented for power in range(5)] == ["1", "2", "3", "4", "5"]


def test_the_request_matters_through_the_words_it_shares_with_the_response(bench):
    judge = bench()
    topics = ["cats sleep much", "rivers flow down", "stars shine far", "bread tastes good"]
    on_topic = [judge.example("YES", topic, request=topic) for topic in topics]
    off_topic = [judge.example("NO", topic, request="zebra quilt") for topic in topics]
    ask = judge.learn(on_topic + off_topic)
    assert ask("stars shine far", request="stars shine far").verdict.presented == "YES"
    assert ask("stars shine far", request="zebra quilt").verdict.presented == "NO"


@pytest.mark.parametrize(("balanced", "share"), [(True, 0.5), (False, 0.75)])
def test_without_any_signal_labels_get_their_base_rate_or_even_shares(bench, balanced, share):
    judge = bench(balanced=balanced)
    ask = judge.learn([judge.example(gold, "the same text") for gold in ["YES", "YES", "YES", "NO"]])
    assert ask("the same text").verdict.probabilities["YES"] == pytest.approx(share, abs=1e-3)


def test_without_any_signal_levels_get_the_normal_distribution_around_their_mean(bench):
    judge = bench(scale=LEVELS)
    golds = ["1", "2", "2", "3", "4"]
    # Five examples, five folds: each is predicted by the mean of the other four.
    ranks = [int(gold) - 1 for gold in golds]
    errors = [rank - (sum(ranks) - rank) / 4 for rank in ranks]
    spread = NormalDist(sum(ranks) / 5, (sum(error**2 for error in errors) / 5) ** 0.5)
    verdict = judge.learn([judge.example(gold, "same") for gold in golds])("same").verdict
    cuts = [0.0, spread.cdf(0.5), spread.cdf(1.5), spread.cdf(2.5), 1.0]
    assert verdict.presented == "2"
    assert list(verdict.probabilities) == ["1", "2", "3", "4"]
    assert list(verdict.probabilities.values()) == pytest.approx([high - low for low, high in pairwise(cuts)], abs=1e-5)


def test_levels_outside_the_range_of_training_are_not_predicted(bench):
    judge = bench(scale=LEVELS, regularisation=0.01)
    short, long = "Short text here.", "Long text here, " * 40
    ask = judge.learn([judge.example("2", short), judge.example("4", long)] * 3)
    assert ask(long * 100).verdict.presented == "4"
    assert ask("").verdict.presented in {"2", "3", "4"}


@pytest.mark.parametrize(
    ("golds", "reason"),
    [
        (["YES", "NO", "YES"], "3 labelled examples outside the fold; needs at least 4"),
        ([], "0 labelled examples outside the fold; needs at least 4"),
        (["NO"] * 6, "all 6 training examples have the label 'NO'"),
    ],
)
def test_a_judge_that_cannot_be_trained_abstains_and_says_why(bench, golds, reason):
    judge = bench()
    verdict = judge.learn([judge.example(gold, f"text {place}") for place, gold in enumerate(golds)])("text").verdict
    assert (verdict.status, verdict.presented) == (Status.ABSTAINED, None)
    assert verdict.detail == f"baseline: {reason}"


def test_equal_levels_in_training_are_an_abstention_too(bench):
    judge = bench(scale=LEVELS)
    verdict = judge.learn([judge.example("3", f"text {place}") for place in range(6)])("text").verdict
    assert verdict.detail == "baseline: all 6 training examples have the level '3'"


def test_a_question_with_another_scale_is_not_answered(bench):
    judge = bench(scale=LEVELS)
    ask = judge.learn([judge.example(gold, f"text {gold}") for gold in "12345"])
    wider = evolve(judge.judge.task, scale=Scale.of_levels(1, 10))
    verdict = ask("text", task=wider).verdict
    assert verdict.status is Status.ABSTAINED
    assert "scale differs" in verdict.detail


def test_rationales_name_the_model_and_the_reply_is_known_to_be_free(bench):
    judge = bench(scale=LEVELS)
    judgement = judge.learn([judge.example(gold, f"text {gold}") for gold in "12345"])("text")
    assert judgement.verdict.rationale == "baseline: TF-IDF + style statistics, ridge regression on levels"
    assert judgement.reply.cost == 0.0


def test_training_anew_forgets_the_former_examples(bench):
    judge = bench()
    first = [judge.example("YES", text) for text in GOOD] + [judge.example("NO", text) for text in BAD]
    second = [evolve(example, gold="NO" if example.gold == "YES" else "YES") for example in first]
    fresh = bench().learn(second)(GOOD[0])
    judge.learn(first)
    assert judge.learn(second)(GOOD[0]) == fresh
    assert fresh.verdict.presented == "NO"


def test_texts_without_a_single_word_can_be_learnt_from(bench):
    judge = bench()
    ask = judge.learn([judge.example("YES" if place % 2 else "NO", " " * place) for place in range(6)])
    assert ask("").verdict.status is Status.OK


def test_features_do_not_see_line_breaks_and_runs_of_spaces():
    from jrh_baseline.training import Features, documents_of

    features = Features.fit(documents_of({"response": GOOD[0]}, JUDGED), requests=True)
    rows = features.transform(
        [documents_of({"response": GOOD[0].replace(" ", space)}, JUDGED)[0] for space in (" ", "\n\n", "  \t")]
    ).toarray()
    assert (rows[1:] == rows[0]).all()
    assert rows[0].any()


def test_an_extreme_text_moves_a_statistic_four_deviations_at_most():
    from jrh_baseline.training import Features, documents_of

    texts = [{"response": text} for text in GOOD + BAD]
    features = Features.fit([each for fields in texts for each in documents_of(fields, JUDGED)], requests=True)
    row = features.transform(documents_of({"response": "word " * 50_000}, JUDGED))
    assert abs(row[:, -11:].toarray()).max() == 4.0


@pytest.mark.parametrize("options", [{"regularisation": 0}, {"tie_margin": 0.5}, {"min_examples": 1}])
def test_options_out_of_range_are_errors(options):
    with pytest.raises(JrhError, match=next(iter(options))):
        build(jrh_baseline.plugin, "baseline", options=options)
