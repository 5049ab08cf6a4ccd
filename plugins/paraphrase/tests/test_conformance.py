"""The contract every perturber holds, for both ways of writing."""

import json
from typing import ClassVar

import jrh_paraphrase.plugin
from attrs import frozen
from jrh import Item, Validation
from jrh_testing import PerturberContract, ScriptedModel

ITEMS = tuple(
    Item(
        id=str(number),
        fields={"request": "Why?", "response": text, "response_a": text, "response_b": f"{text} It is a must."},
        gold=None,
    )
    for number, text in enumerate(
        (
            "I do not know, but everyone says so. Furthermore, it isn't 3 parts.",
            "Nothing to swap.",
            "In order to win, they cannot rest; for example, they train with 4 friends.",
        )
    )
)


@frozen
class Accepts:
    async def validate(self, item, draft):
        return Validation(accepted=True)


def rewrite(request):
    return json.dumps({"text": f"Said otherwise: {request.sampling.seed}"})


class TestByRules(PerturberContract):
    plugin = jrh_paraphrase.plugin
    component = "paraphrase"
    options: ClassVar = {"strengths": [0.3, 1.0]}
    items = ITEMS
    validators: ClassVar = {"jrh-validators/rules": Accepts()}


class TestByModel(PerturberContract):
    plugin = jrh_paraphrase.plugin
    component = "paraphrase"
    options: ClassVar = {"model": "m", "length_ratio": [0.01, 100]}
    items = ITEMS
    models: ClassVar = {"m": ScriptedModel(rewrite)}
    validators: ClassVar = {"jrh-validators/rules": Accepts()}
