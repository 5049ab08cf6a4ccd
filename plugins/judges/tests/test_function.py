"""Call a Python callable as a judge."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import jrh_judges.plugin
import pytest
from jrh import JrhError, Question, Scale, Status, Task
from jrh_testing import build

TASK = Task(name="facts", instruction="Right?", rubric="r", scale=Scale.of_labels("YES", "NO"))
QUESTION = Question(
    trial_id="t", task=TASK, fields={"request": "?", "response": "x", "turns": ({"a": 1},)}, occasion=2, seed=5
)

OWN = """\
import asyncio, time
from jrh import Judgement, Status, Verdict

seen = []
calls = []

def plain(question):
    seen.append(question)
    return "NO"

async def later(question):
    await asyncio.sleep(0)
    return {"label": "YES", "rationale": question["fields"]["response"]}

class Judge:
    def __call__(self, question):
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES"))

    async def method(self, question):
        return "NO"

instance = Judge()

def hangs(question):
    time.sleep(30)

async def hangs_politely(question):
    await asyncio.sleep(30)

def fails(question):
    raise KeyError("response")

def exits(question):
    raise SystemExit(3)

def stops(question):
    raise StopIteration

def late_itself(question):
    raise TimeoutError

def second_time_lucky(question):
    calls.append(1)
    if len(calls) % 2:
        raise OSError("busy")
    return "YES"

def changes_its_question(question):
    question["labels"].clear()
    question["fields"].clear()
    return "YES"

number = 3
"""


@pytest.fixture
def judge(tmp_path):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")

    def make(name, **options):
        return build(
            jrh_judges.plugin, "function", options={"function": f"own.py:{name}", **options}, task=TASK, base=tmp_path
        )

    return make


async def test_it_is_told_task_labels_fields_and_repeat_and_not_the_condition(judge, tmp_path):
    one = judge("plain")

    judgement = await one.judge(QUESTION)

    own = next(
        module for module in sys.modules.values() if getattr(module, "__file__", None) == str(tmp_path / "own.py")
    )
    assert judgement.verdict.presented == "NO"
    assert own.seen == [
        {
            "task": {"name": "facts", "instruction": "Right?", "rubric": "r", "mode": "pointwise", "scale": "labels"},
            "labels": ["YES", "NO"],
            "fields": {"request": "?", "response": "x", "turns": [{"a": 1}]},
            "repeat": 2,
            "seed": 5,
            "sampling": {},
        }
    ]


@pytest.mark.parametrize(("name", "label"), [("later", "YES"), ("instance", "YES"), ("instance.method", "NO")])
async def test_callables_of_every_kind_judge(judge, name, label):
    assert (await judge(name).judge(QUESTION)).verdict.presented == label


@pytest.mark.parametrize("name", ["hangs", "hangs_politely"])
async def test_a_call_that_does_not_return_is_a_timeout(judge, name):
    started = time.monotonic()

    judgement = await judge(name, timeout=0.05).judge(QUESTION)

    assert judgement.verdict.status is Status.TIMEOUT
    assert judgement.verdict.detail == "no answer within 0.05 s"
    assert time.monotonic() - started < 20  # it would return after thirty seconds


@pytest.mark.parametrize(
    ("name", "status", "detail"),
    [
        ("fails", Status.PROVIDER_ERROR, "the judge raised KeyError: 'response'"),
        ("exits", Status.PROVIDER_ERROR, "the judge raised RuntimeError: SystemExit: 3"),
        ("stops", Status.PROVIDER_ERROR, "the judge raised"),
        ("late_itself", Status.TIMEOUT, "reported a timeout"),
    ],
)
async def test_what_it_raises_is_a_status(judge, name, status, detail):
    judgement = await judge(name).judge(QUESTION)

    assert judgement.verdict.status is status
    assert detail in judgement.verdict.detail
    assert judgement.reply is not None
    assert judgement.reply.attempts == 1


async def test_it_is_asked_again_only_where_the_suite_says_so(judge):
    once = await judge("second_time_lucky").judge(QUESTION)
    again = await judge("second_time_lucky", attempts=3, wait=0, cost=0.5).judge(QUESTION)

    assert once.verdict.status is Status.PROVIDER_ERROR
    assert again.verdict.presented == "YES"
    assert again.reply is not None
    assert (again.reply.attempts, again.reply.cost) == (1, 0.5)  # the call before it had failed already

    third = await judge("second_time_lucky", attempts=3, wait=0, cost=0.5).judge(QUESTION)
    assert third.reply is not None
    assert (third.reply.attempts, third.reply.cost) == (2, 1.0)


async def test_cost_is_unknown_unless_the_suite_states_it(judge):
    reply = (await judge("plain").judge(QUESTION)).reply

    assert reply is not None
    assert reply.cost is None
    assert reply.fingerprint == "function/own.py:plain"


async def test_a_judge_that_changes_its_question_changes_nobody_elses(judge):
    one = judge("changes_its_question")

    assert [(await one.judge(QUESTION)).verdict.presented for _ in range(2)] == ["YES", "YES"]
    assert QUESTION.fields["response"] == "x"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own.py:nothing", "AttributeError: .* has no attribute 'nothing'"),
        ("own.py:number", "not callable .type int"),
        ("gone.py:judge", "not found"),
        ("no_such_module_9:judge", "ModuleNotFoundError"),
        ("broken.py:judge", "cannot be loaded: ZeroDivisionError"),
    ],
)
def test_a_callable_that_cannot_be_used_is_an_error_when_the_judge_is_built(judge, tmp_path, name, message):
    (tmp_path / "broken.py").write_text("1 / 0", encoding="utf-8")
    judge("plain")

    with pytest.raises(JrhError, match=message):
        build(jrh_judges.plugin, "function", options={"function": name}, task=TASK, base=tmp_path)


def test_a_name_without_a_callable_is_an_error(tmp_path):
    with pytest.raises((JrhError, ValueError)):
        build(jrh_judges.plugin, "function", options={"function": "own"}, task=TASK, base=tmp_path)


def test_a_call_that_never_returns_does_not_keep_the_program_from_ending(tmp_path):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "main.py").write_text(
        textwrap.dedent("""
            import asyncio, pathlib
            import jrh_judges.plugin
            from jrh import Question, Scale, Task
            from jrh_testing import build
            task = Task(name="t", scale=Scale.of_labels("YES", "NO"))
            judge = build(jrh_judges.plugin, "function", options={"function": "own.py:hangs", "timeout": 0.05},
                          task=task, base=pathlib.Path(__file__).parent)
            question = Question(trial_id="t", task=task, fields={"response": "x"})
            print(asyncio.run(judge.judge(question)).verdict.status.value)
        """),
        encoding="utf-8",
    )

    done = subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, timeout=28, check=False
    )

    assert (done.stdout, done.returncode) == ("timeout\n", 0), done.stderr
