"""The shipped data: balanced, distinct, and not to be guessed from lengths, order or position."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise, product
from statistics import mean

import jrh_sources.plugin
import pytest
from jrh import JrhError, Mode, Scale, Task
from jrh_testing import build, find_spec, loop_over

TASKS = {
    "factual": Task(name="factual", scale=Scale.of_labels("YES", "NO")),
    "coherence": Task(name="coherence", scale=Scale.of_levels(1, 5)),
    "relevance": Task(name="relevance", scale=Scale.of_pairs(), mode=Mode.PAIRWISE),
    "preference": Task(name="preference", scale=Scale.of_pairs(), mode=Mode.PAIRWISE),
}
PAIRED = ("relevance", "preference")


def load(dataset):
    return build(jrh_sources.plugin, "examples", options={"dataset": dataset}, task=TASKS[dataset]).read()


def other(label):
    return "B" if label == "A" else "A"


def option(item, label):
    return item.fields[f"response_{label.lower()}"]


def concordance(values, labels):
    """Return how often the higher label has the higher value: 0.5 where the value tells nothing."""
    pairs = [pair for pair in combinations(zip(labels, values, strict=True), 2) if pair[0][0] != pair[1][0]]
    return mean(0.5 if x == y else float((a > b) == (x > y)) for (a, x), (b, y) in pairs)


def sentences(text):
    return len(re.findall(r"[.!?](?:\s|$)", text))


@loop_over("dataset", TASKS)
def test_thirty_items_with_balanced_labels_within_every_stratum(dataset):
    items = load(dataset)
    labels = TASKS[dataset].scale.labels
    assert len(items) == 30
    strata = {item.stratum for item in items}
    cells = Counter((item.stratum, item.gold) for item in items)
    assert set(cells) == set(product(strata, labels))
    assert len(set(cells.values())) == 1


@loop_over("dataset", TASKS)
def test_every_item_is_distinct_and_says_why(dataset):
    items = load(dataset)
    texts = [text for item in items for name, text in item.fields.items() if name != "request"]
    assert len({item.id for item in items}) == 30
    assert len({item.fields["request"] for item in items}) == 30
    assert len(set(texts)) == len(texts)
    assert all(item.metadata["why"].strip() and "\n" not in item.metadata["why"] for item in items)
    assert {tuple(item.metadata) for item in items} == {("stratum", "why")}


def test_no_two_items_of_all_four_sets_share_most_of_their_words():
    words = [
        (item.id, set(re.findall(r"\w+", " ".join(item.fields.values()).lower())))
        for dataset in TASKS
        for item in load(dataset)
    ]
    close = [(a, b) for (a, one), (b, two) in combinations(words, 2) if len(one & two) / len(one | two) > 0.6]
    assert close == []


@loop_over("dataset", TASKS)
def test_neither_id_nor_position_tells_the_label(dataset):
    items = load(dataset)
    assert [item.id for item in items] == [f"{dataset}-{number:02}" for number in range(1, 31)]
    ranks = [TASKS[dataset].scale.rank(item.gold) for item in items]
    assert 0.35 < concordance(range(30), ranks) < 0.65
    assert 8 < sum(one != two for one, two in pairwise(ranks)) < 29


@pytest.mark.parametrize("dataset", ["factual", "coherence"])
def test_length_does_not_tell_the_label_of_a_single_response(dataset):
    items = load(dataset)
    ranks = [TASKS[dataset].scale.rank(item.gold) for item in items]
    for measure in (len, lambda text: len(text.split()), sentences):
        values = [measure(item.fields["response"]) for item in items]
        assert 0.38 < concordance(values, ranks) < 0.62
        by_label = [mean(v for v, r in zip(values, ranks, strict=True) if r == rank) for rank in sorted(set(ranks))]
        assert max(by_label) / min(by_label) < 1.12


@pytest.mark.parametrize("dataset", PAIRED)
def test_the_longer_option_is_gold_in_half_of_the_items_in_both_orders(dataset):
    items = load(dataset)
    longer = Counter((item.gold, len(option(item, item.gold)) > len(option(item, other(item.gold)))) for item in items)
    assert sorted(longer.values()) == [7, 7, 8, 8]


@pytest.mark.parametrize("dataset", PAIRED)
def test_gold_and_other_options_are_equally_long_on_average(dataset):
    items = load(dataset)
    gold = mean(len(option(item, item.gold)) for item in items)
    rest = mean(len(option(item, other(item.gold))) for item in items)
    assert abs(gold - rest) / rest < 0.1
    for name in ("response_a", "response_b"):
        lengths = {label: mean(len(item.fields[name]) for item in items if item.gold == label) for label in "AB"}
        assert abs(lengths["A"] - lengths["B"]) / max(lengths.values()) < 0.2


def test_coherence_paragraphs_have_four_to_seven_sentences():
    assert {sentences(item.fields["response"]) for item in load("coherence")} <= {4, 5, 6, 7}


def test_a_scale_that_does_not_fit_the_dataset_is_an_error():
    source = build(jrh_sources.plugin, "examples", options={"dataset": "factual"}, task=TASKS["coherence"])
    with pytest.raises(JrhError, match=r"factual\.jsonl:\d+: label 'YES' is not on the scale 1, 2, 3, 4, 5"):
        source.read()


def test_an_unknown_dataset_is_an_error():
    with pytest.raises(JrhError, match="dataset"):
        build(jrh_sources.plugin, "examples", options={"dataset": "facts"})


def test_the_starter_names_a_dataset_that_its_task_fits():
    starter = find_spec(jrh_sources.plugin, "examples").starter
    assert "dataset: factual" in starter
    assert 'labels: ["YES", "NO"]' in starter
