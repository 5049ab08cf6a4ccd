"""What the model is asked, which verdict is expected, and what is refused."""

import json

import jrh_instruct.plugin
import pytest
from jrh import Changes, Draft, Equals, Item, JrhError, Mode, NotAbove, NotBelow, Same, Scale, Skip, Task
from jrh_testing import ScriptedModel, build, loop_over, sample_task

LEVELS = Task(name="levels", scale=Scale.of_levels(1, 5))
PAIRS = Task(name="pairs", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)
ITEM = Item(
    id="1",
    fields={
        "request": "Where?",
        "response": "The river runs north.",
        "response_a": "The river runs north.",
        "response_b": "It runs north, past the mill.",
    },
)
GOOD = "The river runs south."


SAYS = json.dumps({"text": GOOD})


def made(script=(SAYS,), task=None, **options):
    model = ScriptedModel(list(script))
    stated = {"text": "Say south for north.", "expect": "changes", "model": "m", **options}
    found = build(jrh_instruct.plugin, "instruct", options=stated, task=task or sample_task(), models={"m": model})
    return found, model


@loop_over(
    ("expect", "task", "expected"),
    [
        ("same", None, Same()),
        ("changes", None, Changes()),
        ("not-above", LEVELS, NotAbove()),
        ("not-below", LEVELS, NotBelow()),
        ({"label": "NO"}, None, Equals(label="NO")),
    ],
)
async def test_the_draft_carries_the_stated_expectation(expect, task, expected):
    perturber, _ = made(expect=expect, task=task)
    (draft,) = await perturber.perturb(ITEM)
    assert isinstance(draft, Draft)
    assert (draft.variant, dict(draft.fields), draft.expectation) == ("instructed", {"response": GOOD}, expected)


async def test_the_instruction_is_shown_as_it_is_written():
    odd = "Write {{ text }} {% raw %} as 'south' \\n, \"never\" north."
    perturber, model = made(text=odd)
    await perturber.perturb(ITEM)
    assert odd in model.prompts[0]
    assert model.prompts[0].count("The river runs north.") == 1
    assert model.requests[0].sampling.temperature is None


async def test_of_a_pair_one_response_can_be_changed():
    perturber, model = made(task=PAIRS, fields="second", expect="changes")
    (draft,) = await perturber.perturb(ITEM)
    assert list(draft.fields) == ["response_b"]
    assert len(model.prompts) == 1


async def test_a_text_that_never_comes_is_a_skip_with_its_reason():
    perturber, model = made((json.dumps({"text": "south " * 60}),) * 2, attempts=2)
    (skip,) = await perturber.perturb(ITEM)
    assert isinstance(skip, Skip)
    assert skip.reason == "longer than allowed"
    assert len(model.prompts) == 2


@loop_over(
    ("options", "said"),
    [
        ({"expect": {"label": "MAYBE"}}, "'MAYBE' is not on the task's scale YES, NO"),
        ({"expect": "not-above"}, "`expect: not-above` needs ordered levels"),
        ({"text": " "}, "'text' is empty; describe in a sentence what the model should change"),
        ({"length_ratio": [2, 1]}, "[low, high] with 0 < low < high"),
        ({"fields": "first"}, "chooses one response of a pair"),
        ({"model": "other"}, "other"),
    ],
)
def test_what_cannot_work_is_refused_before_any_call(options, said):
    with pytest.raises(JrhError) as caught:
        made(**options)
    assert said in str(caught.value)
