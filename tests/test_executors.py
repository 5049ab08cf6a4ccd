"""An executor may work on units anywhere, in any order, and lose them: the report is the same."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from jrh.running.worker import perform
from jrh_testing import Inside
from support.keys import KEY, KEY_VARIABLE
from support.looking import report
from support.suites import write_suite

pytestmark = pytest.mark.inside
ITEMS = 230
FLAGS = ("--yes", "--no-cache", "--plugins", "mine.py")
LOCAL = '''
import asyncio, random
from importlib import import_module
from attrs import field, frozen
from jrh import Draft, JudgeKind, Judgement, JudgeSpec, PerturberSpec, Same, Status, Verdict, hookimpl
from jrh.plugins import ExecutorSpec, LostUnitError


class Upper:
    async def perturb(self, item):
        if item.id == "7":
            raise ValueError("not this one")
        return [Draft(variant="upper", fields={"response": item.fields["response"].upper()}, expectation=Same())]


@frozen(kw_only=True)
class Odd:
    length: object = field(default=3, converter=lambda value: (lambda: value), metadata={"help": "a number"})


class Length:
    def judge_batch(self, questions):
        if len(questions[0].fields["response"]) == 13:
            raise ValueError("too much")
        def verdict(text):
            return Judgement(verdict=Verdict(status=Status.OK, presented="YES" if len(text) % 3 else "NO"))
        return [verdict(question.fields["response"]) for question in questions]


class Thread:
    """Loses every unit as often as it is told, and ends them in any order."""

    places = 4

    def __init__(self, losses):
        self.losses, self.lost = losses, {}

    async def open(self, job):
        module, _, name = job.runner.partition(":")
        self.perform, self.setup = getattr(import_module(module), name), job.setup

    async def run(self, unit):
        self.lost[unit.work] = self.lost.get(unit.work, 0) + 1
        await asyncio.sleep(random.random() / 50)
        if self.lost[unit.work] <= self.losses:
            raise LostUnitError("gone")
        return await asyncio.to_thread(self.perform, self.setup, unit.work)

    async def aclose(self):
        pass


@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="upper", summary="capital letters", factory=lambda: Upper())


@hookimpl
def jrh_judges():
    yield JudgeSpec(name="length", summary="by length", kind=JudgeKind.BATCH, factory=lambda: Length())
    yield JudgeSpec(name="odd", summary="odd", kind=JudgeKind.BATCH, options=Odd, factory=lambda o: Length())


@hookimpl
def jrh_executors():
    yield ExecutorSpec(name="thread", summary="loses each unit twice", factory=lambda o, c: Thread(2))
    yield ExecutorSpec(name="hopeless", summary="loses every unit", factory=lambda o, c: Thread(99))
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Inside:
    made = Inside(tmp_path_factory.mktemp("executors"))
    made.write("mine.py", LOCAL)
    rows = [
        {
            "id": str(number),
            "request": "Which?",
            "response": f"It is {number**3}.",
            "label": "YES" if number % 3 else "NO",
        }
        for number in range(ITEMS)
    ]
    made.write("items.jsonl", "\n".join(map(json.dumps, rows)))
    write(made, ["length", "baseline"])
    done = run(made, "here")
    assert done.exit_code == 3, done.output  # a plugin raised
    return made


def write(project: Inside, judges: list[Any]) -> None:
    suite = {
        "name": "spread",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
        "tests": ["upper", {"format": {"variants": ["spaces"]}}],
        "reference": {"repeats": 1},
        "resamples": 100,
        "judges": judges,
        "reports": ["json", "csv"],
    }
    write_suite(project, suite)


def run(project: Inside, run_dir: str, executor: str = "local") -> Any:
    return project.run("run", "suite.yaml", *FLAGS, "--executor", executor, "--run-dir", run_dir)


def test_units_that_are_lost_and_end_in_any_order_give_the_same_report(project: Inside) -> None:
    done = run(project, "thread", "thread")
    assert done.exit_code == 3, done.output
    assert report(project, "thread") == report(project, "here")
    lines = [json.loads(line) for line in (project.path / "thread" / "log.jsonl").read_text().splitlines()]
    lost = [line for line in lines if line["event"] == "worker lost"]
    assert len(lost) == 2 * (3 + 3 + 1 + 5)  # slices of two tests, one batch, five folds
    raised = [line for line in lines if line["event"] == "perturber raised"]  # said by the worker
    assert [line["item"] for line in raised] == ["7"]


def test_a_unit_that_is_lost_each_time_ends_the_run(project: Inside) -> None:
    done = run(project, "hopeless", "hopeless")
    assert done.exit_code == 2
    assert "executor 'hopeless': test 'upper', 100 items from '0' on: its worker was lost 5 times" in done.stderr


def test_an_option_that_cannot_be_sent_is_named(project: Inside) -> None:
    write(project, ["odd"])
    done = run(project, "odd", "thread")
    write(project, ["length", "baseline"])
    assert done.exit_code == 2
    assert "'odd' cannot be sent to other machines: " in done.stderr
    assert "Traceback" not in done.output


def test_an_unknown_executor_is_refused_with_those_there_are(project: Inside) -> None:
    done = run(project, "unknown", "slurm")
    assert done.exit_code == 2
    assert "unknown executor 'slurm'" in done.stderr


def test_ray_that_is_not_installed_is_one_sentence(project: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    done = run(project, "ray", "ray")
    assert done.exit_code == 2
    assert "the executor 'ray' needs Ray, which is not installed: pip install \"jrh[ray]\"" in done.stderr
    assert "Traceback" not in done.output


def test_nothing_pickled_is_stored(project: Inside) -> None:
    run(project, "stored", "thread")  # a directory of its own: another test counts what the log of "thread" says
    for file in Path(project.path / "stored").iterdir():
        assert b"jrh.running.units" not in file.read_bytes()


def test_no_key_is_sent_and_code_that_changed_on_its_way_does_not_run(tmp_path: Path) -> None:
    sent = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    sent.write(
        "mine.py",
        LOCAL.replace("self.perform, self.setup =", "SENT.append(job)\n        self.perform, self.setup =").replace(
            "class Thread:", "SENT = []\n\n\nclass Thread:"
        ),
    )
    sent.write("items.jsonl", json.dumps({"id": "1", "request": "?", "response": "It is.", "label": "YES"}))
    write(sent, ["length"])
    run(sent, "sent", "thread")
    module = next(
        each for name, each in sys.modules.items() if name.startswith("jrh_local_mine") and getattr(each, "SENT", 0)
    )
    job = module.SENT[0]
    assert KEY.encode() not in job.setup
    assert KEY_VARIABLE in job.secrets
    done = pickle.loads(perform(job.setup.replace(b"Loses every unit", b"loses every unit"), pickle.dumps(None)))
    assert done.failed == "the code of the local plugin 'mine.py' did not arrive as it was sent"
