"""A model rewords the judge's real prompt; what it gets wrong is noticed."""

from __future__ import annotations

import json

import jrh_prompts.plugin
import pytest
from jrh import Draft, Item, JrhError, Reply, Skip, Status
from jrh_testing import ScriptedModel, build, loop_over, sample_task

PROMPT = "Is this right, YES or NO?\n{{ response }}"
ITEMS = [Item(id=str(number), fields={"request": "q", "response": f"r{number}"}) for number in range(3)]


def wrote(text):
    return json.dumps({"template": text})


async def perturb(model, **options):
    settings = {"template": PROMPT, "model": "writer", **options}
    perturber = build(
        jrh_prompts.plugin, "prompt-paraphrase", options=settings, task=sample_task(), models={"writer": model}
    )
    return await perturber.perturb_set(ITEMS)


async def test_every_item_is_asked_with_the_original_and_each_paraphrase_which_was_written_once():
    model = ScriptedModel(
        {
            "Version 1": wrote("YES or NO, is it right? {{ response }}"),
            "Version 2": wrote("{{ response }} Right? YES/NO"),
        }
    )
    found = await perturb(model, paraphrases=2, system="Short.")
    assert len(model.asked) == 2
    assert [draft.variant for item, draft in found if item.id == "1"] == ["original", "paraphrase-1", "paraphrase-2"]
    original, first, _ = [draft for item, draft in found if item.id == "1"]
    assert (original.prompt.user, original.prompt.original, original.model) == (PROMPT, "", "")
    assert (first.prompt.original, first.prompt.system, first.model) == (PROMPT, "Short.", model.fingerprint)
    assert "in double braces, such as {{ response }}, is filled in later" in model.prompts[0]


@loop_over(
    "text",
    [
        "Is it right? YES or NO.",  # lost the response
        "Is it right? {{ response }} {{ request }}",  # shows more
        "{{ response }} Is it right? {{ response }}",  # shows it twice
        "{% if response %}Is it right? {{ response }}{% endif %}",  # has code of its own
        "Is it right? {{ response",  # no template
        PROMPT,  # the same
    ],
)
async def test_what_is_no_paraphrase_is_asked_for_again_and_then_given_up(text):
    model = ScriptedModel(wrote(text))
    found = await perturb(model, paraphrases=1, attempts=2)
    assert len(model.asked) == 2
    assert [asked.repeat for asked in model.asked] == [0, 1]
    assert [result for item, result in found if item.id == "0"][1] == Skip(
        reason="the model wrote no usable paraphrase", variant="paraphrase-1"
    )


async def test_a_model_that_refuses_costs_the_paraphrase_and_not_the_test():
    model = ScriptedModel(lambda request: Reply(status=Status.REFUSED))
    found = await perturb(model, paraphrases=1)
    assert [type(result) for item, result in found if item.id == "0"] == [Draft, Skip]


async def test_a_paraphrase_that_another_one_already_is_counts_once():
    model = ScriptedModel(wrote("Right? YES/NO {{ response }}"))
    found = await perturb(model, paraphrases=3)
    kinds = [type(result) for item, result in found if item.id == "0"]
    assert kinds == [Draft, Draft, Skip, Skip]


async def test_a_prompt_that_does_not_show_the_response_is_refused():
    with pytest.raises(JrhError, match="template 'original' does not show response"):
        await perturb(ScriptedModel("x"), template="Is it right?")
