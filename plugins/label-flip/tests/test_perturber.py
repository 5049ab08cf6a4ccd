"""What is drafted for which item, and what is expected of a judge."""

import csv
import json
from collections import Counter
from pathlib import Path

import jrh_label_flip.plugin
import pytest
from jrh import Draft, Equals, Item, JrhError, Mode, NotAbove, Scale, Skip, Task
from jrh_label_flip.passages import Passage
from jrh_testing import build, loop_over

ESSAYS = Path(__file__).parents[3].parent / "shared/data/persuade/essays.csv"
FACTUAL = Path(__file__).parents[2] / "sources/src/jrh_sources/data/factual.jsonl"

FACTS = Task(name="facts", scale=Scale.of_labels("YES", "NO"))
LEVELS = Task(name="levels", scale=Scale.of_levels(1, 6))
PAIRS = Task(name="pairs", scale=Scale.of_pairs(tie="TIE"), mode=Mode.PAIRWISE)
MOON = "The Moon is smaller than the Earth. They are round because of it."


def perturber(task=FACTS, **options):
    return build(jrh_label_flip.plugin, "label-flip", options=options, task=task)


def item(gold, text=MOON, **fields):
    return Item(id="1", fields={"request": "?", "response": text, **fields}, gold=gold)


async def test_an_error_in_a_right_answer_makes_the_other_label_right():
    (draft,) = await perturber(variants=["negation"]).perturb(item("YES"))
    assert draft.fields == {"response": "The Moon is not smaller than the Earth. They are round because of it."}
    assert draft.expectation == Equals(label="NO")
    assert draft.strength == 1.0
    assert draft.details["edits"] == [{"at": 9, "old": "is", "new": "is not"}]
    assert draft.model == ""


async def test_an_answer_that_is_wrong_already_is_no_case():
    assert await perturber().perturb(item("NO")) == [
        Skip(reason="the response is wrong already; an error cannot make it right")
    ]
    assert await perturber().perturb(item(None)) == [Skip(reason="the item has no gold label")]


async def test_the_positive_label_can_be_the_second():
    scale = Task(name="faults", scale=Scale.of_labels("has-faults", "fine"))
    (draft,) = await perturber(scale, variants=["negation"], positive="fine").perturb(item("fine"))
    assert draft.expectation == Equals(label="has-faults")


async def test_errors_of_form_and_order_flip_no_label():
    assert await perturber(variants=["spelling", "sequence"]).perturb(item("YES")) == [
        Skip(reason="this error does not make a right response wrong")
    ]
    assert "spelling" not in {outcome.variant for outcome in await perturber().perturb(item("YES"))}


async def test_more_labels_need_a_target():
    three = Task(name="three", scale=Scale.of_labels("right", "partly", "wrong"))
    with pytest.raises(JrhError, match=r"3 labels.*`target`.*right, partly, wrong"):
        perturber(three)
    (draft,) = await perturber(three, target="wrong", variants=["spelling"]).perturb(item("right"))
    assert draft.expectation == Equals(label="wrong")
    (skip,) = await perturber(three, target="wrong", variants=["spelling"]).perturb(item("wrong"))
    assert skip.reason == "the response already has the target label"


async def test_on_levels_an_error_may_not_raise_the_verdict():
    outcomes = await perturber(LEVELS, variants=["spelling", "negation"]).perturb(item("6"))
    assert [(outcome.variant, outcome.expectation) for outcome in outcomes] == [
        ("spelling", NotAbove()),
        ("negation", NotAbove()),
    ]


@pytest.mark.parametrize(
    ("gold", "drafted"), [("3", ["spelling"]), ("4", ["spelling", "negation"]), (None, ["spelling"])]
)
async def test_what_a_poor_response_says_is_not_touched_since_a_change_may_improve_it(gold, drafted):
    outcomes = await perturber(LEVELS, variants=["spelling", "negation"]).perturb(item(gold))
    assert [outcome.variant for outcome in outcomes if isinstance(outcome, Draft)] == drafted


async def test_of_a_pair_the_worse_response_is_damaged_and_the_better_one_has_to_win_all_the_more():
    pair = item("B", response_a=MOON, response_b="It is.")
    (draft,) = await perturber(PAIRS, variants=["grammar"]).perturb(pair)
    assert draft.fields == {"response_a": MOON.replace("They are", "They is")}
    assert draft.expectation == Equals(label="B")
    (skip,) = await perturber(PAIRS, variants=["negation"]).perturb(pair)
    assert skip.reason == "this error could improve the other response of the pair"


async def test_an_error_breaks_a_tie():
    pair = item("TIE", response_a="It is.", response_b=MOON)
    (draft,) = await perturber(PAIRS, variants=["grammar"]).perturb(pair)
    assert list(draft.fields) == ["response_b"]
    assert draft.expectation == Equals(label="A")


@loop_over(
    ("task", "options", "message"),
    [
        (FACTS, {"variants": ["assumption"]}, "no rule makes assumption; name a `model`"),
        (FACTS, {"by": "model"}, "`by: model` needs `model`"),
        (FACTS, {"target": "MAYBE"}, "`target: MAYBE` is not on the scale YES, NO"),
        (FACTS, {"positive": "yes"}, "`positive: yes` is not on the scale YES, NO"),
        (PAIRS, {"damage": "preferred"}, "rules cannot ensure"),
        (PAIRS, {"target": "A"}, "leave it out"),
        (LEVELS, {"target": "1"}, "rules cannot reach a level"),
        (FACTS, {"errors": [1, 1]}, "repeated value"),
        (FACTS, {"errors": [0]}, "errors"),
    ],
)
def test_options_that_do_not_fit_are_said_before_anything_is_made(task, options, message):
    with pytest.raises(JrhError, match=message):
        perturber(task, **options)


async def test_more_errors_keep_those_of_fewer():
    text = " ".join(f"The {name} is red." for name in ("cat", "dog", "cow", "hen", "fox"))
    one, three, nine = await perturber(variants=["negation"], errors=[1, 3, 9]).perturb(item("YES", text))
    assert isinstance(nine, Skip)
    assert nine.reason == "too few places for 9 errors 'negation'"
    assert one.strength == 1.0
    assert three.strength == 3.0
    assert three.fields["response"].count("is not red") == 3
    assert one.details["edits"][0]["new"] == "is not"
    assert {edit["at"] for edit in one.details["edits"]} < {edit["at"] for edit in three.details["edits"]}


async def test_other_languages_are_not_touched():
    (skip,) = await perturber().perturb(item("YES", "Der Mond ist kleiner als die Erde. Das war in Berlin."))
    assert skip.reason == "the response is not English; the rules need English"
    (skip,) = await perturber().perturb(Item(id="1", fields={"request": "?", "response": None}, gold="YES"))
    assert skip.reason == "field 'response' is not text"


def test_every_shipped_response_is_read_as_english():
    # 20 of these 180 texts have too few function words, which decided before.
    texts = []
    for file in sorted(FACTUAL.parent.glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            texts += [(row[key], row["request"]) for key in ("response", "response_a", "response_b") if key in row]
    assert len(texts) == 180
    assert not [text for text, request in texts if not Passage(text=text, request=request).english]


async def test_most_right_answers_of_the_shipped_facts_can_be_flipped():
    flipped = set()
    right = set()
    with FACTUAL.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        fact = Item(id=row["id"], fields={key: row[key] for key in ("request", "response")}, gold=row["label"])
        drafts = [outcome for outcome in await perturber().perturb(fact) if isinstance(outcome, Draft)]
        assert not (drafts and row["label"] == "NO")
        right |= {row["id"]} if row["label"] == "YES" else set()
        flipped |= {row["id"]} if drafts else set()
    assert flipped <= right
    assert len(flipped) >= 0.7 * len(right)


@pytest.mark.skipif(not ESSAYS.is_file(), reason="the PERSUADE essays are not here (../shared/data/persuade)")
async def test_every_essay_gets_an_error_of_form_and_good_ones_get_others():
    drafted: Counter[str] = Counter()
    made = perturber(LEVELS)
    with ESSAYS.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            essay = Item(
                id=row["essay_id"],
                fields={"request": row["assignment"], "response": row["full_text"]},
                gold=row["holistic_essay_score"],
            )
            drafted.update(outcome.variant for outcome in await made.perturb(essay) if isinstance(outcome, Draft))
    assert drafted["spelling"] == 60
    assert drafted["grammar"] >= 25
    assert drafted["negation"] >= 5
    assert drafted["removed-fact"] >= 10
