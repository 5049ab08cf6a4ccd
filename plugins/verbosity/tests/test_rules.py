"""The rule-made drafts: bounds, strengths, pairs, checks, and what holds for any text."""

import csv
from pathlib import Path

import jrh_verbosity.plugin
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, Item, JrhError, Mode, Same, Skip, Validation
from jrh_testing import build, loop_over, sample_task

ESSAYS = Path(__file__).parents[3].parent / "shared/data/persuade/essays.csv"
TEXT = (
    "It is very cold. In order to keep warm, they really need a fire, because it is winter. "
    "The old stove was actually sold. Every room was really cold."
)


@frozen
class Says:
    reason: str = ""

    async def validate(self, item, draft):
        return Validation(accepted=not self.reason, reason=self.reason)


def verbosity(mode=Mode.POINTWISE, seed=0, check=None, **options):
    return build(
        jrh_verbosity.plugin,
        "verbosity",
        options=options,
        task=sample_task(mode),
        seed=seed,
        validators={"jrh-validators/facts-kept": check or Says()},
    )


def item(text):
    return Item(id="1", fields={"request": "?", "response": text})


async def test_both_variants_are_drafted_with_what_was_done_and_the_length_achieved():
    short, long = await verbosity().perturb(item(TEXT))
    assert short.fields == {
        "response": "It is cold. To keep warm, they need a fire, because it is winter. "
        "The old stove was sold. Every room was cold."
    }
    assert (short.variant, short.strength, short.expectation, short.model) == ("short", 1.0, Same(), "")
    details = short.details["fields"]["response"]
    assert details["places_possible"] == 5
    assert details["edits"][1] == {"at": 17, "from": "In order to", "to": "To", "kind": "phrase"}
    assert details["length_ratio"] == round(23 / 29, 4)
    assert long.variant == "long"
    assert 1.05 <= long.details["fields"]["response"]["length_ratio"] <= 1.6
    assert long.details["by"] == "rules"


async def test_too_much_is_taken_back_until_the_bounds_hold():
    (free,) = await verbosity(variants=["long"], long_ratio=[1.01, 9]).perturb(item(TEXT))
    (bound,) = await verbosity(variants=["long"], long_ratio=[1.01, 1.4]).perturb(item(TEXT))
    made = [draft.details["fields"]["response"] for draft in (free, bound)]
    assert made[0]["length_ratio"] > 1.4 >= made[1]["length_ratio"] > 1.01
    assert {edit["at"] for edit in made[1]["edits"]} < {edit["at"] for edit in made[0]["edits"]}


@loop_over(
    ("options", "text", "reason"),
    [
        ({"variants": ["short"], "short_ratio": [0.1, 0.5]}, TEXT, "not short enough"),
        ({"variants": ["short"], "short_ratio": [0.98, 0.99]}, "Basically, in order to win.", "shorter than allowed"),
        ({"variants": ["long"], "long_ratio": [8, 9]}, TEXT, "not long enough"),
        ({"variants": ["long"], "long_ratio": [1.01, 1.02]}, "It is so.", "longer than allowed"),
        ({"variants": ["short"]}, "Paris.", "no word that a rule can safely drop"),
        ({"variants": ["long"]}, "Paris", "no sentence that a rule can safely lengthen"),
        ({"variants": ["long"]}, " ", "field 'response' is empty"),
        ({"variants": ["long"]}, 7, "field 'response' is not text"),
    ],
)
async def test_what_cannot_be_brought_to_length_is_skipped_with_the_reason(options, text, reason):
    (skip,) = await verbosity(**options).perturb(item(text))
    assert isinstance(skip, Skip)
    assert skip.reason == reason


async def test_a_stronger_draft_changes_what_the_weaker_changes_and_more():
    drafts = await verbosity(variants=["short"], strengths=[0.4, 1.0]).perturb(item(TEXT))
    made = [{edit["at"] for edit in draft.details["fields"]["response"]["edits"]} for draft in drafts]
    assert [len(edits) for edits in made] == [2, 5]
    assert made[0] < made[1]


async def test_of_a_pair_all_chosen_responses_change_or_none():
    pair = Item(id="1", fields={"response_a": "It is very cold.", "response_b": "Paris"})
    assert [type(outcome) for outcome in await verbosity(Mode.PAIRWISE).perturb(pair)] == [Skip, Skip]
    short, long = await verbosity(Mode.PAIRWISE, fields="first", long_ratio=[1.1, 9]).perturb(pair)
    assert short.fields == {"response_a": "It is cold."}
    assert set(long.fields) == {"response_a"}
    (skip, _) = await verbosity(Mode.PAIRWISE, fields="second").perturb(pair)
    assert isinstance(skip, Skip)


async def test_a_text_that_a_check_rejects_is_a_skip_with_its_reason():
    outcomes = await verbosity(check=Says("the names changed")).perturb(item(TEXT))
    assert [(skip.reason, skip.variant) for skip in outcomes] == [
        ("the names changed", "short"),
        ("the names changed", "long"),
    ]


@loop_over(
    ("options", "message"),
    [
        ({"by": "model"}, "needs `model`"),
        ({"fields": "first"}, "chooses one response of a pair"),
        ({"short_ratio": [0.5, 1.1]}, "short_ratio"),
        ({"long_ratio": [0.9, 1.5]}, "long_ratio"),
        ({"variants": []}, "variants"),
        ({"strengths": [2]}, "strengths"),
    ],
)
def test_options_that_make_no_sense_are_errors(options, message):
    with pytest.raises(JrhError, match=message):
        verbosity(**options)


@pytest.mark.skipif(not ESSAYS.is_file(), reason="the PERSUADE essays are not here (../shared/data/persuade)")
async def test_every_essay_can_be_lengthened_and_some_can_be_shortened():
    made = verbosity()
    with ESSAYS.open(encoding="utf-8", newline="") as lines:
        outcomes = [await made.perturb(item(row["full_text"])) for row in csv.DictReader(lines)]
    assert all(isinstance(long, Draft) for _, long in outcomes)
    assert sum(isinstance(short, Draft) for short, _ in outcomes) >= 10


FRAGMENTS = "It is very cold. |The big dog was here. |Basically, |very |a |I think that |it |. |\n| \u201c|\"|'|- "
MORE = "because | not| every|e\u0301|\u202e|שלום. |n't|`|!|?|etc. | In order to |that |you "
PIECES = st.sampled_from([*FRAGMENTS.split("|"), *MORE.split("|")])


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join)))
async def test_outside_the_listed_edits_not_a_character_changes_and_the_length_is_as_stated(text):
    made = verbosity(strengths=[0.4, 1.0], short_ratio=[0.1, 0.99], long_ratio=[1.01, 9])
    for outcome in await made.perturb(item(text)):
        if isinstance(outcome, Draft):
            details = outcome.details["fields"]["response"]
            rebuilt, done = [], 0
            for edit in details["edits"]:
                assert text[edit["at"] :].startswith(edit["from"])
                assert edit["at"] >= done
                rebuilt += [text[done : edit["at"]], edit["to"]]
                done = edit["at"] + len(edit["from"])
            new = outcome.fields["response"]
            assert "".join([*rebuilt, text[done:]]) == new
            assert (len(new) < len(text)) == (outcome.variant == "short")
            assert (details["length_ratio"] < 1) == (outcome.variant == "short")
