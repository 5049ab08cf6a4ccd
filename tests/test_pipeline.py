"""Judges are asked while later cases are made, and nothing but the clock tells the difference."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jrh.running import execute
from jrh_testing import ChatServer, Fault, LabelAnswers, Project
from jrh_testing.server.bodies import prompt_of
from support.looking import one, query, report
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside
ITEMS = 6
SHOWN = re.compile(r"<(?:text|response)[-\w]*>\n(.*?)\n</", re.DOTALL)
TRIALS = "SELECT position, id, case_id, judge, repeat, occasion FROM trials ORDER BY position"
RECORDS = "SELECT trial_id, canonical, status, judge, test FROM records ORDER BY trial_id"

ENDLESS = {
    "name": "endless",
    "data": {"source": "examples", "sample": {"n": 4, "seed": 1}},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "tests": ["format", "endless"],
    "judges": [{"judge": "simulated", "name": "sim"}],
    "reports": ["json", "markdown"],
}
STOPS = """
import asyncio
from jrh import PerturberSpec, hookimpl

class Endless:
    async def perturb(self, item):
        await asyncio.sleep(0.5)
        raise KeyboardInterrupt

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="endless", summary="s", factory=lambda options, context: Endless())
"""


class Provider:
    """Writes or judges; remembers which it did, in order."""

    def __init__(self) -> None:
        self.label = LabelAnswers(labels=LABELS)
        self.asked: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str:
        writes = "in other words." in prompt_of(body)
        self.asked.append("write" if writes else "judge")
        text = "Put differently: " + SHOWN.findall(prompt_of(body))[-1] if writes else ""
        return json.dumps({"text": text, "response": text, "changes": ["x"]}) if writes else self.label(body)


def suite_of(url: str, **changes: Any) -> dict[str, Any]:
    tests = [{"format": {"variants": ["spaces", "blank-lines"]}}, {"stochastic": {"repeats": 2}}]
    judges = [
        {"name": "mini", "judge": "llm", "model": "mini"},
        {"name": "sim", "judge": "simulated", "accuracy": 0.8},
        {"name": "baseline", "judge": "baseline"},
    ]
    model = openai_http(url, concurrency=2, price={"input": 1, "output": 1}, max_tokens=50)
    return llm_suite(model, **{"tests": tests, "judges": judges, "reference": {"repeats": 2}, **changes})


def run(project: Project, name: str) -> Any:
    return project.run("run", "suite.yaml", "--run-dir", name, "--yes", "--no-cache", "--no-preflight")


@pytest.mark.parametrize("budget", [{}, {"calls": 1000}])
def test_barrier_and_pipeline_make_the_same_plan_records_and_reports(
    project: Project, monkeypatch: pytest.MonkeyPatch, budget: dict[str, int]
) -> None:
    with ChatServer(Provider()) as server:
        write_items(project, ITEMS)
        write_suite(project, suite_of(server.url, budget=budget) if budget else suite_of(server.url))
        early = run(project, "early")
        with monkeypatch.context() as waiting:
            waiting.setattr(execute, "overlaps", lambda ready: False)
            late = run(project, "late")
    assert early.exit_code == late.exit_code == 0, early.output + late.output
    for sql in (TRIALS, RECORDS, "SELECT * FROM occasions ORDER BY place", "SELECT * FROM stages ORDER BY name"):
        assert [row for row in query(project, "early", sql) if row[0] != "measures"] == [
            row for row in query(project, "late", sql) if row[0] != "measures"
        ]
    one_report, other = (report(project, name) for name in ("early", "late"))
    assert one_report["measures"] == other["measures"]
    assert one_report["findings"] == other["findings"]


def test_a_plan_that_still_grows_is_never_called_complete(project: Project) -> None:
    """A process killed while cases are made leaves trials that all have a record, and others that are not planned."""
    project.write("suite.yaml", json.dumps(ENDLESS))
    project.write("endless.py", STOPS)
    project.run("run", "suite.yaml", "--run-dir", "one", "--plugins", "endless.py")
    project.run("report", "one", "--plugins", "endless.py")
    found = report(project, "one")
    assert (found["still_planning"], found["missing_records"]) == (True, 0)
    assert found["planned"] == one(project, "one", "SELECT count(*) FROM records") > 0
    assert "INCOMPLETE: " in project.read("one/report.md")


def test_judges_are_asked_before_the_last_draft_is_written(project: Project) -> None:
    provider = Provider()
    with ChatServer(provider, latency=0.02) as server:
        write_items(project, ITEMS)
        write_suite(project, suite_of(server.url, tests=[{"paraphrase": {"model": "mini"}}]))
        done = run(project, "one")
        assert done.exit_code == 0, done.output
        assert provider.asked.index("judge") < len(provider.asked) - 1 - provider.asked[::-1].index("write")
        del provider.asked[:]
        # Judges must not spend what the drafts of a later test need.
        write_suite(project, suite_of(server.url, tests=[{"paraphrase": {"model": "mini"}}], budget={"usd": 1}))
        assert run(project, "two").exit_code == 0
        assert provider.asked == sorted(provider.asked, reverse=True)


def test_a_failed_judge_does_not_leave_a_test_unfinished(project: Project) -> None:
    """Its failed calls are no failed drafts."""
    with ChatServer(Provider(), faults=[Fault("400", times=4)]) as server:
        write_items(project, ITEMS)
        model = openai_http(server.url, concurrency=1, max_attempts=1) | {"price": {"input": 1, "output": 1}}
        write_suite(project, suite_of(server.url, models={"mini": model}))
        run(project, "one")
    assert not one(project, "one", "SELECT count(*) FROM stages WHERE digest LIKE '%unfinished'")


def test_a_run_that_stops_while_cases_are_made_says_so_and_goes_on(project: Project) -> None:
    provider = Provider()
    with ChatServer(provider) as server:
        write_items(project, ITEMS)
        tests = [{"format": {"variants": ["spaces"]}}, {"stochastic": {"repeats": 4}}]
        write_suite(project, suite_of(server.url, tests=tests, budget={"calls": 5}))
        stopped = run(project, "one")
        assert stopped.exit_code == 4, stopped.output
        kept = query(project, "one", RECORDS)
        write_suite(project, suite_of(server.url, tests=tests, budget={"calls": 500}))
        done = run(project, "one")
        assert done.exit_code == 0, done.output
    assert set(kept) <= set(query(project, "one", RECORDS))
    assert len(provider.asked) == one(project, "one", "SELECT count(*) FROM records WHERE judge = 'mini'")
