"""llm-equivalence: both orders, balanced letters."""

import json

import jrh_validators.plugin
import pytest
from jrh import Draft, Item
from jrh.plugins import Completion
from jrh_testing import ScriptedModel, build, loop_over

ITEM = Item(id="1", fields={"response": "ORIGINAL", "response_b": "OTHER"})
DRAFT = Draft(fields={"response": "DRAFTED"})


def validator(script, **options):
    model = ScriptedModel(script)
    return build(
        jrh_validators.plugin, "llm-equivalence", options={"model": "m", **options}, models={"m": model}
    ), model


def meaning(request):
    """Return the letter that stands for equivalent."""
    return "A" if "A: The two texts are equivalent." in request.messages[-1].content else "B"


async def test_the_texts_are_shown_in_both_orders_and_the_letters_change_their_meaning():
    made, model = validator(meaning)
    validation = await made.validate(ITEM, DRAFT)
    assert validation.accepted
    assert validation.score == 1.0
    first, second = model.prompts
    assert first.index("ORIGINAL") < first.index("DRAFTED")
    assert second.index("DRAFTED") < second.index("ORIGINAL")
    assert [meaning(request) for request in model.requests] == ["A", "B"]


@pytest.mark.parametrize("letter", ["A", "B"])
async def test_a_model_that_always_gives_one_letter_accepts_nothing(letter):
    made, _ = validator(letter)
    validation = await made.validate(ITEM, DRAFT)
    assert (validation.accepted, validation.reason, validation.score) == (False, "the two orders disagree", 0.5)


async def test_two_denials_are_told_from_a_contradiction():
    made, _ = validator(lambda request: "AB".replace(meaning(request), ""))
    validation = await made.validate(ITEM, DRAFT)
    assert (validation.accepted, validation.reason, validation.score) == (False, "not equivalent", 0.0)


async def test_every_changed_field_is_compared_and_unchanged_ones_are_not():
    made, model = validator(meaning)
    await made.validate(ITEM, Draft(fields={"response": "DRAFTED", "response_b": "OTHER"}))
    assert len(model.asked) == 2
    await made.validate(ITEM, Draft(fields={"response": "DRAFTED", "response_b": "DRAFTED TOO"}))
    assert len(model.asked) == 6


@loop_over(
    "form",
    [
        "{}",
        " {}.\n",
        '{{"difference": "none", "answer": "{}"}}',
        'Well:\n```json\n{{"difference": "A {{b}}", "answer": "{}"}}\n```',
        "<think>A or B?</think>" + '{{"answer": "{}"}}',
    ],
)
async def test_a_letter_is_read_from_json_or_alone(form):
    made, model = validator(lambda request: form.format(meaning(request)))
    assert (await made.validate(ITEM, DRAFT)).accepted
    assert len(model.asked) == 2


@loop_over("reply", ["A or B", "", "C", json.dumps({"answer": "both"}), "The answer is A"])
async def test_anything_else_is_no_answer(reply):
    made, model = validator(reply, attempts=2)
    validation = await made.validate(ITEM, DRAFT)
    assert (validation.accepted, validation.reason) == (False, "no answer in the reply")
    assert len(model.asked) == 4


async def test_a_refusal_is_a_rejection():
    made, _ = validator(lambda request: Completion(text="", finish_reason="content_filter"), attempts=1)
    assert (await made.validate(ITEM, DRAFT)).reason == "the model refused"


async def test_a_prompt_of_ones_own_replaces_the_packaged_one():
    made, model = validator("A", prompt="{{ first }}/{{ second }}/{{ option_a }}")
    await made.validate(ITEM, DRAFT)
    assert model.prompts == [
        "ORIGINAL/DRAFTED/The two texts are equivalent.",
        "DRAFTED/ORIGINAL/The two texts are not equivalent.",
    ]
