"""The rule-made drafts: strengths, pairs, checks, and what holds for any text."""

import jrh_paraphrase.plugin
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, Item, JrhError, Mode, Same, Skip, Validation
from jrh_testing import build, loop_over, sample_task

TEXT = "They do not know everyone. Furthermore, it is a pity. For example, I cannot come, and it has 3 parts."


@frozen
class Says:
    reason: str = ""

    async def validate(self, item, draft):
        return Validation(accepted=not self.reason, reason=self.reason)


@frozen
class Sets:
    async def validate_set(self, drafts):
        return []


def paraphrase(mode=Mode.POINTWISE, seed=0, check=None, **options):
    validators = {"jrh-validators/rules": check or Says()}
    return build(
        jrh_paraphrase.plugin,
        "paraphrase",
        options=options,
        task=sample_task(mode),
        seed=seed,
        validators=validators,
    )


def item(text):
    return Item(id="1", fields={"request": "?", "response": text})


async def test_at_full_strength_every_swap_is_made_and_listed():
    (draft,) = await paraphrase().perturb(item(TEXT))
    assert draft.fields == {
        "response": "They don't know everybody. Moreover, it's a pity. "
        "For instance, I can't come, and it has three parts."
    }
    assert (draft.variant, draft.strength, draft.expectation, draft.model) == ("rules", 1.0, Same(), "")
    details = draft.details["fields"]["response"]
    assert details["places_possible"] == 7
    assert details["edits"][0] == {"at": 5, "from": "do not", "to": "don't", "kind": "contractions"}


async def test_a_stronger_draft_makes_the_swaps_of_the_weaker_and_more():
    drafts = await paraphrase(strengths=[0.3, 0.6, 1.0]).perturb(item(TEXT))
    made = [{edit["at"] for edit in draft.details["fields"]["response"]["edits"]} for draft in drafts]
    assert [len(edits) for edits in made] == [2, 4, 7]
    assert made[0] < made[1] < made[2]


async def test_strengths_that_give_the_same_text_are_drafted_once():
    outcomes = await paraphrase(strengths=[0.5, 1.0]).perturb(item("They do not."))
    assert isinstance(outcomes[0], Draft)
    assert outcomes[1] == Skip(reason="too few swaps: this strength would equal another", variant="rules")


async def test_the_seed_and_nothing_else_chooses():
    first = await paraphrase(strengths=[0.3]).perturb(item(TEXT))
    assert await paraphrase(strengths=[0.3]).perturb(item(TEXT)) == first
    others = [await paraphrase(strengths=[0.3], seed=seed).perturb(item(TEXT)) for seed in range(1, 6)]
    assert any(other != first for other in others)


async def test_of_a_pair_both_responses_change_where_they_can():
    made = paraphrase(Mode.PAIRWISE)
    both = Item(id="1", fields={"response_a": "I cannot.", "response_b": "We do not."})
    (draft,) = await made.perturb(both)
    assert draft.fields == {"response_a": "I can't.", "response_b": "We don't."}
    one = Item(id="1", fields={"response_a": "I cannot.", "response_b": "Yes."})
    (draft,) = await made.perturb(one)
    assert draft.fields == {"response_a": "I can't."}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("Paris.", "no phrase that a rule can safely swap"),
        (" \n", "field 'response' is empty"),
        (None, "field 'response' is not text"),
    ],
)
async def test_what_cannot_be_treated_is_skipped_with_the_reason(value, reason):
    (skip,) = await paraphrase().perturb(item(value))
    assert isinstance(skip, Skip)
    assert skip.reason == reason


async def test_a_text_that_a_check_rejects_is_a_skip_with_its_reason():
    (skip,) = await paraphrase(check=Says("the names changed")).perturb(item(TEXT))
    assert (skip.reason, skip.variant) == ("the names changed", "rules")


def test_a_check_that_needs_all_drafts_is_an_error():
    with pytest.raises(JrhError, match="needs all drafts at once"):
        paraphrase(check=Sets())


@loop_over(
    ("options", "message"),
    [
        ({"by": "model"}, "needs `model`"),
        ({"strengths": [0]}, "strengths"),
        ({"rewrites": []}, "rewrites"),
        ({"length_ratio": [1.2, 2.0]}, "length_ratio"),
        ({"attempts": 0}, "attempts"),
    ],
)
def test_options_that_make_no_sense_are_errors(options, message):
    with pytest.raises(JrhError, match=message):
        paraphrase(**options)


def test_the_family_is_not_for_transcripts():
    (spec,) = jrh_paraphrase.plugin.jrh_perturbers()
    assert spec.modes == {Mode.POINTWISE, Mode.PAIRWISE}


FRAGMENTS = "They do not| it's a| everyone|.| |\n| \u201c|\"|'| 3 parts|5%| in order to|`| only| Furthermore, |\u2019"
MORE = " I cannot| has| not| people| of|e\u0301|\u202e|שלום"
PIECES = st.sampled_from([*FRAGMENTS.split("|"), *MORE.split("|")])


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=14).map("".join)))
async def test_outside_the_listed_edits_not_a_character_changes(text):
    for outcome in await paraphrase(strengths=[0.4, 1.0]).perturb(item(text)):
        if isinstance(outcome, Draft):
            rebuilt, done = [], 0
            for edit in outcome.details["fields"]["response"]["edits"]:
                assert text[edit["at"] :].startswith(edit["from"])
                assert edit["at"] >= done
                rebuilt += [text[done : edit["at"]], edit["to"]]
                done = edit["at"] + len(edit["from"])
            assert "".join([*rebuilt, text[done:]]) == outcome.fields["response"] != text
