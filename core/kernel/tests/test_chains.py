"""Perturbations compose: chains as one condition, crossings as a test for every combination, over a sample of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve
from jrh.errors import SuiteError
from jrh.hashing import content_id
from jrh.plugins.specs import PerturberSpec, Scope, ValidatorSpec
from jrh.running.stages import perturb as stage
from jrh.running.stages.cases_of_drafts import stage_digest
from jrh.running.stages.chain import ConflictError, combine, combine_expectations
from jrh.values.cases import (
    Changes,
    Draft,
    Equals,
    NotAbove,
    NotBelow,
    Polarity,
    Prompt,
    Same,
    Sampling,
    Skip,
    Validation,
)
from jrh.values.items import Item, Mode, Task
from jrh_testing import loop_over


class Acts:
    def __init__(self, act: Any) -> None:
        self.act = act

    async def perturb(self, item: Item) -> Any:
        return self.act(item)

    async def perturb_set(self, items: Sequence[Item]) -> Any:
        return [(item, each) for item in reversed(items) for each in self.act(item)]


class Says:
    def __init__(self, say: Any) -> None:
        self.say = say

    async def validate(self, item: Item, draft: Draft) -> Any:
        return self.say(item, draft)


def perturber(name: str, act: Any, **spec: Any) -> PerturberSpec:
    return PerturberSpec(name=name, summary="", factory=lambda options, context: Acts(act), **spec)


def validator(name: str, say: Any) -> ValidatorSpec:
    return ValidatorSpec(name=name, summary="", factory=lambda options, context: Says(say))


def text(item: Item) -> str:
    return str(item.fields["response"])


UPPER = perturber("upper", lambda item: [Draft(variant="loud", fields={"response": text(item).upper()})])
TWICE = perturber("twice", lambda item: [Draft(variant=v, fields={"response": text(item) + v}) for v in ("!", "?")])
FLIP = perturber(
    "flip",
    lambda item: [
        Draft(fields={"response": f"not {text(item)}"}, expectation=Equals(label="NO" if item.gold == "YES" else "YES"))
    ],
)


async def run(lab: Any, tests: Any, *specs: Any) -> list[Any]:
    builder = lab.builder(*specs, tests=tests)
    task = builder.resolved.suite.tasks[0].task
    return [await lab.perturb(builder, test, task, lab.items) for test in builder.resolved.tests]


def why(made: Any) -> list[str]:
    return [draft.reason if isinstance(draft, Skip) else rejection for _, draft, rejection in made.outcomes]


async def test_a_chain_is_one_condition_made_by_its_steps_in_turn(lab: Any) -> None:
    (made,) = await run(lab, [["upper", "twice"]], UPPER, TWICE)
    assert [case.fields["response"] for case in made.cases[:2]] == ["ANSWER 0.!", "ANSWER 0.?"]
    case = made.cases[1]
    assert (case.test, case.item_id) == ("upper+twice", "i0")
    assert (case.condition.family, case.condition.variant) == ("upper+twice", "loud+?")
    assert case.expectation == Same()
    assert (case.provenance.component, case.provenance.version) == ("acme/upper + acme/twice", "1.0 + 1.0")
    assert [step["variant"] for step in case.provenance.details["steps"]] == ["loud", "?"]


async def test_every_draft_of_a_step_goes_through_the_next(lab: Any) -> None:
    (made,) = await run(lab, [["twice", "upper"]], UPPER, TWICE)
    assert [case.fields["response"] for case in made.cases[:2]] == ["ANSWER 0.!", "ANSWER 0.?"]
    assert len(made.cases) == 8


async def test_a_step_sees_the_label_that_is_right_after_the_step_before(lab: Any) -> None:
    (made,) = await run(lab, [["flip", "flip", "upper"]], UPPER, FLIP)
    assert [case.expectation for case in made.cases] == [
        Equals(label="NO"),
        Equals(label="YES"),
        Equals(label="NO"),
        Equals(label="YES"),
    ]
    assert [case.gold for case in made.cases] == ["NO", "YES", "NO", "YES"]
    assert made.cases[0].fields["response"] == "NOT NOT ANSWER 0."


async def test_what_a_step_cannot_treat_is_skipped_with_its_name(lab: Any) -> None:
    some = perturber("some", lambda item: [Skip(reason="too odd")] if item.id in ("i1", "i3+loud") else [Draft()])
    first, second = await run(lab, [["some", "upper"], ["upper", "some"]], UPPER, some)
    assert why(first) == ["", "some: too odd", "", ""]
    assert why(second) == ["", "", "", "some: too odd"]


async def test_the_validators_of_a_step_see_what_it_was_shown_and_those_of_the_chain_see_both_ends(lab: Any) -> None:
    seen: dict[str, list[tuple[str, str]]] = {"step": [], "whole": []}

    def watch(where: str) -> Any:
        def say(item: Item, draft: Draft) -> Validation:
            seen[where].append((text(item), str(draft.fields["response"])))
            return Validation(accepted=not (where == "step" and "0" in text(item)), reason="no noughts")

        return say

    tests = [{"chain": ["upper", {"twice": {"validate": ["step"]}}], "validate": ["whole"]}]
    (made,) = await run(lab, tests, UPPER, TWICE, validator("step", watch("step")), validator("whole", watch("whole")))
    assert seen["step"][0] == ("ANSWER 0.", "ANSWER 0.!")
    assert seen["whole"][0] == ("answer 1.", "ANSWER 1.!")
    assert why(made)[:3] == ["twice: step: no noughts", "twice: step: no noughts", ""]
    assert len(made.cases) == 6


async def test_a_perturber_of_sets_may_be_a_step_and_the_order_is_that_of_the_items(lab: Any) -> None:
    sets = perturber("sets", lambda item: [Draft(variant="s", fields={"response": text(item) + "s"})], scope=Scope.SET)
    first, second = await run(lab, [["sets", "twice"], ["twice", "sets"]], sets, TWICE)
    assert [case.item_id for case in first.cases] == [f"i{n}" for n in range(4) for _ in range(2)]
    assert [case.fields["response"] for case in second.cases[:2]] == ["answer 0.!s", "answer 0.?s"]


async def test_steps_that_cannot_be_combined_are_rejections_that_say_why(lab: Any) -> None:
    up = perturber("up", lambda item: [Draft(expectation=NotBelow(), fields={"response": "up"})])
    down = perturber("down", lambda item: [Draft(expectation=NotAbove(), fields={"response": "down"})])
    ask = perturber("ask", lambda item: [Draft(prompt=Prompt(name="p", user="{{ response }}"))])
    first, second = await run(lab, [["up", "down"], ["ask", {"ask": {"name": "again"}}]], up, down, ask)
    assert set(why(first)) == {"down: jrh: no verdict can be expected after no fall and then no rise"}
    assert set(why(second)) == {"again: jrh: two steps change the prompt template"}
    assert not first.cases
    assert not second.cases


async def test_a_crossing_is_a_test_for_every_combination_over_the_same_sample(lab: Any) -> None:
    tests = [{"cross": ["upper", ["twice", "flip"]], "sample": {"n": 2, "seed": 4}, "repeats": 3}]
    builder = lab.builder(UPPER, TWICE, FLIP, tests=tests)
    names = ["crossed.upper", "crossed.twice+flip", "crossed.upper+twice+flip"]
    assert [test.use.name for test in builder.resolved.tests] == names
    made = await run(lab, tests, UPPER, TWICE, FLIP)
    items = [{case.item_id for case in each.cases} for each in made]
    assert items[0] == items[1] == items[2]
    assert len(items[0]) == 2
    assert [len(each.cases) for each in made] == [2, 4, 4]
    assert {case.repeats for each in made for case in each.cases} == {3}
    assert [why(each).count(stage.OUTSIDE) for each in made] == [2, 2, 2]


async def test_a_sample_of_more_items_than_there_are_takes_all(lab: Any) -> None:
    (made,) = await run(lab, [{"upper": {"sample": {"n": 99}}}], UPPER)
    assert len(made.cases) == len(lab.items)


def test_steps_sample_and_mismatch_are_part_of_what_cases_depend_on(lab: Any) -> None:
    variations: list[Any] = [
        ["upper", "twice"],
        ["twice", "upper"],
        {"chain": ["upper", "twice"], "sample": {"n": 2}},
        {"chain": ["upper", {"twice": {"on_mismatch": "keep"}}]},
        {"chain": ["upper", "twice"], "repeats": 2},
    ]
    digests = set()
    for variation in variations:
        builder = lab.builder(UPPER, TWICE, tests=[variation])
        (test,) = builder.resolved.tests
        digests.add(stage_digest(builder, test, builder.resolved.suite.tasks[0].task, content_id("items")))
    assert len(digests) == len(variations)


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([["upper"]], "a chain is a list of at least two perturbers"),
        ([{"chain": "upper"}], "a chain is a list of at least two perturbers"),
        ([{"cross": ["upper"]}], "a crossing is a list of two to 5 factors"),
        ([{"cross": ["upper"] * 6}], "a crossing is a list of two to 5 factors, such as [paraphrase, format], got 6"),
        ([{"cross": "upper"}], "a crossing is a list of two to 5 factors"),
        ([["upper", "uper"]], "Did you mean 'upper'"),
        ([["upper", {"twice": {"repeats": 2}}]], "`repeats` belongs to the whole chain or crossing"),
        ([["upper", {"twice": {"sample": {"n": 2}}}]], "`sample` belongs to the whole chain or crossing"),
        ([{"chain": ["upper", "twice"], "repeat": 2}], "Did you mean 'repeats'"),
        ([{"cross": ["upper", "upper"]}], "two tests are named 'crossed.upper'"),
        ([["upper", "twice"], ["upper", "twice"]], "two tests are named 'upper+twice'"),
        ([["pairs", "upper"]], "'pairs' fits no task"),
    ],
)
def test_a_chain_that_is_none_is_one_clear_message(lab: Any, tests: Any, message: str) -> None:
    pairs = perturber("pairs", lambda item: [], modes=frozenset({Mode.PAIRWISE}))
    with pytest.raises(SuiteError) as caught:
        lab.resolve(UPPER, TWICE, pairs, tests=tests)
    assert message in str(caught.value)
    assert len(caught.value.problems) == len({str(problem) for problem in caught.value.problems})


@loop_over(
    ("first", "then", "both"),
    [
        (Same(), Same(), Same()),
        (Same(), NotAbove(), NotAbove()),
        (NotAbove(), Same(), NotAbove()),
        (NotAbove(), NotAbove(), NotAbove()),
        (NotBelow(), NotBelow(), NotBelow()),
        (Changes(), Same(), Changes()),
        (Same(), Changes(), Changes()),
        (Equals(label="NO"), Same(), Equals(label="NO")),
        (Equals(label="NO"), Equals(label="YES"), Equals(label="YES")),
        (Changes(), Equals(label="YES"), Equals(label="YES")),
        (None, Equals(label="YES"), Equals(label="YES")),
        (None, Same(), None),
        (Same(), None, None),
        (NotAbove(), None, None),
    ],
)
def test_the_expectation_of_two_steps_follows_from_theirs(first: Any, then: Any, both: Any) -> None:
    assert combine_expectations(first, then) == both


@loop_over(
    ("first", "then"),
    [
        (Changes(), Changes()),
        (NotAbove(), NotBelow()),
        (NotBelow(), NotAbove()),
        (Changes(), NotAbove()),
        (Equals(label="NO"), NotAbove()),
        (Equals(label="NO"), Changes()),
    ],
)
def test_where_nothing_follows_there_is_no_case(first: Any, then: Any) -> None:
    with pytest.raises(ConflictError):
        combine_expectations(first, then)


def test_names_of_labels_lead_back_through_both_steps() -> None:
    swap = Draft(label_map={"A": "B", "B": "A"}, option_order="BA")
    letters = Draft(label_map={"1": "A", "2": "B"}, polarity=Polarity.INVERTED)
    both = combine(swap, letters)
    assert both.label_map == {"1": "B", "2": "A"}
    assert (both.option_order, both.polarity) == ("BA", Polarity.INVERTED)
    assert combine(evolve(swap, option_order=""), swap).label_map == {"A": "A", "B": "B"}
    with pytest.raises(ConflictError, match="option order"):
        combine(swap, swap)
    with pytest.raises(ConflictError, match="other names"):
        combine(letters, swap)


def test_two_inversions_ask_for_the_quality_again() -> None:
    inverted = Draft(polarity=Polarity.INVERTED)
    assert combine(inverted, inverted).polarity is Polarity.POSITIVE


def test_sampling_repeats_strength_and_models_add_up() -> None:
    first = Draft(strength=2.0, sampling=Sampling(temperature=0.2, top_p=0.5), repeats=5, model="a", variant="x")
    then = Draft(strength=1.0, sampling=Sampling(temperature=0.9), vary_seed=True, model="b")
    both = combine(first, then)
    assert (both.strength, both.repeats, both.vary_seed, both.model, both.variant) == (3.0, 5, True, "a, b", "x")
    assert both.sampling == Sampling(temperature=0.9, top_p=0.5)


def test_only_one_step_may_change_the_task(lab: Any) -> None:
    task = lab.resolve().suite.tasks[0].task
    other = Draft(task=evolve(task, rubric="other"))
    assert combine(Draft(), other).task == combine(other, Draft()).task == other.task
    with pytest.raises(ConflictError, match="the scale, the rubric or the instruction"):
        combine(other, Draft(task=Task(name="lab", scale=task.scale)))
