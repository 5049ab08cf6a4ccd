"""Spending is one number: in the plan, the confirmation, the progress line, the closing line and every report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jrh
import pytest
from attrs import frozen
from jrh_testing import ChatServer, Outcome, Project
from support import agentic
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report
from support.suites import llm_suite, openai_http, write_items, write_suite
from support.writers import Writers

pytestmark = pytest.mark.slow

PAID = {"price": {"input": 100.0, "output": 200.0}}
FREE = {"free": True}
REPORTS = ["terminal", "markdown", "json", "csv", "html"]
RUBRIC = "YES: what the answer states is true. NO: what it states is false."
LEVELS = ("1", "2", "3")
WORDS = ("The river runs north past the old mill", "A comet was seen twice above the harbour", "Copper melts near one")
MANY_YES = {"confirm_above": "1000"}


@frozen(kw_only=True)
class Job:
    """A suite and what answers it."""

    suite: Callable[[str, str], dict[str, Any]]
    """From the URL and a price of writers and judges to the suite."""
    roles: frozenset[str]
    """Who is paid."""


def _facts(project: Project) -> int:
    texts = [f"{WORDS[place % 3]}, and the number of it is {place + 100}." for place in range(6)]
    return write_items(project, texts)


def _writing(url: str, tests: list[Any], writer: Any, judge: Any, **changes: Any) -> dict[str, Any]:
    limits = {"max_tokens": 500, "max_attempts": 1}
    models = {
        "writer": openai_http(url, model="writer", **limits, **writer),
        "reader": openai_http(url, model="reader", **limits, **judge),
    }
    judges = [{"name": "reader", "judge": "llm", "model": "reader"}]
    task = {"instruction": "Is the answer right?", "rubric": RUBRIC, "scale": {"labels": ["YES", "NO"]}}
    return llm_suite({}, models=models, judges=judges, tests=tests, task=task, reports=REPORTS, **changes)


def paraphrased(url: str, writer: Any, judge: Any) -> dict[str, Any]:
    """Return a suite whose cases a model writes."""
    return _writing(url, [{"paraphrase": {"model": "writer"}}, {"format": {"variants": ["spaces"]}}], writer, judge)


def validated(url: str, writer: Any, judge: Any) -> dict[str, Any]:
    """Return a suite whose cases a model writes and another validates."""
    flip = {"model": "writer", "validate": [{"llm-label": {"model": "reader"}}]}
    return _writing(url, [{"label-flip": flip}], writer, judge)


def sampled(url: str, writer: Any, judge: Any) -> dict[str, Any]:
    """Return a suite whose test perturbs two of six items."""
    return _writing(url, [{"paraphrase": {"model": "writer", "sample": {"n": 2}}}], writer, judge)


def shared(url: str, writer: Any, judge: Any) -> dict[str, Any]:
    """Return a suite with two judges that ask the same, so that one pays for both."""
    judges = [{"name": name, "judge": "llm", "model": "reader"} for name in ("reader", "twin")]
    return {**_writing(url, [{"format": {"variants": ["spaces"]}}], writer, judge), "judges": judges}


def levelled(url: str, writer: Any, judge: Any) -> dict[str, Any]:
    """Return a suite that has a model write a response of every level, and another grade it."""
    test = {"model": "writer", "grader": "reader", "attempts_per_temperature": 1}
    suite = _writing(url, [{"synthetic-ordinal": test}], writer, judge)
    return {**suite, "task": {**suite["task"], "scale": {"ordinal": [1, 3]}}}


def edited(url: str, writer: Any, judge: Any) -> dict[str, Any]:
    """Return a suite over transcripts that are planned, edited, summarised and verified."""
    suite = agentic.suite(openai_http(url, max_tokens=500, max_attempts=1, **judge), ["agent-style"], reports=REPORTS)
    writing = openai_http(url, model="writer", max_tokens=500, max_attempts=1, **writer)
    return {**suite, "models": {**suite["models"], "writer": writing}, "tests": [{"agent-style": {"model": "writer"}}]}


SUITES = {
    "paid writer, free judge": (paraphrased, PAID, FREE, {"writer"}),
    "free writer, paid judge": (paraphrased, FREE, PAID, {"judge"}),
    "validators": (validated, PAID, PAID, {"writer", "validator", "judge"}),
    "a test's own sample": (sampled, PAID, PAID, {"writer", "judge"}),
    "judges that share replies": (shared, FREE, PAID, {"judge"}),
    "synthetic ordinal": (levelled, PAID, PAID, {"writer", "grader", "judge"}),
    "agentic": (edited, PAID, PAID, {"writer", "grader", "judge"}),
}


@pytest.fixture(params=SUITES)
def paid(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Project, ChatServer, set[str]]]:
    """Provide a suite that costs money, the server that answers it, and who is paid."""
    make, writer, judge, roles = SUITES[request.param]
    project = Project(tmp_path, env={KEY_VARIABLE: KEY})
    answer: Any
    if make is edited:
        project.write("items.jsonl", agentic.lines({f"item-{place}": "satisfies" for place in range(3)}))
        answer = agentic.Agents()
    else:
        _facts(project)
        if make is levelled:
            rows = [json.loads(line) for line in project.read("items.jsonl").splitlines()]
            levels = [{**row, "label": LEVELS[place % 3]} for place, row in enumerate(rows)]
            project.write("items.jsonl", "".join(json.dumps(row) + "\n" for row in levels))
        free = write_suite(project, make("http://127.0.0.1:1/v1", FREE, FREE), "items.yaml")
        items = jrh.read_items(project.path / free)[0][1]
        answer = Writers(items, RUBRIC, LEVELS if make is levelled else ("YES", "NO"), faults=())
    with ChatServer(answer) as server:
        write_suite(project, make(server.url, writer, judge))
        yield project, server, roles


def run(project: Project, *more: str) -> Outcome:
    """Run the suite into `run`."""
    return project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", *more)


def dollars(text: str) -> float:
    """Read an amount."""
    return float(text.replace(",", "").removeprefix("$"))


def test_every_output_says_what_was_paid(paid: tuple[Project, ChatServer, set[str]]) -> None:
    project, server, roles = paid
    outcome = run(project, "--yes", "--full")
    assert outcome.exit_code == 0, outcome.output
    ledger = one(project, "run", "SELECT total(cost) FROM calls")
    assert ledger > 0
    spending = report(project, "run")["spending"]
    written = f"${ledger:,.4f}"

    assert sum(line["cost"] for line in spending) == pytest.approx(ledger, abs=1e-9)
    assert sum(line["replies"] for line in spending) == server.count
    assert {line["role"] for line in spending if line["cost"]} == roles
    progress = re.findall(r"^judge: .* done \((.*)\)$", outcome.stderr, re.MULTILINE)
    assert progress[-1].endswith(written), outcome.stderr
    closing = next(line for line in outcome.stdout.splitlines() if line.startswith("Cost: "))
    assert closing.startswith(f"Cost: {written} for {server.count} replies. Paid: {written}, {server.count} calls sent")
    table = outcome.stdout[outcome.stdout.index("\nCost\n") :]
    totals = [line for line in table.splitlines() if written in line]
    assert totals, table
    assert f"| {written}" in project.read("run/report.md").replace("\\", "").replace("&#36;", "$")
    page = project.read("run/report.html")
    assert f'data-what="cost">{written}<' in page
    roles_in_csv = query(project, "run", "SELECT total(cost) FROM records")[0][0]
    judged = sum(line["cost"] for line in spending if line["role"] == "judge")
    assert roles_in_csv >= judged - 1e-9  # judges that share a reply each have its price
