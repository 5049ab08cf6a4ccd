"""The model-written drafts: what is asked, what is recorded, and every way in which a reply can be none."""

import json

import jrh_verbosity.plugin
import pytest
from attrs import frozen
from jrh import Draft, Item, JrhError, Mode, Same, Scale, Skip, Task, Validation
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh_testing import ScriptedModel, build, loop_over, sample_task

RUBRIC = "A good answer names the city, gives a reason, and does not go on for longer than needed."
TASK = Task(name="t", instruction="Judge the answer.", rubric=RUBRIC, scale=Scale.of_labels("YES", "NO"))
ORIGINAL = "The tower stands in Paris because it was once built for a fair there."  # 14 words
SHORT = "The tower stands in Paris: built for a fair."  # 9 words
LONG = "The tower stands in Paris, and the reason why it stands there is that it was once built for a fair in Paris."


@frozen
class Facts:
    """Rejects a text without Paris, as the names changed."""

    async def validate(self, item, draft):
        kept = all("Paris" in text for text in draft.fields.values())
        return Validation(accepted=kept, reason="" if kept else "the names changed")


def says(text):
    return json.dumps({"text": text})


def verbosity(script, task=TASK, **options):
    model = ScriptedModel(script)
    made = build(
        jrh_verbosity.plugin,
        "verbosity",
        options={"model": "m", **options},
        task=task,
        models={"m": model},
        validators={"jrh-validators/facts-kept": Facts()},
    )
    return made, model


def both(request):
    return says(SHORT if "fewer words" in request.messages[0].content else LONG)


def item(text=ORIGINAL):
    return Item(id="1", fields={"request": "Where does it stand?", "response": text})


async def test_each_variant_is_asked_for_with_its_own_number_of_words_and_recorded():
    made, model = verbosity(both, temperature=0.3)
    short, long = await made.perturb(item())
    assert (short.variant, short.fields, short.expectation) == ("short", {"response": SHORT}, Same())
    assert (long.variant, long.fields) == ("long", {"response": LONG})
    assert "It has 14 words; write 4 to 12." in model.prompts[0]
    assert "It has 14 words; write 18 to 42." in model.prompts[1]
    assert short.model == "scripted/scripted"
    seed = model.requests[0].sampling.seed
    assert short.details == {
        "by": "model",
        "model": "scripted/scripted",
        "temperature": 0.3,
        "fields": {
            "response": {"attempts": 1, "seed": seed, "status": "ok", "rejected": [], "length_ratio": round(9 / 14, 4)}
        },
    }
    assert model.requests[0].sampling.seed != model.requests[1].sampling.seed


@loop_over(
    ("variant", "answer", "reason"),
    [
        ("short", says(LONG), "not short enough"),
        ("long", says(SHORT), "not long enough"),
        ("short", says("Paris."), "shorter than allowed"),
        ("long", says("Paris. " * 60), "longer than allowed"),
        ("short", says("It stands there: built for a fair."), "the names changed"),
        ("short", says(ORIGINAL), "unchanged"),
        ("long", says(RUBRIC), "the rubric itself"),
        ("long", says(f"{ORIGINAL} {RUBRIC}"), "the rubric itself"),
        ("long", says(" "), "empty text"),
        ("long", LONG, "no JSON in the reply"),
        ("long", "I'm sorry, I can't do that.", "the model refused"),
        ("long", Completion(text="", finish_reason="content_filter"), "the model refused"),
        ("long", says("Paris " * 30_000), "longer than 100,000 characters"),
        ("long", Completion(text=says(LONG), finish_reason="length"), "the reply was cut"),
    ],
)
async def test_what_is_not_asked_for_is_a_recorded_skip_after_the_attempts(variant, answer, reason):
    made, model = verbosity(lambda request: answer, attempts=2, variants=[variant])
    (skip,) = await made.perturb(item())
    assert isinstance(skip, Skip)
    assert (skip.reason, skip.variant) == (reason, variant)
    assert skip.details["fields"]["response"] == {"attempts": 2, "rejected": [reason, reason]}
    assert [asked.repeat for asked in model.asked] == [0, 1]


async def test_one_variant_may_fail_and_the_other_not():
    made, _ = verbosity(lambda request: both(request) if "fewer words" in request.messages[0].content else "no")
    short, long = await made.perturb(item())
    assert isinstance(short, Draft)
    assert isinstance(long, Skip)


async def test_a_provider_that_fails_is_not_asked_again_here():
    made, model = verbosity(lambda request: ModelFault(FaultKind.SERVER_ERROR, "down"), variants=["short"])
    (skip,) = await made.perturb(item())
    assert skip.reason == "provider error"
    assert len(model.asked) == 1


async def test_a_later_attempt_counts():
    made, _ = verbosity(["prose", says(LONG), says(SHORT)], variants=["short"])
    (draft,) = await made.perturb(item())
    details = draft.details["fields"]["response"]
    assert (details["attempts"], details["rejected"]) == (3, ["no JSON in the reply", "not short enough"])


async def test_of_a_pair_only_the_chosen_response_is_written():
    pair = Item(id="1", fields={"response_a": ORIGINAL, "response_b": "Rome, they say."})
    made, model = verbosity(both, sample_task(Mode.PAIRWISE), fields="first")
    short, _ = await made.perturb(pair)
    assert short.fields == {"response_a": SHORT}
    assert all("Rome" not in prompt for prompt in model.prompts)


async def test_prompts_of_ones_own_replace_the_packaged_ones():
    made, model = verbosity(
        lambda request: says(SHORT),
        variants=["short"],
        short_ratio=[0.5, 0.75],
        short_prompt="{{ text }} {{ words }} {{ low }} {{ high }} {{ task.name }}",
    )
    await made.perturb(item("{{ task.rubric }} " + ORIGINAL))
    assert model.prompts[0] == "{{ task.rubric }} " + ORIGINAL + " 16 8 12 t"


def test_a_prompt_that_is_no_template_is_an_error():
    with pytest.raises(JrhError, match="prompt template"):
        verbosity([], long_prompt="{% for %}")
