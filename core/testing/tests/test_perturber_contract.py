"""The perturber contract fails on a planted mistake of every kind."""

from __future__ import annotations

import itertools

import pytest
from attrs import evolve
from jrh import Draft, Equals, Mode, NotAbove, PerturberSpec, Scale, Scope, Skip
from jrh_testing import PerturberContract, sample_items, sample_task
from jrh_testing.contracts.base import ComponentContract

CONTRACT = "jrh_perturbers"


class Shout:
    """A sound perturber: upper case, skips what has no text."""

    def __init__(self, context):
        self.context = context

    async def perturb(self, item):
        return self.results(item)

    def results(self, item):
        changed = {
            name: value.upper()
            for name, value in item.fields.items()
            if name in self.context.task.mode.judged_fields and isinstance(value, str) and value
        }
        return [Draft(variant="upper", fields=changed)] if changed else [Skip(reason="no text to change")]


class Changed(Shout):
    """Shout with something done to every draft."""

    def change(self, draft, item):
        return draft

    def results(self, item):
        return [self.change(r, item) if isinstance(r, Draft) else r for r in super().results(item)]


class Lazy(Shout):
    def results(self, item):
        return [Skip(reason="not today")]


class ReturnsText(Shout):
    def results(self, item):
        return [*super().results(item), "text"]


class Drawing(Changed):
    counter = itertools.count()

    def change(self, draft, item):
        return evolve(draft, variant=str(next(self.counter)))


class Counting(Changed):
    """Numbers the drafts in the order of the calls: the same each time, but not in another order."""

    def __init__(self, context):
        super().__init__(context)
        self.calls = 0

    def change(self, draft, item):
        self.calls += 1
        return evolve(draft, variant=str(self.calls))


class Encoding(Changed):
    def change(self, draft, item):
        draft.fields["response"].encode()
        return draft


class InPlace(Shout):
    def results(self, item):
        found = super().results(item)
        item.metadata["seen"] = True
        return found


class ChangesRequest(Changed):
    def change(self, draft, item):
        return evolve(draft, fields={**draft.fields, "request": "another"})


class StoresASet(Changed):
    def change(self, draft, item):
        return evolve(draft, details={"words": {1, 2}})


class HalfMap(Changed):
    def change(self, draft, item):
        return evolve(draft, label_map={"YES": "NO"})


class StrangeMap(Changed):
    def change(self, draft, item):
        return evolve(draft, label_map={"YES": "NO", "NO": "MAYBE"})


class WiderScale(Changed):
    """Presents other labels without saying what they mean."""

    def change(self, draft, item):
        return evolve(draft, task=sample_task(scale=Scale.of_levels(1, 3)))


class OffScale(Changed):
    def change(self, draft, item):
        return evolve(draft, expectation=Equals(label="MAYBE"))


class OrderOnNames(Changed):
    def change(self, draft, item):
        return evolve(draft, expectation=NotAbove())


class NeverAsked(Changed):
    def change(self, draft, item):
        return evolve(draft, repeats=0)


class Twice(Shout):
    def results(self, item):
        return super().results(item) * 2


class Quoting(Shout):
    def results(self, item):
        return [*super().results(item), Skip(reason=f"cannot treat {str(item.fields['response'])[:30]}")]


class NamesItem(Shout):
    def results(self, item):
        return [*super().results(item), Skip(reason=f"{item.id} has no text")]


PLANTED = {
    Lazy: "test_it_drafts_something_for_every_mode",
    ReturnsText: "test_results_are_drafts_and_skips_of_the_items",
    Drawing: "test_same_items_give_same_drafts",
    Counting: "test_the_order_of_items_does_not_matter",
    Encoding: "test_odd_texts_are_treated_or_skipped",
    InPlace: "test_items_are_left_as_they_are",
    ChangesRequest: "test_drafts_change_only_what_is_judged",
    StoresASet: "test_drafts_can_be_stored",
    HalfMap: "test_every_presented_label_has_a_meaning",
    StrangeMap: "test_every_presented_label_has_a_meaning",
    WiderScale: "test_every_presented_label_has_a_meaning",
    OffScale: "test_expectations_fit_the_scale",
    OrderOnNames: "test_expectations_fit_the_scale",
    NeverAsked: "test_every_draft_is_asked_at_least_once",
    Twice: "test_no_draft_comes_twice",
    Quoting: "test_skips_can_be_counted",
    NamesItem: "test_skips_can_be_counted",
}


def spec(cls, **settings):
    given = {"modes": frozenset({Mode.POINTWISE}), **settings}
    return PerturberSpec(name="planted", summary="planted", factory=lambda options, context: cls(context), **given)


@pytest.mark.parametrize("cls", PLANTED, ids=lambda cls: cls.__name__)
def test_a_planted_mistake_fails_its_test(failing, cls):
    found = failing(PerturberContract, CONTRACT, spec(cls))
    assert PLANTED[cls] in found
    # What draws differs in another order too, and what is no draft is none for odd texts; the rest is told apart.
    assert found == [PLANTED[cls]] or cls in (Drawing, ReturnsText)


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(PerturberContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert set(PLANTED.values()) == own


def test_a_sound_perturber_passes_in_the_modes_it_declares(failing):
    modes = frozenset({Mode.POINTWISE, Mode.PAIRWISE})
    assert failing(PerturberContract, CONTRACT, spec(Shout, modes=modes)) == []


def test_a_mode_that_is_declared_but_never_treated_is_found(failing):
    # Transcripts are messages, which this perturber does not read; one of them is plain text, so it is left out.
    task = sample_task(Mode.TRANSCRIPT)
    found = failing(PerturberContract, CONTRACT, spec(Shout), task=task, items=sample_items(task)[2:])
    assert found == ["test_it_drafts_something_for_every_mode"]


def test_a_family_that_changes_the_request_by_design_may_say_so(failing):
    assert failing(PerturberContract, CONTRACT, spec(ChangesRequest), also_changes=("request",)) == []


class WholeSet(Shout):
    async def perturb_set(self, items):
        return [(item, result) for item in items for result in self.results(item)]


class Stranger(WholeSet):
    async def perturb_set(self, items):
        found = await super().perturb_set(items)
        return [*found, (evolve(items[0], id="made-up"), Skip(reason="made up"))]


def test_a_perturber_of_the_whole_set_is_called_with_the_set(failing):
    assert failing(PerturberContract, CONTRACT, spec(WholeSet, scope=Scope.SET)) == []


def test_a_set_perturber_that_answers_for_an_unknown_item_is_found(failing):
    assert failing(PerturberContract, CONTRACT, spec(Stranger, scope=Scope.SET)) == [
        "test_results_are_drafts_and_skips_of_the_items"
    ]
