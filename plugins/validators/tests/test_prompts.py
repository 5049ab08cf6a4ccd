"""A prompt template that a model reworded is compared with the one it rewords, like any other changed text."""

from __future__ import annotations

import jrh_validators.plugin
import pytest
from jrh import Draft, Item, Prompt
from jrh_testing import ScriptedModel, build, sample_task
from jrh_validators.drafts import text_changes

ITEM = Item(id="1", fields={"request": "q", "response": "r"})
REWORDED = Draft(prompt=Prompt(name="p", user="Right? {{ response }}", original="Is it right? {{ response }}"))


def test_the_reworded_template_is_a_changed_text() -> None:
    assert text_changes(ITEM, REWORDED) == {
        "the prompt template": ("Is it right? {{ response }}", "Right? {{ response }}")
    }


@pytest.mark.parametrize("original", ["", "Right? {{ response }}"])
def test_a_template_that_rewords_nothing_is_no_change(original: str) -> None:
    draft = Draft(prompt=Prompt(name="p", user="Right? {{ response }}", original=original))
    assert text_changes(ITEM, draft) == {}


def meaning(request):
    """Return the letter that stands for equivalent."""
    return "A" if "A: The two texts are equivalent." in request.messages[-1].content else "B"


@pytest.mark.parametrize("accepted", [True, False])
async def test_a_model_decides_whether_the_templates_ask_the_same(accepted: bool) -> None:
    model = ScriptedModel(lambda request: meaning(request) if accepted else "AB".replace(meaning(request), ""))
    validator = build(
        jrh_validators.plugin, "llm-equivalence", options={"model": "m"}, task=sample_task(), models={"m": model}
    )
    assert (await validator.validate(ITEM, REWORDED)).accepted is accepted
    assert all("Is it right? {{ response }}" in prompt for prompt in model.prompts), "not shown as written"
