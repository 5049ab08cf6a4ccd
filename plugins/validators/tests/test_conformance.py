"""The contracts every validator holds."""

from typing import ClassVar

import jrh_validators.plugin
from jrh import Draft, Equals, Item, Same
from jrh_testing import LabelParser, ScriptedModel, ValidatorContract

ITEM = Item(
    id="1", fields={"request": "Where is it?", "response": "The tower stands in Paris, 330 metres high."}, gold="YES"
)


def drafted(text, expectation=None):
    return ITEM, Draft(fields={"response": text}, expectation=expectation or Same())


def rubric(request):
    """Find an answer right if it names Paris."""
    return "YES" if "Paris" in request.messages[-1].content else "NO"


def compare(request):
    """Find texts equivalent unless Rome is in one of them; answer by the letter that says so."""
    prompt = request.messages[-1].content
    same = "A" if "A: The two texts are equivalent." in prompt else "B"
    return same if "Rome" not in prompt else "AB".replace(same, "")


class TestLlmLabel(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "llm-label"
    options: ClassVar = {"model": "m", "parser": "label"}
    required_options = ("model",)
    models: ClassVar = {"m": ScriptedModel(rubric)}
    parsers: ClassVar = {"label": LabelParser()}
    accepted = (drafted("In Paris."), drafted("In Rome.", Equals(label="NO")))
    rejected = (drafted("In Rome."), drafted("In Paris.", Equals(label="NO")))


class TestLlmEquivalence(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "llm-equivalence"
    options: ClassVar = {"model": "m"}
    required_options = ("model",)
    models: ClassVar = {"m": ScriptedModel(compare)}
    accepted = (drafted("In Paris it stands."), (ITEM, Draft()))
    rejected = (drafted("In Rome it stands."), (ITEM, Draft(fields={"answer": "In Paris."})))


class TestConsensus(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "consensus"
    options: ClassVar = {"equivalence_by": ["good", "blind", "also-good"]}
    models: ClassVar = {
        "good": ScriptedModel(compare, name="good"),
        "blind": ScriptedModel("A", name="blind"),
        "also-good": ScriptedModel(compare, name="also-good"),
    }
    accepted = (drafted("In Paris it stands."),)
    rejected = (drafted("In Rome it stands."),)


class TestFallback(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "fallback"
    options: ClassVar = {"equivalence_by": ["silent", "good"]}
    models: ClassVar = {
        "silent": ScriptedModel("I cannot help with that.", name="silent"),
        "good": ScriptedModel(compare, name="good"),
    }
    accepted = (drafted("In Paris it stands."),)
    rejected = (drafted("In Rome it stands."),)


class TestRules(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "rules"
    options: ClassVar = {"length_ratio": [0.5, 1.5]}
    accepted = (drafted("In Paris the tower stands, 330 metres high."), (ITEM, Draft()))
    rejected = (
        drafted("The tower stands in Rome, 330 metres high."),
        drafted("The tower stands in Paris, 300 metres high."),
        drafted("The tower does not stand in Paris, 330 metres high."),
        drafted("Der Turm steht in Paris, 330 Meter hoch, und alle wollen ihn sehen und auf ihn hinaufsteigen."),
        drafted("Paris, 330."),
        (ITEM, Draft(fields={"answer": "text"})),
    )


class TestFactsKept(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "facts-kept"
    accepted = (
        drafted("Paris is where the tower stands, and 330 metres is its height: yes, 330 metres, in Paris."),
        drafted("Paris, 330 metres."),
    )
    rejected = (drafted("In Paris it stands, very high."), drafted("It stands there, 330 metres high, not in Rome."))


class TestCosineDiversity(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "cosine-diversity"
    accepted = (
        drafted("Nobody knows where this building could be found today."),
        drafted("It is a museum of modern art near the old harbour."),
        (ITEM, Draft()),
    )
    rejected = (drafted("the tower stands in paris 330 metres HIGH"),)


class TestCosineSimilarity(ValidatorContract):
    plugin = jrh_validators.plugin
    component = "cosine-similarity"
    accepted = (
        drafted("The tower stands in Paris and is 330 metres high."),
        (ITEM, Draft()),
    )
    rejected = (drafted("Nobody knows where this building could be found today."),)
