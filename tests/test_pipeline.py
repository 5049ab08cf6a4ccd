"""Judges are asked while later cases are made, and nothing but the clock tells the difference."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh.running import execute
from jrh.running.pipeline import overlaps
from jrh.running.schedule import TrialPlanner
from jrh_testing import ChatServer, Fault, Project
from support.looking import one, query, report, run_files
from support.rewording import Rewording
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside
EXAMPLES = Path(__file__).parents[1] / "examples"
ITEMS = 6
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
import asyncio, sqlite3
from contextlib import closing
from jrh import PerturberSpec, hookimpl

def planned():
    with closing(sqlite3.connect("one/run.sqlite")) as store:
        sql = "SELECT count(*), count(r.trial_id) FROM trials t LEFT JOIN records r ON r.trial_id = t.id"
        return store.execute(sql).fetchone()

class Endless:
    async def perturb(self, item):
        await asyncio.sleep(0.5)
        before = None
        while (now := planned()) != before or not now[0] == now[1] > 0:  # all that is planned is judged, and stays so
            before = now
            await asyncio.sleep(0.2)
        raise KeyboardInterrupt

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="endless", summary="s", factory=lambda options, context: Endless())
"""


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
    with ChatServer(Rewording()) as server:
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
    assert files(project, "early") == files(project, "late")


def files(project: Project, run_dir: str) -> dict[str, bytes]:
    """Return what a run writes, and what its gate writes for CI."""
    project.run("gate", run_dir, "--junit", f"{run_dir}/gate.xml", "--markdown", f"{run_dir}/gate.md")
    return run_files(project, run_dir)


FORMATS = ["json", "html", "markdown", "csv"]
WRITTEN = {
    "tests": [
        {"format": {"variants": ["spaces", "trailing"]}},
        {"paraphrase": {"model": "mini"}},
        {"chain": [{"label-flip": {"model": "mini"}}, {"format": {"variants": ["wrap"]}}], "name": "flipped"},
        {"stochastic": {"repeats": 2}},
        "rubric",
    ],
    "task": {"instruction": "Right?", "rubric": "YES: it is true. NO: it is false.", "scale": {"labels": list(LABELS)}},
    "findings": {"margin": 0.1},
}
PAIRS = {
    "data": {"source": "examples", "dataset": "preference", "sample": {"n": 8, "seed": 1}},
    "task": {"scale": {"pairwise": True}},
    "tests": ["option-order", {"format": {"variants": ["spaces"]}}],
    "judges": [{"name": "mini", "judge": "llm", "model": "mini"}, {"name": "sim", "judge": "simulated"}],
    "reports": [*FORMATS, "latex", "papers", "plots", "notebook"],
}
FAULTS = [
    Fault("429-seconds", match="Put differently: This is answer number 001", times=1, retry_after=0.1),
    Fault("drip", match="answer number 002", pause=0.0001),
    Fault("400", match="answer number 003"),
    Fault("bad-json", match="Put differently: This is answer number 004"),
    Fault("length", match="Put differently: This is answer number 005"),
    Fault("refusal", match="in other words.\n"),
]


def applies(ready: Any) -> bool:
    """Say that judges need not wait in this suite; a run that would wait fails."""
    assert overlaps(ready)
    return True


@pytest.mark.parametrize("about", [WRITTEN, PAIRS, None], ids=["written", "pairs", "agents"])
def test_barrier_and_pipeline_write_the_same_bytes_whatever_the_provider_does(
    project: Project, monkeypatch: pytest.MonkeyPatch, about: dict[str, Any] | None
) -> None:
    written: list[dict[str, bytes]] = []
    with ChatServer(Rewording(), latency=0.002, jitter=0.01) as server:
        write_items(project, ITEMS)
        if about is None:
            suite = yaml.safe_load((EXAMPLES / "agents.yaml").read_text())
            del suite["tasks"][0]
            for task in suite["tasks"]:
                task["data"]["sample"] = {"n": 5, "seed": 1}
        else:
            suite = suite_of(server.url, **{"reports": FORMATS, **about})
            suite["models"]["mini"] |= {"concurrency": 6, "max_attempts": 2}
        shutil.copy(EXAMPLES / "agents.jsonl", project.path)
        write_suite(project, {"reports": FORMATS, "gate": {"rules": ["missing <= 0.5"]}, **suite, "resamples": 100})
        for name in ("early", "late"):
            server.misbehave(*FAULTS)
            monkeypatch.setattr(execute, "overlaps", lambda ready, early=name == "early": applies(ready) and early)
            done = run(project, name)
            # Where every verdict is missing, so many are that the gate fails.
            assert done.exit_code == (1 if "the gate failed" in done.stderr else 3 if about else 0), done.output
            written.append(files(project, name))
    early, late = written
    assert early.keys() == late.keys() >= {"report.json", "report.html", "report.md", "records.csv", "gate.xml"}
    assert [name for name in early if early[name] != late[name]] == []


@pytest.mark.parametrize("finished", [(), ("format",)])
def test_a_plan_that_still_grows_is_never_called_complete(project: Project, finished: tuple[str, ...]) -> None:
    """A process killed while cases are made leaves trials that all have a record, and others that are not planned.

    An earlier plan of the same directory, without the test that stops, is not called complete either.
    """
    project.write("endless.py", STOPS)
    if finished:
        project.write("suite.yaml", json.dumps(ENDLESS | {"tests": [*finished]}))
        project.run("run", "suite.yaml", "--run-dir", "one", "--plugins", "endless.py")
        assert not report(project, "one")["still_planning"]
    project.write("suite.yaml", json.dumps(ENDLESS))
    project.run("run", "suite.yaml", "--run-dir", "one", "--plugins", "endless.py")
    project.run("report", "one", "--plugins", "endless.py")
    found = report(project, "one")
    assert (found["still_planning"], found["missing_records"]) == (True, 0)
    assert found["planned"] == one(project, "one", "SELECT count(*) FROM records") > 0
    assert "INCOMPLETE: " in project.read("one/report.md")
    for command in (["report", "one", "--format", "csv"], ["export", "one", "--to", "csv"]):
        told = project.run(*command, "--plugins", "endless.py")
        assert (told.exit_code, "INCOMPLETE: " in told.output) == (0, True), told.output


def test_judges_are_asked_before_the_last_draft_is_written(project: Project) -> None:
    provider = Rewording()
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


def test_the_cases_of_a_new_run_are_not_read_again_for_its_plan(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_again(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(TrialPlanner, "trials", read_again)
    write_suite(project, ENDLESS | {"tests": [{"format": {"variants": ["spaces"]}}]})
    done = run(project, "one")
    assert done.exit_code == 0, done.output
    assert one(project, "one", "SELECT count(*) FROM records") > 4


def test_a_failed_judge_does_not_leave_a_test_unfinished(project: Project) -> None:
    """Its failed calls are no failed drafts."""
    with ChatServer(Rewording(), faults=[Fault("400", times=4)]) as server:
        write_items(project, ITEMS)
        model = openai_http(server.url, concurrency=1, max_attempts=1) | {"price": {"input": 1, "output": 1}}
        write_suite(project, suite_of(server.url, models={"mini": model}))
        run(project, "one")
    assert not one(project, "one", "SELECT count(*) FROM stages WHERE digest LIKE '%unfinished'")


def test_a_run_that_stops_while_cases_are_made_says_so_and_goes_on(project: Project) -> None:
    provider = Rewording()
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
