"""fallback: the first validator with a decision decides."""

import jrh_validators.plugin
import pytest
from attrs import define
from jrh import Draft, Equals, Item, JrhError, Validation
from jrh_testing import LabelParser, ScriptedModel, build, loop_over

ITEM = Item(id="1", fields={"request": "?", "response": "a"})
DRAFT = Draft(fields={"response": "b"}, expectation=Equals(label="YES"))


@define
class Says:
    """A validator with a fixed decision; None has none."""

    accepted: bool | None
    asked: int = 0

    async def validate(self, item, draft):
        self.asked += 1
        details = {"undecided": True} if self.accepted is None else {}
        return Validation(accepted=bool(self.accepted), label="NO", details=details, reason="because")


def fallback(*decisions):
    asked = {f"v{number}": Says(decision) for number, decision in enumerate(decisions)}
    made = build(jrh_validators.plugin, "fallback", options={"validators": list(asked)}, validators=asked)
    return made, asked


@loop_over(
    ("decisions", "accepted", "by", "asked"),
    [
        ((True, False), True, "v0", [1, 0]),
        ((False, True), False, "v0", [1, 0]),  # a rejection is a decision
        ((None, True), True, "v1", [1, 1]),
        ((None, None, False), False, "v2", [1, 1, 1]),
    ],
)
async def test_the_first_decision_counts_and_nobody_is_asked_after_it(decisions, accepted, by, asked):
    made, validators = fallback(*decisions)
    found = await made.validate(ITEM, DRAFT)
    assert (found.accepted, found.details["decided_by"], found.label) == (accepted, by, "NO")
    assert [validator.asked for validator in validators.values()] == asked
    assert found.details["undecided_before"] == {f"v{n}": "because" for n in range(int(by[1]))}


async def test_without_any_decision_there_is_none_for_consensus_either():
    made, _ = fallback(None, None)
    found = await made.validate(ITEM, DRAFT)
    assert (found.accepted, found.reason, found.details["undecided"]) == (False, "no validator decided", True)


async def test_a_second_model_decides_where_the_first_refuses():
    models = {"first": ScriptedModel("I'm sorry, but I can't help with that."), "second": ScriptedModel("YES")}
    made = build(
        jrh_validators.plugin,
        "fallback",
        options={"label_by": ["first", "second"]},
        models=models,
        parsers={"auto": LabelParser()},
    )
    found = await made.validate(ITEM, DRAFT)
    assert (found.accepted, found.details["decided_by"]) == (True, "llm-label(second)")
    assert models["first"].asked


def test_one_validator_has_nothing_to_fall_back_on():
    with pytest.raises(JrhError, match="fallback needs at least two"):
        fallback(True)
