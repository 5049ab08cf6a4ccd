"""What single judgements look like, what is stable, and what is refused."""

from __future__ import annotations

import asyncio
import time

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jrh import JrhError, Polarity, Question, Scale, Status, Task
from jrh.values import Condition, Truth
from jrh_simulated.judge import PlantedJudge
from jrh_simulated.options import ErrorKind, JudgeOptions
from jrh_testing import FakeContext, loop_over, sample_items, sample_question, sample_task, sample_tasks, sample_truth

rates = st.floats(0, 1, allow_nan=False)
signed = st.floats(-1, 1, allow_nan=False)


@given(
    options=st.builds(
        JudgeOptions,
        accuracy=rates,
        error=st.sampled_from(ErrorKind),
        position_preference=signed,
        length_preference=signed,
        format_sensitivity=rates,
        meaning_blindness=rates,
        polarity_blindness=rates,
    ),
    task=st.sampled_from(sample_tasks()),
    polarity=st.sampled_from(Polarity),
    text=st.text(max_size=20),
    occasions=st.tuples(st.integers(0, 5), st.integers(0, 5)),
)
def test_without_rerun_noise_the_answer_follows_from_what_is_presented(options, task, polarity, text, occasions):
    judge = PlantedJudge.build(options, FakeContext(name="sim", task=task))
    item = sample_items(task)[0]
    truth = evolve(sample_truth(task, item), condition=Condition(polarity=polarity))
    fields = {**item.fields, **dict.fromkeys(task.mode.judged_fields, text)}
    labels = []
    for occasion in occasions:
        question = evolve(sample_question(task, item, occasion=occasion), fields=fields)
        labels.append(judge.answer(question, truth).verdict.presented)
    assert labels[0] == labels[1]
    assert labels[0] in task.scale


def test_the_same_question_is_answered_alike_also_with_noise_and_losses(bench):
    judge = bench(accuracy=0.5, rerun_noise=0.5, refusals=0.3)
    posed = [judge.pose(item, "YES") for item in range(50)]
    first = [judge.judge.answer(*pair) for pair in posed]
    assert first == [judge.judge.answer(*pair) for pair in reversed(posed)][::-1]


def test_trials_without_a_seed_of_their_own_are_told_apart_by_the_occasion(bench):
    judge = bench(rerun_noise=1.0)
    question, truth = judge.pose(1, "YES")
    answers = [
        judge.judge.answer(evolve(question, seed=0, occasion=occasion), truth).verdict.presented
        for occasion in range(30)
    ]
    assert set(answers) == {"YES", "NO"}


def test_a_wider_presented_scale_is_answered_in_its_own_labels():
    task = Task(name="t", scale=Scale.of_levels(1, 3))
    shown = evolve(task, scale=Scale.of_levels(1, 6))
    question = Question(trial_id="1", task=shown, fields={"response": "x"})
    truth = Truth(
        item_id="1",
        gold="2",
        expected="4",
        condition=Condition(),
        label_map={"1": "1", "2": "1", "3": "2", "4": "2", "5": "3", "6": "3"},
        reference_fields={"response": "x"},
    )
    right = PlantedJudge.build(JudgeOptions(), FakeContext(name="s", task=task))
    wrong = PlantedJudge.build(JudgeOptions(accuracy=0.0), FakeContext(name="s", task=task))
    assert right.answer(question, truth).verdict.presented == "4"
    assert wrong.answer(question, truth).verdict.presented in {"1", "5"}


def test_every_answer_says_that_it_is_simulated_and_why(bench):
    question, truth = bench().pose(1, "YES")
    judgement = bench(position_preference=-1.0, cost=0.25).judge.answer(question, truth)
    assert judgement.verdict.rationale == "[simulated] position preference; so the answer is NO."
    assert judgement.reply.text == "[simulated] NO"
    assert judgement.reply.cost == 0.25
    assert bench().judge.answer(question, truth).reply.cost == 0.0


@pytest.mark.parametrize(
    ("option", "verdict", "reply"),
    [
        ("refusals", Status.REFUSED, (Status.REFUSED, 0.5, 0.01)),
        ("unparsable", Status.UNPARSABLE, (Status.OK, 0.5, 0.01)),
        ("off_scale", Status.OFF_SCALE, (Status.OK, 0.5, 0.01)),
        ("truncated", Status.TRUNCATED, (Status.TRUNCATED, 0.5, 0.01)),
        ("abstentions", Status.ABSTAINED, (Status.OK, 0.5, 0.01)),
        ("timeouts", Status.TIMEOUT, (Status.TIMEOUT, 0.0, None)),
        ("provider_errors", Status.PROVIDER_ERROR, (Status.PROVIDER_ERROR, 0.0, None)),
    ],
)
def test_a_missing_verdict_is_a_status_without_a_label(bench, option, verdict, reply):
    judge = bench(cost=0.5, latency=0.01, **{option: 1.0})
    judgement = judge.judge.answer(*judge.pose(1, "YES"))
    assert judgement.verdict.status is verdict
    assert judgement.verdict.presented is None
    assert judgement.verdict.detail.startswith("[simulated]")
    assert (judgement.reply.status, judgement.reply.cost, judgement.reply.latency) == reply


async def test_latency_is_waited_by_all_questions_at_once_and_jitter_stays_in_its_range(bench):
    judge = bench(latency=0.05, jitter=0.05)
    begin = time.perf_counter()
    judgements = await asyncio.gather(*(judge.judge.judge(*judge.pose(item, "YES")) for item in range(40)))
    took = time.perf_counter() - begin
    latencies = [judgement.reply.latency for judgement in judgements]
    assert took >= max(latencies) * 0.99
    assert took < sum(latencies) / 2
    assert all(0.05 <= latency < 0.10 for latency in latencies)
    assert len(set(latencies)) == 40


def test_accuracy_for_a_label_off_the_scale_is_an_error_that_names_the_scale(bench):
    with pytest.raises(JrhError, match=r"'MAYBE', which the scale of task 't' does not have; its labels are YES, NO"):
        bench(accuracy={"MAYBE": 0.5})


@loop_over(
    ("options", "message"),
    [
        ({"accuracy": 1.2}, "'accuracy' must be between 0 and 1"),
        ({"accuracy": {"YES": -0.1}}, "'accuracy' must be between 0 and 1"),
        ({"accuracy": float("nan")}, "'accuracy' must be between 0 and 1"),
        ({"position_preference": -1.5}, "'position_preference' must be >= -1"),
        ({"latency": float("inf")}, "'latency' must be a finite number"),
        ({"refusals": 0.6, "timeouts": 0.6}, "sum to 1.2; the maximum is 1"),
    ],
)
def test_rates_that_are_no_probabilities_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        JudgeOptions(**options)


def test_transcripts_are_compared_by_the_text_in_them():
    task = sample_task(mode=sample_tasks()[-1].mode)
    judge = PlantedJudge.build(JudgeOptions(format_sensitivity=1.0), FakeContext(name="s", task=task))
    item = sample_items(task)[0]
    truth = sample_truth(task, item)
    messages = item.fields["transcript"]
    spaced = tuple({**message, "content": message["content"].replace(" ", "\n")} for message in messages)
    changed = tuple({**message, "content": message["content"] + " No!"} for message in messages)
    question = sample_question(task, item)
    presented = [
        judge.answer(evolve(question, fields={**item.fields, "transcript": text}), truth).verdict.presented
        for text in (messages, spaced, changed)
    ]
    assert presented == ["YES", "NO", "YES"]
