"""The contract every perturber holds."""

import json
from typing import ClassVar

import jrh_instruct.plugin
from jrh import Item
from jrh_testing import PerturberContract, ScriptedModel


def changed(request):
    return json.dumps({"text": f"The river runs south {request.sampling.seed}."})


class TestInstruct(PerturberContract):
    plugin = jrh_instruct.plugin
    component = "instruct"
    required_options = frozenset({"text", "expect", "model", "label"})
    options: ClassVar = {"text": "Say south for north.", "expect": "same", "model": "m"}
    items = tuple(
        Item(
            id=str(number),
            fields={"request": "Where?", "response": text, "response_a": text, "response_b": f"{text} It is long."},
            gold=None,
        )
        for number, text in enumerate(("The river runs north.", "It runs north, past the mill."))
    )
    models: ClassVar = {"m": ScriptedModel(changed)}
