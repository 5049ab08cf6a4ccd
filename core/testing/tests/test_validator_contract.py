"""The validator contract fails on a planted mistake of every kind."""

from __future__ import annotations

import itertools

import pytest
from jrh import Draft, Scope, Validation, ValidatorSpec
from jrh_testing import ValidatorContract, sample_items
from jrh_testing.contracts.base import ComponentContract

ITEM, OTHER = sample_items()[0], sample_items()[5]
ACCEPTED = ((ITEM, Draft(fields={"response": "longer than nothing"})), (OTHER, Draft(fields={"response": "so it is"})))
REJECTED = ((ITEM, Draft(fields={"response": ""})), (OTHER, Draft(fields={"response": " "})))


class NotEmpty:
    """A sound validator."""

    async def validate(self, item, draft):
        return self.decide(item, draft)

    async def validate_set(self, drafts):
        return [self.decide(item, draft) for item, draft in drafts]

    def decide(self, item, draft):
        empty = not draft.fields["response"].strip()
        return Validation(accepted=not empty, reason="empty text" if empty else "")


class AcceptsAll(NotEmpty):
    def decide(self, item, draft):
        return Validation(accepted=True)


class Drawing(NotEmpty):
    counter = itertools.count()

    def decide(self, item, draft):
        return Validation(accepted=super().decide(item, draft).accepted, reason="r", score=float(next(self.counter)))


class Remembers(NotEmpty):
    """Scores by how many drafts it has seen: the same each time, but not in another order."""

    def __init__(self):
        self.seen = 0

    def decide(self, item, draft):
        self.seen += 1
        return Validation(accepted=super().decide(item, draft).accepted, reason="empty", score=float(self.seen))


class NoReason(NotEmpty):
    def decide(self, item, draft):
        return Validation(accepted=super().decide(item, draft).accepted)


class Quoting(NotEmpty):
    def decide(self, item, draft):
        return Validation(accepted=super().decide(item, draft).accepted, reason=item.fields["response"][:40])


class StrangeLabel(NotEmpty):
    def decide(self, item, draft):
        return Validation(accepted=super().decide(item, draft).accepted, reason="empty", label="MAYBE")


class Encoding(NotEmpty):
    def decide(self, item, draft):
        draft.fields["response"].encode()
        return super().decide(item, draft)


PLANTED = {
    AcceptsAll: "test_it_accepts_and_rejects",
    Drawing: "test_the_same_drafts_are_decided_the_same",
    Remembers: "test_the_order_of_drafts_does_not_matter",
    NoReason: "test_rejections_can_be_counted",
    Quoting: "test_rejections_can_be_counted",
    StrangeLabel: "test_labels_are_on_the_scale",
    Encoding: "test_odd_texts_are_decided",
}


def spec(cls, **settings):
    return ValidatorSpec(name="planted", summary="planted", factory=lambda options, context: cls(), **settings)


def run(failing, spec, **settings):
    given = {"accepted": ACCEPTED, "rejected": REJECTED, **settings}
    return failing(ValidatorContract, "jrh_validators", spec, **given)


@pytest.mark.parametrize("cls", PLANTED, ids=lambda cls: cls.__name__)
def test_a_planted_mistake_fails_its_test(failing, cls):
    found = run(failing, spec(cls))
    # What draws on every call is not the same in another order either.
    assert found == [PLANTED[cls]] or cls is Drawing
    assert PLANTED[cls] in found


def test_a_sound_validator_passes_item_wise_and_over_the_set(failing):
    assert run(failing, spec(NotEmpty)) == []
    assert run(failing, spec(NotEmpty, scope=Scope.SET)) == []


@pytest.mark.parametrize("lacking", ["accepted", "rejected"])
def test_a_validator_is_tested_with_both_kinds_of_draft(failing, lacking):
    assert run(failing, spec(NotEmpty), **{lacking: ()}) == ["test_it_accepts_and_rejects"]


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(ValidatorContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert set(PLANTED.values()) == own
