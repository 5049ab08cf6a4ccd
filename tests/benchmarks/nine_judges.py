"""A JSS suite at the size of the paper: nine judges, 3,000 calls each, rate limits on, killed once and resumed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import yaml
from jrh_testing import ChatServer, Fault, Project

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.looking import report
from support.planted import NINE, PlantedAnswers, suite

from tests.benchmarks.table import Line

CALLS = 27_000
"""Four tasks of 30 items: 21 templates and the judges' own, four times each, nine judges."""


def lines(folder: Path) -> list[Line]:
    """Run the suite, kill it half-way, run it again; aim: complete, and 60 s in all."""
    project = Project(folder)
    with ChatServer(PlantedAnswers(NINE), faults=[Fault("429-seconds", every=997, retry_after=0.2)]) as server:
        limits = {"requests_per_minute": 30_000, "concurrency": 16}
        project.write("suite.yaml", yaml.safe_dump(suite(NINE, server.url, repeats=4, items=30, **limits)))
        command = ("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
        started = time.perf_counter()
        with project.start(*command) as running:
            while running.is_running and server.count < CALLS // 2:
                time.sleep(0.05)
            running.kill()
            running.wait()
        done = project.run(*command, timeout=600)
        elapsed = time.perf_counter() - started
        sent = server.count
    found = report(project, "run")
    if done.exit_code or found["planned"] != CALLS or found["missing_records"]:
        raise SystemExit(f"nine judges: {done.exit_code}, {found['missing_records']} of {found['planned']} missing")
    return [
        Line(
            what=f"nine judges, {CALLS} calls, 429s and one kill: seconds ({sent - CALLS} calls more than needed)",
            ours=f"{elapsed:.0f} s",
            theirs="60 s",
            result=60 / elapsed,
            aim=1.0,
        )
    ]
