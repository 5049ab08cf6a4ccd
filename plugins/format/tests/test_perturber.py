import pytest
from jrh import Draft, Item, JrhError, Mode, Same, Skip, derive_seed
from jrh_authoring import ChangedFields
from jrh_format.options import FormatOptions, Layout
from jrh_format.perturber import FormatPerturber
from jrh_testing import loop_over, sample_task

TEXT = "One is here. Two is there. Three is gone.\n\nFour came back. Five stayed."


def perturber(mode=Mode.POINTWISE, seed=0, **options):
    return FormatPerturber.of(FormatOptions(**options), sample_task(mode), lambda *parts: derive_seed(seed, *parts))


def response(text, item_id="1"):
    return Item(id=item_id, fields={"request": "?", "response": text})


def pair(first, second):
    return Item(id="1", fields={"request": "?", "response_a": first, "response_b": second})


async def test_by_default_every_layout_is_tried_at_full_strength():
    outcomes = await perturber().perturb(response(TEXT))
    assert [outcome.variant for outcome in outcomes] == [layout.value for layout in Layout]
    drafts = [outcome for outcome in outcomes if isinstance(outcome, Draft)]
    assert {draft.variant for draft in drafts} == {layout.value for layout in Layout} - {"wrap"}
    assert all(draft.strength == 1.0 and draft.expectation == Same() for draft in drafts)
    assert all(set(draft.fields) == {"response"} and draft.fields["response"] != TEXT for draft in drafts)


async def test_the_details_count_the_places():
    (draft,) = await perturber(variants=(Layout.BLANK_LINES,), strengths=(0.5,)).perturb(response(TEXT))
    details = draft.details["response"]
    assert (details["places_changed"], details["places_possible"]) == (2, 4)
    assert draft.strength == 0.5


async def test_a_stronger_draft_changes_more_and_contains_the_weaker():
    strengths = (0.25, 0.5, 0.75, 1.0)
    drafts = await perturber(variants=(Layout.BULLETS,), strengths=strengths).perturb(response(TEXT))
    marked = [set(str(draft.fields["response"]).split("- ")[1:]) for draft in drafts]
    assert [draft.details["response"]["places_changed"] for draft in drafts] == [1, 3, 4, 5]
    assert [len(marks) for marks in marked] == [1, 3, 4, 5]


async def test_a_text_without_a_place_is_skipped_with_the_reason():
    outcomes = await perturber(variants=(Layout.BLANK_LINES, Layout.CRLF, Layout.BULLETS)).perturb(response("Paris."))
    assert outcomes[:2] == [
        Skip(reason="no sentence or paragraph end to put a blank line after", variant="blank-lines"),
        Skip(reason="no line break to change", variant="crlf"),
    ]
    assert outcomes[2].fields == {"response": "- Paris."}


async def test_strengths_that_come_to_the_same_text_are_made_once_under_the_closest_strength():
    outcomes = await perturber(variants=(Layout.CODE_FENCE,), strengths=(0.3, 0.6, 1.0)).perturb(response(TEXT))
    assert [type(outcome) for outcome in outcomes] == [Skip, Skip, Draft]
    assert outcomes[2].strength == 1.0
    assert outcomes[0].reason == "too few places: this strength would equal another"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "field 'response' is not text"),
        (["a"], "field 'response' is not text"),
        (" \n", "field 'response' is empty"),
    ],
)
async def test_what_is_not_text_is_skipped(value, reason):
    assert await perturber().perturb(Item(id="1", fields={"response": value})) == [Skip(reason=reason)]


async def test_a_transcript_that_is_not_text_is_skipped():
    item = Item(id="1", fields={"transcript": [{"role": "user", "content": "Hi"}]})
    assert await perturber(Mode.TRANSCRIPT).perturb(item) == [Skip(reason="field 'transcript' is not text")]


async def test_a_transcript_that_is_text_is_changed():
    item = Item(id="1", fields={"transcript": "User: hi.\nAgent: Hello."})
    (draft,) = await perturber(Mode.TRANSCRIPT, variants=(Layout.CRLF,)).perturb(item)
    assert draft.fields == {"transcript": "User: hi.\r\nAgent: Hello."}


async def test_both_responses_of_a_pair_change_by_default():
    (draft,) = await perturber(Mode.PAIRWISE, variants=(Layout.BULLETS,)).perturb(pair("Yes.", "No."))
    assert draft.fields == {"response_a": "- Yes.", "response_b": "- No."}


async def test_two_equal_responses_are_changed_at_places_of_their_own():
    made = perturber(Mode.PAIRWISE, variants=(Layout.SPACES,), strengths=(0.5,))
    (draft,) = await made.perturb(pair(TEXT, TEXT))
    assert draft.fields["response_a"] != draft.fields["response_b"]


@pytest.mark.parametrize(
    ("fields", "name"), [(ChangedFields.FIRST, "response_a"), (ChangedFields.SECOND, "response_b")]
)
async def test_one_response_of_a_pair_can_be_chosen(fields, name):
    (draft,) = await perturber(Mode.PAIRWISE, variants=(Layout.BULLETS,), fields=fields).perturb(pair("Yes.", "Yes."))
    assert draft.fields == {name: "- Yes."}


async def test_a_pair_is_skipped_where_only_one_response_could_change():
    (skip,) = await perturber(Mode.PAIRWISE, variants=(Layout.CRLF,)).perturb(pair("One.\nTwo.", "One."))
    assert skip == Skip(reason="no line break to change", variant="crlf")


def test_choosing_a_response_where_there_is_one_is_an_error():
    with pytest.raises(JrhError, match="the task is pointwise; leave `fields` out"):
        perturber(fields=ChangedFields.SECOND)


async def test_the_seed_and_the_item_decide_and_nothing_else():
    options = {"variants": (Layout.SPACES,), "strengths": (0.5,)}
    first = await perturber(**options).perturb(response(TEXT))
    assert await perturber(**options).perturb(response(TEXT)) == first
    assert await perturber(seed=1, **options).perturb(response(TEXT)) != first
    assert await perturber(**options).perturb(response(TEXT, item_id="2")) != first


@loop_over(
    "options",
    [
        {"strengths": (0.0,)},
        {"strengths": (1.1,)},
        {"strengths": (float("nan"),)},
        {"strengths": ()},
        {"strengths": (0.5, 0.5)},
        {"variants": ()},
        {"variants": (Layout.WRAP, Layout.WRAP)},
        {"width": 19},
    ],
)
def test_options_that_make_no_sense_are_rejected(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        FormatOptions(**options)
