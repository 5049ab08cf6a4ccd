"""The contracts every perturber holds, by the rule and by a model."""

import json
from typing import ClassVar

import jrh_synthetic_ordinal.plugin
from jrh import Item, Scale, Task
from jrh_testing import PerturberContract, ScriptedModel

LEVELS = Task(name="levels", scale=Scale.of_levels(1, 3))
ESSAYS = tuple(
    Item(id=f"essay-{level}", fields={"request": "?", "response": f"{level} essay of many words " * 9}, gold=str(level))
    for level in (1, 2, 3)
) + tuple(
    Item(
        id=f"long-{level}",
        fields={"request": "?", "response": " ".join(f"w{level}x{word}" for word in range(40))},
        gold=None,
    )
    for level in (1, 2)
)


def answer(request):
    """Write a text that follows from the seed alone."""
    text = " ".join(f"new{request.sampling.seed}x{word}" for word in range(20))
    return json.dumps({"response": text})


class TestRule(PerturberContract):
    plugin = jrh_synthetic_ordinal.plugin
    component = "synthetic-ordinal"
    options: ClassVar = {"samples": 2}
    task = LEVELS
    items = ESSAYS


class TestModel(PerturberContract):
    plugin = jrh_synthetic_ordinal.plugin
    component = "synthetic-ordinal"
    options: ClassVar = {"model": "writer", "grader": "grader", "temperature_step": 0.6}
    models: ClassVar = {"writer": ScriptedModel(answer), "grader": ScriptedModel('{"level": 2}')}
    task = LEVELS
    items = ESSAYS
