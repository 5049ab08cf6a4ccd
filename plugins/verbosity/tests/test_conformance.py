"""The contract every perturber holds, for both ways of writing."""

import json
from typing import ClassVar

import jrh_verbosity.plugin
from attrs import frozen
from jrh import Item, Validation
from jrh_testing import PerturberContract, ScriptedModel

ITEMS = tuple(
    Item(
        id=str(number),
        fields={"request": "Why?", "response": text, "response_a": text, "response_b": f"{text} They are really here."},
        gold=None,
    )
    for number, text in enumerate(
        (
            "It is very cold. In order to keep warm, they really need a fire, because it is winter.",
            "Nothing",
            "In fact, the end result was good. Every child was actually glad.",
        )
    )
)


@frozen
class Accepts:
    async def validate(self, item, draft):
        return Validation(accepted=True)


def rewrite(request):
    """Say one word, or many."""
    count = 4 if "fewer words" in request.messages[-1].content else 30
    return json.dumps({"text": f"seed {request.sampling.seed} " + "word " * count})


class TestByRules(PerturberContract):
    plugin = jrh_verbosity.plugin
    component = "verbosity"
    options: ClassVar = {"strengths": [0.5, 1.0], "long_ratio": [1.01, 5.0]}
    items = ITEMS
    validators: ClassVar = {"jrh-validators/facts-kept": Accepts()}


class TestByModel(PerturberContract):
    plugin = jrh_verbosity.plugin
    component = "verbosity"
    options: ClassVar = {"model": "m"}
    items = ITEMS
    models: ClassVar = {"m": ScriptedModel(rewrite)}
    validators: ClassVar = {"jrh-validators/facts-kept": Accepts()}
