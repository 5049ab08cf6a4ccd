"""answer-again: a new answer to the same request, with the verdict of the old one."""

import json
from typing import ClassVar

import jrh_instruct.plugin
from jrh import Draft, Item, Same, Skip
from jrh_testing import PerturberContract, ScriptedModel, build, sample_task

ITEM = Item(id="1", fields={"request": "Where does it run?", "response": "The river runs north."}, gold="YES")


def made(*script):
    model = ScriptedModel(list(script))
    options = {"model": "m"}
    return build(jrh_instruct.plugin, "answer-again", options=options, task=sample_task(), models={"m": model}), model


async def test_the_draft_is_a_new_answer_and_the_same_verdict_is_expected():
    perturber, model = made(json.dumps({"text": "It flows to the north, all the way."}))
    (draft,) = await perturber.perturb(ITEM)
    assert isinstance(draft, Draft)
    assert draft.fields == {"response": "It flows to the north, all the way."}
    assert (draft.variant, draft.expectation) == ("answered-again", Same())
    for shown in ("Where does it run?", "The river runs north.", sample_task().instruction):
        assert shown in model.prompts[0]


async def test_a_copy_of_the_sample_is_no_new_answer():
    copy = json.dumps({"text": ITEM.fields["response"]})
    perturber, _ = made(copy, copy, copy)
    (skip,) = await perturber.perturb(ITEM)
    assert isinstance(skip, Skip)
    assert "unchanged" in skip.reason


async def test_an_item_without_a_request_is_skipped():
    perturber, model = made()
    assert await perturber.perturb(Item(id="2", fields={"request": " ", "response": "x"})) == [
        Skip(reason="field 'request' is empty or not text", variant="answered-again")
    ]
    assert model.asked == []


class TestAnswerAgain(PerturberContract):
    plugin = jrh_instruct.plugin
    component = "answer-again"
    required_options = frozenset({"model"})
    options: ClassVar = {"model": "m"}
    items = tuple(
        Item(
            id=str(number),
            fields={"request": "Where?", "response": text, "response_a": text, "response_b": f"{text} It is long."},
            gold=None,
        )
        for number, text in enumerate(("The river runs north.", "It runs north, past the mill."))
    )
    models: ClassVar = {
        "m": ScriptedModel(lambda request: json.dumps({"text": f"The river runs south {request.sampling.seed}."}))
    }
