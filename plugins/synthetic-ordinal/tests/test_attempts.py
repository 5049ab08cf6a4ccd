"""One attempt: which replies are a response, and which replies of the grader are a level."""

import json

import jrh_synthetic_ordinal.plugin
from jrh import Item, Scale, Task
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh_testing import ScriptedModel, build, loop_over

TASK = Task(name="levels", instruction="Grade it.", rubric="Better is higher, " * 5, scale=Scale.of_levels(1, 5))
ITEM = Item(id="1", fields={"request": "Write.", "response": " ".join(f"seed{n}" for n in range(20))}, gold="1")


def perturber(writer, grader, **options):
    return build(
        jrh_synthetic_ordinal.plugin,
        "synthetic-ordinal",
        options={"model": "writer", "grader": "grader", **options},
        task=TASK,
        models={"writer": writer, "grader": grader},
    )


@loop_over(
    ("answer", "reason"),
    [
        ("Here is a text about it.", "no JSON in the reply"),
        (Completion(text=None, finish_reason="stop", refusal="no"), "the model refused"),
        (ModelFault(FaultKind.SERVER_ERROR, "503"), "provider error"),
        ('{"response": ""}', "empty text"),
        (json.dumps({"response": TASK.rubric}), "the rubric itself"),
        (json.dumps({"response": ITEM.fields["response"]}), "unchanged"),
        ("x" * 10_000_000, "longer than 8 MiB"),
        (json.dumps({"response": "Это совсем другой язык."}), "another language"),
        (json.dumps({"response": "I'm sorry, but I can't do that."}), "the model refused"),
    ],
)
async def test_a_reply_that_is_no_response_is_recorded_and_never_a_case(answer, reason):
    grader = ScriptedModel([])
    results = await perturber(
        ScriptedModel(lambda request: answer), grader, levels=["2"], attempts_per_temperature=1, temperature_step=0.6
    ).perturb_set([ITEM])
    ((_, skip),) = results
    assert skip.reason == "no response reached level 2 in 2 attempts"
    assert [attempt["rejected"] for attempt in skip.details["attempts"]] == [reason, reason]
    assert grader.asked == []


@loop_over(
    ("answer", "achieved"),
    [
        ('{"rationale": "3 is too much", "level": "2"}', "2"),
        ('{"level": 2}', "2"),
        ("2", "2"),
        ('{"level": 2.5}', None),
        ('{"level": true}', None),
        ('{"level": "9"}', None),
        ("I would say 2 or 3", None),
        (ModelFault(FaultKind.TIMEOUT, "late"), None),
    ],
)
async def test_the_level_is_what_the_grader_says_and_nothing_is_guessed(answer, achieved):
    grader = ScriptedModel(lambda request: answer)
    results = await perturber(
        ScriptedModel('{"response": "Words of my own."}'),
        grader,
        levels=["2"],
        attempts_per_temperature=1,
        temperature_step=0.0,
    ).perturb_set([ITEM])
    (attempt,) = results[0][1].details["attempts"]
    assert attempt["achieved"] == achieved
    # What the gateway gave up is not asked again.
    assert len(grader.asked) == (1 if achieved or isinstance(answer, ModelFault) else 2)
    if achieved is None:
        assert attempt["rejected"] == "no level in the grader's reply"
