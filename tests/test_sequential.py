"""`allocate: stop` and `race` in whole runs: one stopping point, however a run got there, and a report that says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jrh_testing import Inside, Project
from support.looking import query, report_bytes
from support.suites import write_suite

PLUGIN = """
import hashlib
import os
import signal
from pathlib import Path

from jrh import DataSourceSpec, Item, Judgement, JudgeSpec, Reply, Status, Verdict, hookimpl

RATES = {"good": 1.0, "fair": 0.5, "bad": 0.1}

class Facts:
    def read(self):
        for number in range(120):
            fields = {"request": "True?", "response": f"Fact {number} is known. It is so."}
            yield Item(id=f"n{number:03}", fields=fields, gold="YES", group=f"g{number // 2}")

class Judge:
    def __init__(self, name):
        self.name = name

    async def judge(self, question):
        if self.name == "good" and Path("kill").exists() and int(Path("kill").read_text()) == 0:
            Path("kill").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.name == "good" and Path("kill").exists():
            Path("kill").write_text(str(int(Path("kill").read_text()) - 1))
        text = f"{self.name} {question.fields['response']}"
        luck = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32
        reply = Reply(status=Status.OK, text="x", finish_reason="stop", cost=0.001)
        return Judgement(
            verdict=Verdict(status=Status.OK, presented="YES" if luck < RATES[self.name] else "NO"), reply=reply
        )

@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="facts", summary="", factory=lambda options, context: Facts())

@hookimpl
def jrh_judges():
    for name in RATES:
        yield JudgeSpec(name=name, summary="", factory=lambda options, context, name=name: Judge(name))
"""
SUITE: Mapping[str, Any] = {
    "name": "facts",
    "data": {"source": "facts"},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "tests": [{"format": {"variants": ["blank-lines"]}}],
    "judges": ["good", "fair", "bad"],
    "reference": {"repeats": 1},
    "allocate": {"stop": {"when": ["gold-accuracy >= 0.5"], "check_every": 20}},
}
COMMAND = ("run", "suite.yaml", "--plugins", "facts.py", "--no-cache", "--run-dir")


def table_of(project: Any, name: str) -> dict[str, list[Any]]:
    report = json.loads((project.path / name / "report.json").read_text(encoding="utf-8"))
    (section,) = [each for each in report["sections"] if each["name"] == "sequential"]
    return {row["heads"][0]: row["cells"] for row in section["parts"][1]["rows"]}


def test_a_run_stops_at_the_same_look_killed_and_resumed_or_sharded_and_merged(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("facts.py", PLUGIN)
    write_suite(project, SUITE)
    assert project.run(*COMMAND, "whole").exit_code == 0
    rows = table_of(project, "whole")
    assert {judge: row[3] for judge, row in rows.items()} == {"good": "holds", "fair": "undecided", "bad": "fails"}
    assert rows["good"][0] == 1.0
    assert 0.5 <= rows["good"][1] < 1.0 == rows["good"][2]
    assert rows["bad"][1] < rows["bad"][0] < rows["bad"][2] <= 0.5
    assert rows["fair"][4:] == [60, 0, ""]
    clusters, left, saved = rows["bad"][4:]
    # Two trials of each item (the reference and a variant), a tenth of a cent each.
    assert (2 * clusters + left, saved) == (120, f"about ${left * 0.002:,.4f}")
    # What was computed as if the number of items were fixed decides nothing.
    measures = json.loads((tmp_path / "whole" / "report.json").read_text(encoding="utf-8"))["measures"]
    assert all("stopped-early" in measure["flags"] for measure in measures)
    gate = project.run("gate", "whole", "--rule", "gold-accuracy[judge=good] >= 0.3", "--plugins", "facts.py")
    assert gate.exit_code == 5, gate.output
    assert "stopped-early" in gate.output
    project.write("kill", "45")
    assert Project(tmp_path).run(*COMMAND, "killed").exit_code < 0  # in a process of its own
    assert project.run(*COMMAND, "killed").exit_code == 0
    sql = "SELECT batch, judges, note FROM stage_allocation"
    assert query(project, "killed", sql) == query(project, "whole", sql)
    assert report_bytes(project, "killed") == report_bytes(project, "whole")
    for part in ("1", "2"):
        project.run(*COMMAND, f"part-{part}", "--shard", f"{part}/2")
    assert project.run("merge", "part-1", "part-2", "--run-dir", "merged").exit_code == 0
    project.run(*COMMAND, "merged")
    assert query(project, "merged", sql) == query(project, "whole", sql)
    assert report_bytes(project, "merged") == report_bytes(project, "whole")


def test_a_race_ends_with_one_judge_and_limits_that_hold_for_whichever_wins(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("facts.py", PLUGIN)
    write_suite(project, {**SUITE, "allocate": {"race": {"check_every": 20}}})
    plan = project.run("plan", "suite.yaml", "--plugins", "facts.py")
    assert "A worse judge is dropped after about " in " ".join(plan.output.split())
    outcome = project.run(*COMMAND, "run")
    assert outcome.exit_code == 0, outcome.output
    rows = table_of(project, "run")
    assert rows["good"][3] == "winner"
    assert rows["good"][1] < 1.0 == rows["good"][2]
    assert {rows[judge][3] for judge in ("fair", "bad")} == {"dropped: 'good' is better"}
    assert rows["good"][4] == rows["fair"][4] >= rows["bad"][4]
    assert rows["good"][5] > 0  # the run ends: a winner is asked no more
    page = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "these limits hold at every look" in page


@pytest.mark.parametrize(
    ("allocate", "message"),
    [
        ({"stop": {"when": []}}, "when"),
        (
            {"stop": {"when": ["gold-kappa >= 0.4"]}},
            "'gold-kappa' is no mean over trials of 0 to 1; rules may use `agree",
        ),
        ({"stop": {"when": ["gold-accuracy > x"]}}, "expected a number"),
        ({"stop": {"when": ["gold-accuracy >= 1"]}}, "the threshold has to be between 0 and 1"),
        ({"stop": {"when": ["as-expected >= 0.9"]}}, "name the test, as in `as-expected[format]`"),
        ({"stop": {"when": ["as-expected[*] >= 0.9"]}}, "name one test, and no part of a test"),
        ({"stop": {"when": ["gold-accuracy[judge=other] >= 0.9"]}}, "the rule names the judge 'other'"),
        ({"race": {"by": "flip-rate[format]"}}, "'flip-rate' is no mean over trials"),
        ({"race": {"by": "missing"}}, "'missing' is no mean over trials of 0 to 1; rules may use `agree"),
        ({"race": {"by": "as-expected[formatt]"}}, "the rule names the test 'formatt'"),
        ({"race": {"alpha": 0}}, "alpha"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_one_message(tmp_path: Path, allocate: Any, message: str) -> None:
    project = Inside(tmp_path)
    project.write("facts.py", PLUGIN)
    write_suite(project, {**SUITE, "allocate": allocate})
    outcome = project.run("run", "suite.yaml", "--plugins", "facts.py")
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    assert outcome.stderr.count("suite.yaml:") == 1, outcome.stderr


def test_a_race_names_its_task_where_there_are_several(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("facts.py", PLUGIN)
    one = {name: SUITE[name] for name in ("data", "task")}
    suite = {name: value for name, value in SUITE.items() if name not in one}
    suite["tasks"] = [{"name": name, **one} for name in ("first", "second")]
    write_suite(project, {**suite, "allocate": "race"})
    refused = project.run(*COMMAND, "run")
    assert refused.exit_code == 2
    assert "name that of the race, as in `gold-accuracy[task=NAME]`" in refused.stderr
    write_suite(project, {**suite, "allocate": {"race": {"by": "gold-accuracy[task=second]", "check_every": 20}}})
    done = project.run(*COMMAND, "run")
    assert done.exit_code == 0, done.output
    assert table_of(project, "run")["good"][3] == "winner"
