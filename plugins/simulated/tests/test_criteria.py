"""Planted defects of judges that read criteria: each comes out at its closed form, and no other condition moves."""

from __future__ import annotations

import json

import pytest
from attrs import evolve
from jrh import Question, Scale, ScaleKind, Status, Task
from jrh.values import Condition, Criteria, Criterion, Truth
from jrh_simulated.judge import PlantedJudge
from jrh_simulated.options import JudgeOptions
from jrh_testing import FakeContext

N = 1500
NAMES = ("a", "b", "c", "d")
SCALE = Scale(kind=ScaleKind.LABELS, labels=("met", "unmet", "n/a"), positive="met")
TASK = Task(
    name="t",
    scale=SCALE,
    criteria=Criteria(
        name="t",
        entries=tuple(Criterion(id=name, text=f"Says {name}.") for name in NAMES),
        per_call=0,
        not_applicable="n/a",
    ),
)
OTHER = {"met": "unmet", "unmet": "met", "n/a": "n/a"}


def judge(seed=1, task=TASK, **options):
    return PlantedJudge.build(JudgeOptions(**options), FakeContext(name="s", task=task, run_seed=seed))


def gold_of(number, name):
    return ("met", "unmet")[(number + NAMES.index(name)) % 2]


def fields(number, name, *, order=NAMES, text="Says {}.", response="A B C D"):
    together = {each: text.format(each) for each in order}
    shown = {"criteria": json.dumps(together)} if len(order) > 1 else {}
    response = f"{number} {response}"
    return {"request": "?", "response": response, "criterion": {"id": name, "text": text.format(name)}, **shown}


def ask(asked, number, name, *, gold=None, changes=False, label_map=None, occasion=0, task=TASK, **shown):
    """Return the verdict and its canonical label."""
    gold = gold or gold_of(number, name)
    label_map = label_map or task.scale.identity_map()
    now = fields(number, name, **shown)
    truth = Truth(
        item_id=f"{number}#{name}",
        gold=gold,
        expected=None if changes else next(shown for shown, meant in label_map.items() if meant == gold),
        changes=changes,
        condition=Condition(),
        label_map=label_map,
        reference_fields=fields(number, name),
    )
    seed = hash((number, NAMES.index(name), occasion)) & 0xFFFF
    question = Question(trial_id="1", task=task.presented(now), fields=now, occasion=occasion, seed=seed)
    verdict = asked.answer(question, truth).verdict
    return verdict.status, label_map.get(verdict.presented or "")


def share(event):
    """Return how many of the verdicts on all criteria of N / 4 responses an event is true of."""
    return sum(event(number, name) for number in range(N // 4) for name in NAMES)


@pytest.mark.parametrize("text", ["", "The opposite: says {}."])
def test_a_judge_without_defect_answers_otherwise_where_the_right_answer_changes(text):
    """It gave the gold label under every rubric, and so was told to ignore its rubric."""
    for number in range(20):
        assert ask(judge(), number, "a", changes=True, text=text)[1] == OTHER[gold_of(number, "a")]
        assert ask(judge(), number, "a", gold="n/a", changes=True, text=text)[1] in ("met", "unmet")
        assert ask(judge(), number, "a", text=text)[1] == gold_of(number, "a")


def test_the_rubric_is_ignored_on_the_planted_share_whatever_is_changed_in_it(near):
    planted = judge(ignores_rubric=0.7)
    negated = {"text": "It is not so that it says {}.", "label_map": OTHER}
    stayed = share(lambda number, name: ask(planted, number, name, changes=True, text="")[1] == gold_of(number, name))
    assert near(stayed, N, 0.7)
    moved = share(lambda number, name: ask(planted, number, name, **negated)[1] != gold_of(number, name))
    assert near(moved, N, 0.7)
    assert share(lambda number, name: ask(planted, number, name, order=NAMES[::-1])[1] == gold_of(number, name)) == N


def test_a_plain_rubric_is_ignored_too():
    task = Task(name="t", scale=Scale.of_labels("YES", "NO"), rubric="YES: it is short.")
    texts = {"response": "x"}
    truth = Truth(
        item_id="1",
        gold="YES",
        expected=None,
        changes=True,
        condition=Condition(),
        label_map=task.scale.identity_map(),
        reference_fields=texts,
    )
    question = Question(trial_id="1", task=evolve(task, rubric=""), fields=texts)
    said = [judge(task=task, ignores_rubric=rate).answer(question, truth).verdict.presented for rate in (0, 1)]
    assert said == ["NO", "YES"]


def test_halo_moves_half_of_its_share_where_words_of_the_response_are_cut(near):
    planted = judge(halo=0.6)
    moved = share(lambda number, name: ask(planted, number, name)[1] != ask(planted, number, name, response="A B C")[1])
    # Impressions are of responses: the variance is up to four times that of single verdicts.
    assert abs(moved / N - 0.3) < 8 * (0.3 * 0.7 / N) ** 0.5
    assert share(lambda n, name: ask(planted, n, name) != ask(planted, n, name, response="A B C D and more")) == 0
    right = share(lambda number, name: ask(planted, number, name)[1] == gold_of(number, name))
    assert near(right, N, 1 - 0.6 / 2)


@pytest.mark.parametrize("length", [4, 3])
def test_fatigue_costs_the_second_half_of_a_call_and_never_the_middle(near, length):
    planted = judge(batch_fatigue=0.4)
    order = NAMES[:length]
    right = {name: sum(ask(planted, n, name, order=order)[1] == gold_of(n, name) for n in range(N)) for name in order}
    late = order[(length + 1) // 2 :]
    assert all(near(count, N, 0.6 if name in late else 1.0) for name, count in right.items())
    assert all(ask(planted, n, "d", order=("d",))[1] == gold_of(n, "d") for n in range(50))


def test_a_dropped_criterion_is_unparsable_and_an_invented_one_costs_the_whole_call(near):
    drops, invents = judge(drops_criteria=0.2), judge(invents_criteria=0.3)
    assert near(share(lambda *at: ask(drops, *at)[0] is Status.UNPARSABLE), N, 0.2)
    calls = [{ask(invents, number, name)[0] for name in NAMES} for number in range(N)]
    assert all(len(each) == 1 for each in calls)
    assert near(sum(each == {Status.OFF_SCALE} for each in calls), N, 0.3)
    again = [ask(invents, number, "a", occasion=1)[0] for number in range(N)]
    assert near(sum({one} != first for one, first in zip(again, calls, strict=True)), N, 2 * 0.3 * 0.7)
    for planted in (drops, invents):
        assert {ask(planted, number, "a", order=("a",))[0] for number in range(50)} == {Status.OK}


def test_levels_take_the_ends_of_the_scale_for_an_impression():
    task = evolve(TASK, scale=Scale.of_levels(0, 4), criteria=evolve(TASK.criteria, not_applicable=""))
    planted = judge(task=task, halo=1.0)
    assert {ask(planted, number, "a", gold="2", task=task)[1] for number in range(40)} == {"0", "4"}
    assert ask(planted, 1, "a", gold="2", task=task, response="A")[1] == "0"
