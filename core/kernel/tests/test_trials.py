"""Which trials there are, and which of them put the identical question."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jrh.plugins.specs import JudgeSpec
from jrh.running.schedule import (
    AskedCase,
    TrialPlanner,
    folds_of,
    judge_identity,
    question_id,
    seed_of,
    trial_id,
)
from jrh.running.stages.cases_of_drafts import reference_cases
from jrh.store.temporary import Spool
from jrh.suite.definition import JudgeUse
from jrh.suite.resolved import Resolved
from jrh.values.cases import Case, Condition, Prompt, Sampling
from jrh.values.items import Mode
from jrh_testing import loop_over, sample_items, sample_task

TASK = sample_task()
REFERENCES = reference_cases(TASK, sample_items(TASK), 2)
PROMPT = Prompt(name="terse", user="{{ response }}?")


def judge(lab: Any, name: str = "fixed", **spec: Any) -> Resolved[JudgeSpec]:
    declared = JudgeSpec(name=name, summary="", factory=lambda options, context: None, **spec)  # type: ignore[arg-type,return-value]
    return Resolved(use=JudgeUse(name=name, component=name), entry=lab.entry(declared), options=None)


def again(case: Case, test: str = "stochastic", repeats: int = 3, **changes: Any) -> Case:
    """Put the same question under another test's name."""
    return evolve(case, id=f"{test}-{case.id}", test=test, repeats=repeats, condition=Condition(family=test), **changes)


def plan(lab: Any, cases: list[Case], **spec: Any) -> list[tuple[str, int, int]]:
    rows = TrialPlanner([(judge(lab, **spec), "id")], {TASK.name: TASK}).trials(cases)
    return [(row.case_id, row.repeat, row.occasion) for row in rows]


def test_the_plan_goes_case_by_case_judge_by_judge_repeat_by_repeat(lab: Any) -> None:
    one, two = REFERENCES[:2]
    judges = [(judge(lab, "a"), "id-a"), (judge(lab, "b"), "id-b")]
    rows = list(TrialPlanner(judges, {TASK.name: TASK}).trials([one, two]))
    assert [(row[0], row[2], row[3], row[4]) for row in rows] == [
        (0, one.id, "a", 0),
        (1, one.id, "a", 1),
        (2, one.id, "b", 0),
        (3, one.id, "b", 1),
        (4, two.id, "a", 0),
        (5, two.id, "a", 1),
        (6, two.id, "b", 0),
        (7, two.id, "b", 1),
    ]
    assert len({row[1] for row in rows}) == 8


def test_repeats_of_the_identical_question_do_not_share_the_references_occasions(lab: Any) -> None:
    case = REFERENCES[0]
    repeated = again(case)
    assert plan(lab, [case, repeated]) == [
        (case.id, 0, 0),
        (case.id, 1, 1),
        (repeated.id, 0, 2),
        (repeated.id, 1, 3),
        (repeated.id, 2, 4),
    ]


def test_a_repeat_that_is_added_later_takes_no_occasion_of_another_test(lab: Any) -> None:
    case, copy = REFERENCES[0], evolve(REFERENCES[0], id="copy", item_id="copy")  # two items with the same content
    judges = [(judge(lab), "id")]
    first = list(TrialPlanner(judges, {TASK.name: TASK}).trials([case, copy, again(case)]))
    assert [row.occasion for row in first] == [0, 1, 2, 3, 4, 5, 6]
    handed_out = [(row.place, row.question, row.occasion) for row in first]
    more = [evolve(each, id=f"{each.id}-3", repeats=3) for each in (case, copy)]  # the number is part of a case's id
    alone = list(TrialPlanner(judges, {TASK.name: TASK}, handed_out).trials(more))
    assert [row.occasion for row in alone] == [0, 1, 7, 2, 3, 8], "not those of the test that is left out for now"
    handed_out += [(row.place, row.question, row.occasion) for row in alone]
    whole = list(TrialPlanner(judges, {TASK.name: TASK}, handed_out).trials([*more, again(case)]))
    assert [row.occasion for row in whole] == [0, 1, 7, 2, 3, 8, 4, 5, 6]


@pytest.mark.parametrize(
    "changes",
    [{"sampling": Sampling(temperature=0.7)}, {"vary_seed": True}, {"sampling": Sampling(max_tokens=9)}],
)
def test_a_setting_that_may_be_the_models_own_does_not_make_another_question(lab: Any, changes: Any) -> None:
    # The model's own temperature may be the very one that the test names: then the requests are identical.
    case = REFERENCES[0]
    occasions = [occasion for *_, occasion in plan(lab, [case, again(case, **changes)])]
    assert occasions == [0, 1, 2, 3, 4]


def test_every_judge_has_occasions_of_its_own(lab: Any) -> None:
    case = REFERENCES[0]
    rows = list(TrialPlanner([(judge(lab, "a"), "id-a"), (judge(lab, "b"), "id-b")], {TASK.name: TASK}).trials([case]))
    assert [row[5] for row in rows] == [0, 1, 0, 1]


@loop_over(
    "changes",
    [
        {"fields": {"request": "?", "response": "another"}},
        {"prompt": PROMPT},
        {"presented_task": evolve(TASK, rubric="Be strict.")},
        {"task": "another task"},
    ],
)
def test_what_the_judge_sees_makes_another_question(changes: Any) -> None:
    case = REFERENCES[0]
    assert question_id(evolve(case, **changes)) != question_id(case)


def test_what_no_judge_sees_makes_no_other_question() -> None:
    case = REFERENCES[0]
    hidden = evolve(
        case, id="x", item_id="x", test="x", gold="NO", stratum="x", group="x", condition=Condition(strength=1)
    )
    assert question_id(hidden) == question_id(case)


def test_a_trials_id_follows_from_case_judge_and_repeat() -> None:
    ids = {trial_id(case, judge_id, repeat) for case in ("a", "b") for judge_id in ("c", "d") for repeat in range(3)}
    assert len(ids) == 12
    assert trial_id("a", "c", 0) == trial_id("a", "c", 0)
    assert {len(each) for each in ids} == {32}


def test_a_trials_seed_is_one_every_library_accepts() -> None:
    seeds = [seed_of(trial_id("case", "judge", repeat)) for repeat in range(2000)]
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == 2000
    assert 0.45 < sum(seed > 2**30 for seed in seeds) / 2000 < 0.55


@pytest.mark.parametrize(
    ("changes", "blind", "reading"),
    [
        ({}, True, True),
        ({"fields": {"response": "changed"}}, True, True),
        ({"prompt": PROMPT}, False, True),
        ({"presented_task": evolve(TASK, rubric="x")}, False, True),
        ({"sampling": Sampling(temperature=1.0)}, False, True),
        ({"vary_seed": True}, True, True),
    ],
)
def test_a_judge_that_reads_no_prompt_is_not_asked_about_prompts(
    lab: Any, changes: Any, blind: bool, reading: bool
) -> None:
    case = again(REFERENCES[0], **changes)
    assert bool(plan(lab, [case], reads_prompt=False)) is blind
    assert bool(plan(lab, [case], reads_prompt=True)) is reading


def test_a_judge_is_asked_only_about_tasks_it_is_made_for(lab: Any) -> None:
    pairs_only = judge(lab, modes=frozenset({Mode.PAIRWISE}))
    assert list(TrialPlanner([(pairs_only, "id")], {TASK.name: TASK}).trials(REFERENCES)) == []


def test_a_judge_is_another_one_by_make_and_training_and_by_name_if_it_draws_by_it() -> None:
    use = JudgeUse(name="j", component="c", folds=5)
    base = judge_identity(["made of"], use, "items")
    assert judge_identity(["made of"], evolve(use, name="k"), "items") == base
    named = [judge_identity(["made of"], evolve(use, name=name), "items", named=True) for name in "jk"]
    assert named[0] != named[1]
    assert judge_identity(["other"], use, "items") != base
    assert judge_identity(["made of"], use, "other items") != base
    assert judge_identity(["made of"], evolve(use, folds=3), "items") != base
    # Folds and items make no difference to a judge that is not trained.
    assert judge_identity(["made of"], evolve(use, folds=3), "") == judge_identity(["made of"], use, "")


GROUPS = st.lists(st.tuples(st.sampled_from([f"g{n}" for n in range(12)]), st.sampled_from("abc")), min_size=1)


@given(GROUPS, st.integers(2, 6))
def test_groups_are_never_parted_and_folds_are_balanced(groups: list[tuple[str, str]], folds: int) -> None:
    fold_of = folds_of(groups, folds)
    assert set(fold_of) == {group for group, _ in groups}
    sizes = Counter(fold_of.values())
    assert set(sizes) == set(range(min(folds, len(fold_of))))
    assert max(sizes.values()) - min(sizes.values()) <= 1


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(2, 6))
def test_every_label_is_spread_evenly_over_the_folds(labels: list[str], folds: int) -> None:
    groups = [(f"item {number}", label) for number, label in enumerate(labels)]
    fold_of = folds_of(groups, folds)
    for label in set(labels):
        sizes = Counter(dict.fromkeys(range(folds), 0))
        sizes.update(fold_of[group] for group, own in groups if own == label)
        assert max(sizes.values()) - min(sizes.values()) <= 1


@given(GROUPS, st.randoms(use_true_random=False), st.integers(2, 6))
def test_folds_do_not_depend_on_the_order_of_the_items(groups: list[tuple[str, str]], random: Any, folds: int) -> None:
    shuffled = list(groups)
    random.shuffle(shuffled)
    assert folds_of(shuffled, folds) == folds_of(groups, folds)


def test_folds_are_not_the_order_of_the_names() -> None:
    fold_of = folds_of([(f"item-{number:02}", "a") for number in range(20)], 2)
    assert [fold_of[f"item-{number:02}"] for number in range(20)] != [0, 1] * 10


def test_a_plan_from_what_is_kept_of_the_cases_is_that_from_the_cases(lab: Any) -> None:
    made = [evolve(case, id=f"{number:032x}") for number, case in enumerate(REFERENCES * 900)]
    made[1] = evolve(made[1], prompt=PROMPT, sampling=Sampling(seed=3), repeats=2**40)
    as_planned = [AskedCase.of(case, TASK) for case in made]
    kept = Spool(AskedCase)
    kept.add(as_planned[1:2])
    kept.clear()
    for start in range(0, len(made), 700):
        kept.add(as_planned[start : start + 700])
    assert list(kept.all()) == as_planned
    short = [evolve(case, repeats=2) for case in made[:40]]
    few = [AskedCase.of(case, TASK) for case in short]
    judges = [(judge(lab, reads_prompt=False), "id")]
    planner = TrialPlanner(judges, {TASK.name: TASK})
    assert list(planner.trials_of(few)) == list(TrialPlanner(judges, {TASK.name: TASK}).trials(short))
    assert planner.unseen["fixed"] == 1
