"""consensus: votes are counted."""

import jrh_validators.plugin
import pytest
from attrs import frozen
from jrh import Draft, Equals, Item, JrhError, Validation
from jrh_testing import LabelParser, ScriptedModel, build, loop_over

ITEM = Item(id="1", fields={"response": "a"})
DRAFT = Draft(fields={"response": "b"}, expectation=Equals(label="YES"))


@frozen
class Says:
    """A validator with a fixed decision; None has none."""

    accepted: bool | None
    label: str | None = None

    async def validate(self, item, draft):
        details = {"undecided": True} if self.accepted is None else {}
        return Validation(accepted=bool(self.accepted), label=self.label, details=details, reason="because")


@frozen
class Sets:
    async def validate_set(self, drafts):
        return []


def consensus(decisions, **options):
    voters = {f"v{number}": Says(*decision) for number, decision in enumerate(decisions)}
    return build(jrh_validators.plugin, "consensus", options={"validators": list(voters), **options}, validators=voters)


@loop_over(
    ("votes", "options", "accepted"),
    [
        ("yyn", {}, True),
        ("ynn", {}, False),
        ("yynn", {}, False),
        ("yyyn", {}, True),
        ("yy", {"rule": "unanimous"}, True),
        ("yyn", {"rule": "unanimous"}, False),
        ("ynnn", {"rule": "at-least", "k": 1}, True),
        ("ynnn", {"rule": "at-least", "k": 2}, False),
        ("y-n", {}, False),
        ("yy-", {}, True),
        ("yy-", {"rule": "unanimous"}, False),
    ],
)
async def test_the_rule_counts_the_votes_and_a_missing_vote_is_none_in_favour(votes, options, accepted):
    meant = {"y": True, "n": False, "-": None}
    validation = await consensus([(meant[vote],) for vote in votes], **options).validate(ITEM, DRAFT)
    assert validation.accepted is accepted
    assert validation.score == pytest.approx(votes.count("y") / len(votes))
    assert list(validation.details["votes"].values()) == [meant[vote] for vote in votes]


@loop_over(
    ("votes", "agreement"), [("yyy", 1.0), ("yyn", 1 / 3), ("yynn", 1 / 3), ("yyyyn", 0.6), ("y-n", 0.0), ("y--", None)]
)
async def test_the_agreement_is_the_share_of_agreeing_pairs_of_votes(votes, agreement):
    meant = {"y": True, "n": False, "-": None}
    validation = await consensus([(meant[vote],) for vote in votes]).validate(ITEM, DRAFT)
    assert validation.details["agreement"] == (None if agreement is None else pytest.approx(agreement))


async def test_the_label_is_the_one_enough_voters_reached():
    made = consensus([(False, "NO"), (False, "NO"), (True, "YES")])
    assert (await made.validate(ITEM, DRAFT)).label == "NO"
    made = consensus([(False, "NO"), (True, "YES"), (True, None)])
    assert (await made.validate(ITEM, DRAFT)).label is None


async def test_every_model_is_a_voter():
    models = {name: ScriptedModel(answer, name=name) for name, answer in (("m1", "YES"), ("m2", "YES"), ("m3", "NO"))}
    made = build(
        jrh_validators.plugin,
        "consensus",
        options={"label_by": list(models), "validators": ["v"]},
        models=models,
        parsers={"auto": LabelParser()},
        validators={"v": Says(False)},
    )
    validation = await made.validate(ITEM, DRAFT)
    assert validation.details["votes"] == {
        "llm-label(m1)": True,
        "llm-label(m2)": True,
        "llm-label(m3)": False,
        "v": False,
    }
    assert not validation.accepted
    assert validation.reason == "accepted by fewer than 3 of 4 voters"


async def test_a_model_without_an_answer_has_not_voted():
    models = {"m1": ScriptedModel("I do not know"), "m2": ScriptedModel("YES")}
    made = build(
        jrh_validators.plugin,
        "consensus",
        options={"label_by": list(models)},
        models=models,
        parsers={"auto": LabelParser()},
    )
    validation = await made.validate(ITEM, DRAFT)
    assert validation.details["votes"] == {"llm-label(m1)": None, "llm-label(m2)": True}


@loop_over(
    ("options", "message"),
    [
        ({}, "at least two voters"),
        ({"equivalence_by": ["m"]}, "at least two voters"),
        ({"label_by": ["m", "m"]}, "named twice"),
        ({"validators": ["v"]}, "at least two voters"),
        ({"validators": ["v", "v"]}, "named twice"),
        ({"validators": ["v", "w"], "rule": "at-least", "k": 3}, "k is 3, but there are 2 voters"),
        ({"validators": ["v", "set"]}, "cannot vote on one"),
        ({"rule": "at-least"}, "'k' is required with"),
        ({"k": 2}, "'k' is required with"),
    ],
)
def test_a_vote_that_cannot_be_held_is_an_error(options, message):
    voters = {"v": Says(True), "w": Says(True), "set": Sets()}
    with pytest.raises(JrhError, match=message):
        build(
            jrh_validators.plugin,
            "consensus",
            options=options,
            validators=voters,
            models={"m": ScriptedModel("A")},
            parsers={"auto": LabelParser()},
        )
