"""The contracts every perturber holds, by rules and by a model."""

import json
from typing import ClassVar

import jrh_label_flip.plugin
from jrh import Item, Scale, Task
from jrh_testing import PerturberContract, ScriptedModel

TEXT = "The Seine is the longest river of Paris. It flows into the sea, and its source lies near Dijon because of them."
POINTS = tuple(
    Item(id=str(number), fields={"request": "Which river?", "response": TEXT}, gold=label)
    for number, label in enumerate(("YES", "NO", None))
)
PAIRS = tuple(
    Item(
        id=str(number),
        fields={
            "request": "2+2?",
            "response_a": "It is 4 because 2 + 2 = 4.",
            "response_b": "They are of them 1 + 2 = 3.",
        },
        gold=label,
    )
    for number, label in enumerate(("A", "B", None))
)
REWRITTEN = ScriptedModel(json.dumps({"response": "Nothing of it is so.", "changes": ["all"]}))


class TestRules(PerturberContract):
    plugin = jrh_label_flip.plugin
    component = "label-flip"
    options: ClassVar = {"errors": [1, 2]}
    task = Task(name="facts", scale=Scale.of_labels("YES", "NO"))
    items = POINTS


class TestRulesOnPairs(PerturberContract):
    plugin = jrh_label_flip.plugin
    component = "label-flip"
    task = Task(name="pairs", scale=Scale.of_pairs(tie="TIE"), mode=jrh_label_flip.plugin.Mode.PAIRWISE)
    items = PAIRS


class TestRulesOnLevels(PerturberContract):
    plugin = jrh_label_flip.plugin
    component = "label-flip"
    task = Task(name="levels", scale=Scale.of_levels(1, 6))


class TestModel(PerturberContract):
    plugin = jrh_label_flip.plugin
    component = "label-flip"
    options: ClassVar = {"model": "writer", "variants": ["flip", "assumption"], "errors": [1, 3]}
    models: ClassVar = {"writer": REWRITTEN}
