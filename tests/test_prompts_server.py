"""Nine simulated judges at once through a chat server with rate limits, killed in the middle (point 2).

The full size, 27,000 calls, is `python -m tests.benchmarks nine-judges`; here every task has 3 of its 30 items.
"""

from __future__ import annotations

from collections import Counter

import yaml
from jrh_testing import ChatServer, Fault, Project
from support.looking import one, query, report, report_bytes, until
from support.planted import NINE, PlantedAnswers, suite

ITEMS = 3
REPEATS = 2
CALLS = ITEMS * (6 + 5 + 5 + 5 + 4) * REPEATS * len(NINE)
"""Items of each task: its templates and the judge's own, as often as they are repeated, for nine judges."""
CONCURRENCY = 8


def run_command(run_dir: str) -> tuple[str, ...]:
    return ("run", "suite.yaml", "--run-dir", run_dir, "--no-cache", "--yes")


def test_nine_judges_complete_under_rate_limits_and_after_a_kill(project: Project) -> None:
    faults = [Fault("429-seconds", every=101, retry_after=0.1)]
    with ChatServer(PlantedAnswers(NINE), faults=faults) as server:
        limits = {"requests_per_minute": 20_000, "concurrency": CONCURRENCY}
        made = suite(NINE, server.url, repeats=REPEATS, items=ITEMS, **limits)
        project.write("suite.yaml", yaml.safe_dump(made, sort_keys=False))
        with project.start(*run_command("killed")) as running:
            until(lambda: server.count >= CALLS // 2 or not running.is_running, f"{CALLS // 2} requests")
            running.kill()
            assert running.wait().exit_code == -9, "the run was over before it could be killed"
        done = project.run(*run_command("killed"))
        assert done.exit_code == 0, done.output
        sent = server.count
        whole = project.run(*run_command("whole"))
        assert whole.exit_code == 0, whole.output

    outcomes = Counter(dict(query(project, "killed", "SELECT outcome, count(*) FROM calls GROUP BY outcome")))
    assert outcomes["ok"] == CALLS == one(project, "killed", "SELECT count(*) FROM records")
    assert outcomes["rate_limit"] >= 1
    assert outcomes["unknown"] <= CONCURRENCY * len(NINE)
    # What the server counted and the ledger does not hold is what the kill cut off before its row.
    assert sum(outcomes.values()) >= sent
    found = report(project, "killed")
    assert found["planned"] == CALLS
    assert found["missing_records"] == 0
    killed, uninterrupted = report(project, "killed"), report(project, "whole")
    assert killed["measures"] == uninterrupted["measures"]
    assert set(report_bytes(project, "killed")) == {"report.md", "report.json"}
    steady = [m for m in found["measures"] if (m["name"], m["judge"], m["cell"]) == ("jss", "steady", {})]
    assert [m["estimate"] for m in steady] == [1.0] * 4
    blind = {
        m["name"]: m["estimate"]
        for m in found["measures"]
        if (m["task"], m["judge"], m["cell"]) == ("factual", "blind", {"pair": "fact-errors | fact-plain"})
    }
    assert (blind["jss"], blind["jss-raw"]) == (0.0, 1.0)
