"""Spending is one number: in the plan, the confirmation, the progress line, the closing line and every report."""

from __future__ import annotations

import json
import re
import shlex
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh_testing import ChatServer, Inside, Outcome, Project
from jrh_testing.server.faults import Fault
from support import agentic
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report, until
from support.suites import llm_suite, openai_http, write_items, write_suite
from support.writers import Writers

pytestmark = pytest.mark.slow

PAID = {"price": {"input": 100.0, "output": 200.0}}
FREE = {"free": True}
REPORTS = ["terminal", "markdown", "json", "csv", "html"]
RUBRIC = "YES: what the answer states is true. NO: what it states is false."
LEVELS = ("1", "2", "3")
WORDS = ("The river runs north past the old mill", "A comet was seen twice above the harbour", "Copper melts near one")


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
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY}, preflight=True)
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
    assert {line["role"] for line in spending if line["cost"]} == roles | {"preflight"}
    progress = re.findall(r"^judge: .* done \((.*)\)$", outcome.stderr, re.MULTILINE)
    assert progress[-1].endswith(written), outcome.stderr
    closing = next(line for line in outcome.stdout.splitlines() if line.startswith("Cost: "))
    assert closing.startswith(f"Cost: {written} for {server.count} replies. Paid: {written}, {server.count} calls sent")
    table = outcome.stdout[outcome.stdout.index("\nCost\n") :]
    totals = [line for line in table.splitlines() if written in line]
    assert totals, table
    assert f"| {written}" in project.read("run/report.md").replace("\\", "").replace("&#36;", "$")
    page = project.read("run/report.html")
    assert f">{written}<" in page
    roles_in_csv = query(project, "run", "SELECT total(cost) FROM records")[0][0]
    judged = sum(line["cost"] for line in spending if line["role"] == "judge")
    assert roles_in_csv >= judged - 1e-9  # judges that share a reply each have its price


def test_what_was_paid_lies_in_the_range_of_the_plan_and_the_confirmation_asks_about_its_end(
    paid: tuple[Project, ChatServer, set[str]],
) -> None:
    project, server, roles = paid
    keyless = project.run("plan", "suite.yaml", "--run-dir", "run", "--no-cache", env={KEY_VARIABLE: ""})
    assert keyless.exit_code == 0, keyless.output
    assert server.count == 0
    low, high = planned(keyless)
    refused = run(project, "--confirm-above", f"{high - 0.01:.4f}")
    assert refused.exit_code == 2
    assert f"to ${high:,.4f}. Cannot ask for confirmation" in refused.stderr, refused.stderr
    assert server.count == 0
    done = run(project, "--confirm-above", f"{high + 0.0001:.4f}")
    assert done.exit_code == 0, done.output
    ledger = one(project, "run", "SELECT total(cost) FROM calls")
    assert low <= ledger <= high, keyless.stdout
    lines = {line["role"] for line in report(project, "run")["spending"] if line["cost"]}
    assert lines - {"preflight"} == roles
    assert planned(project.run("plan", "suite.yaml", "--run-dir", "run", "--no-cache")) == (0.0, 0.0)


def planned(outcome: Outcome) -> tuple[float, float]:
    """Read the range of a plan's total."""
    found = re.search(r"^Total: .* model calls, cost (?:(\S+) to )?(\S+)\.$", outcome.stdout, re.MULTILINE)
    assert found, outcome.output
    return dollars(found[1] or found[2]), dollars(found[2])


# -- the preflight ---------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide six items, and a project whose runs begin with the preflight."""
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY}, preflight=True)
    _facts(project)
    return project


def simple(project: Project, *urls: str, **settings: Any) -> None:
    """Write a suite with a judge at every URL."""
    models = {f"m{place}": openai_http(url, max_attempts=1, **settings) for place, url in enumerate(urls)}
    judges = [{"name": f"j{place}", "judge": "llm", "model": f"m{place}"} for place in range(len(urls))]
    write_suite(project, llm_suite({}, models=models, judges=judges, tests=[], reports=["json"]))


def test_a_wrong_key_and_a_dead_endpoint_cost_a_line_each_and_nothing_else(project: Project) -> None:
    with ChatServer("YES", require_key="another") as guarded, ChatServer("YES") as server:
        simple(project, guarded.url, "http://127.0.0.1:9/v1", server.url, price=PAID["price"])
        refused = run(project, "--yes")
        assert refused.exit_code == 2
        first, second, last = refused.stderr.strip().splitlines()
        assert re.fullmatch(
            rf"jrh: model 'm0' \(openai-http/loopback-1@{guarded.url}\): HTTP 401: .*; check {KEY_VARIABLE}", first
        ), first
        assert second.startswith("model 'm1' (openai-http/loopback-1@http://127.0.0.1:9/v1): the connection failed")
        assert last == "Nothing else was sent. Pass --no-preflight to run anyway."
        assert (guarded.count, server.count) == (1, 1)
        assert one(project, "run", "SELECT count(*) FROM records") == 0
    with ChatServer("YES") as well:
        simple(project, well.url)
        assert run(project, "--yes").exit_code == 0
        assert well.count == 7


def test_a_rate_limit_in_the_preflight_does_not_stop_the_run(project: Project) -> None:
    with ChatServer("YES", faults=[Fault(kind="429-bare", times=1)]) as server:
        simple(project, server.url)
        outcome = run(project, "--yes")
    assert outcome.exit_code == 0, outcome.output
    assert re.search(r"^Preflight: model 'm0' .*; the run goes on\.$", outcome.stderr, re.MULTILINE), outcome.stderr


def test_the_preflight_is_left_out_where_stored_replies_answer_everything_or_the_user_says_so(project: Project) -> None:
    with ChatServer("YES") as server:
        simple(project, server.url, price=PAID["price"])
        first = project.run("run", "suite.yaml", "--run-dir", "first", "--yes")
        assert (first.exit_code, server.count) == (0, 7)
        again = project.run("run", "suite.yaml", "--run-dir", "first", "--yes")
        cached = project.run("run", "suite.yaml", "--run-dir", "cached", "--yes")
        assert (again.exit_code, cached.exit_code, server.count) == (0, 0, 7)
        without = run(project, "--yes", "--no-preflight")
        assert (without.exit_code, server.count) == (0, 13)
    # All but the block about this run, which says whose replies these are.
    first, reused = ({**report(project, run_dir), "sections": []} for run_dir in ("first", "cached"))
    assert first == reused
    closing = next(line for line in cached.stdout.splitlines() if line.startswith("Cost: "))
    paid = sum(line["cost"] for line in report(project, "first")["spending"])
    assert closing == f"Cost: ${paid:.4f} for 7 replies. jrh sent no call."


def test_replies_that_cost_nothing_are_not_counted_in_the_closing_line(project: Project) -> None:
    with ChatServer("YES") as server:
        simple(project, server.url, price={"input": 0, "output": 0})
        closings = {"first": "Cost: $0. Paid: $0, 7 calls sent", "cached": "Cost: $0. No model was called.\n"}
        for run_dir, closing in closings.items():
            outcome = project.run("run", "suite.yaml", "--run-dir", run_dir, "--yes")
            assert f"\n{closing}" in f"\n{outcome.stdout}"


def test_a_budget_reached_and_raised_gives_the_report_of_a_run_that_was_not_stopped(project: Project) -> None:
    with ChatServer("YES") as server:
        simple(project, server.url, price=PAID["price"], max_tokens=10)
        whole = project.run("run", "suite.yaml", "--run-dir", "whole", "--yes", "--no-cache")
        stopped = run(project, "--yes", "--set", "budget.calls=4")
        assert (whole.exit_code, stopped.exit_code) == (0, 4)
        command = stopped.stderr.splitlines()[-1].removeprefix("jrh: to continue: jrh ")
        done = project.run(*shlex.split(command))
        assert done.exit_code == 0, done.output
    assert (project.path / "whole/report.json").read_bytes() == (project.path / "run/report.json").read_bytes()
    paid = one(project, "run", "SELECT total(cost) FROM calls")
    now = re.search(r"Paid: \$([\d.]+) \(\$([\d.]+) of it now\), 7 calls sent", done.stdout)
    assert now, done.stdout
    assert float(now[1]) == pytest.approx(paid, abs=1e-4)
    assert float(now[2]) < paid


def test_a_killed_run_pays_for_one_preflight_and_reports_what_a_whole_one_does(project: Project) -> None:
    """Each answer is billed above its maximum, that of the preflight too, and `seed` is refused: both are notes."""
    held = threading.Event()

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if "number of it is 104" in str(body):
            held.wait(60.0)
        usage = {"prompt_tokens": 2500, "completion_tokens": 1, "total_tokens": 2501}
        return {"role": "assistant", "content": "YES", "usage": usage}

    with ChatServer(answer, refuses=["seed"]) as server:
        simple(project, server.url, price=PAID["price"], concurrency=1, max_tokens=10, seed=3)
        with project.start("run", "suite.yaml", "--run-dir", "run", "--yes", "--no-cache") as running:
            until(lambda: any("number of it is 104" in str(body) for body in server.requests), "the fourth request")
            running.kill()
            running.wait()
        held.set()
        done = run(project, "--yes", "--no-cache")
        probes = sum("Reply with OK" in str(body) and "seed" not in body for body in server.requests)
        whole = project.run("run", "suite.yaml", "--run-dir", "whole", "--yes", "--no-cache")
    assert (done.exit_code, whole.exit_code, probes) == (0, 0, 1), done.output
    assert (project.path / "whole/report.json").read_bytes() == (project.path / "run/report.json").read_bytes()
    notes = [note for note in report(project, "run")["warnings"] if "billed" in note]
    assert [re.search(r"for (\d+) calls", note)[1] for note in notes] == ["7"]  # type: ignore[index]


def test_a_preflight_is_repeated_where_the_last_call_says_that_the_key_is_wrong(project: Project) -> None:
    with ChatServer("YES") as server:
        simple(project, server.url, price=PAID["price"])
        stopped = run(project, "--yes", "--no-cache", "--set", "budget.calls=3")
        assert (stopped.exit_code, server.count) == (4, 3)
        server.misbehave(Fault("401"))
        # The first time the stored answer is believed, and the first call stops the run; then the preflight says it.
        assert run(project, "--yes", "--no-cache").exit_code == 3
        refused = run(project, "--yes", "--no-cache")
        assert refused.exit_code == 2
        assert refused.stderr.endswith("Nothing else was sent. Pass --no-preflight to run anyway.\n")
        server.misbehave()
        assert run(project, "--yes", "--no-cache").exit_code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_told_to_end_finishes_its_calls_and_says_what_it_spent(
    project: Project, number: signal.Signals
) -> None:
    with ChatServer("YES", latency=0.3) as server:
        simple(project, server.url, price=PAID["price"], concurrency=1)
        with project.start("run", "suite.yaml", "--run-dir", "run", "--yes", "--no-cache") as running:
            until(lambda: server.count >= 3, "three requests")
            running.send(number)
            stopped = running.wait()
    assert stopped.exit_code == 130, stopped.output
    assert re.search(r"^Cost: \$[\d.]+ for \d+ replies\. Paid: ", stopped.stdout, re.MULTILINE), stopped.stdout
    assert "jrh: to continue: jrh run suite.yaml" in stopped.stderr


BY_ITSELF = """
import json, urllib.request
from jrh import Judgement, JudgeSpec, Reply, Status, Verdict, hookimpl

class Asks:
    def __init__(self, url, replies):
        self.url, self.replies = url, replies

    async def judge(self, question):
        body = json.dumps({{"model": "own", "messages": [{{"role": "user", "content": "?"}}]}}).encode()
        request = urllib.request.Request(self.url + "/chat/completions", body, {{"content-type": "application/json"}})
        said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
        reply = Reply(status=Status.OK, text=said) if self.replies else None
        return Judgement(verdict=Verdict(status=Status.OK, presented=said), reply=reply)

@hookimpl
def jrh_judges():
    yield JudgeSpec(name="with-reply", summary="", factory=lambda options, context: Asks({url!r}, True))
    yield JudgeSpec(name="without-reply", summary="", factory=lambda options, context: Asks({url!r}, False))
"""


def test_calls_that_a_judge_makes_by_itself_have_an_unknown_price(project: Project) -> None:
    items = write_items(project, 6)
    with ChatServer("YES") as server:
        project.write("own.py", BY_ITSELF.format(url=server.url))
        for name in ("with-reply", "without-reply"):
            write_suite(project, llm_suite({}, models={}, judges=[{"name": "own", "judge": name}], tests=[]))
            before = server.count
            done = project.run("run", "suite.yaml", "--run-dir", name, "--plugins", "own.py", "--yes")
            assert (done.exit_code, server.count - before) == (0, items), done.output
            assert "No model was called" not in done.stdout
            assert f"Cost: $0 + {items} calls of unknown price for {items} replies. jrh sent no call." in done.stdout
            assert [line["unknown"] for line in report(project, name)["spending"]] == [items]


def test_tokens_that_the_provider_had_cached_are_booked_at_their_price(tmp_path: Path) -> None:
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    items = _facts(project)
    counted = {"prompt_tokens": 2000, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1500}}
    prices = {"input": 100.0, "output": 200.0, "cached_input": 10.0}
    with ChatServer(lambda _: {"role": "assistant", "content": "YES", "usage": counted}) as server:
        suite = _writing(server.url, [], FREE, {"price": prices})
        task = {**suite["task"], "instruction": "Is the answer right? " * 250}  # of 1,024 tokens and more
        write_suite(project, {**suite, "task": task})
        planned = project.run("plan", "suite.yaml").output
        done = run(project, "--yes")
    assert done.exit_code == 0, done.output
    (spent,) = report(project, "run")["spending"]
    assert spent["cached_tokens"] == items * 1500
    assert spent["saved"] == pytest.approx(items * 1500 * 90e-6)
    assert spent["cost"] == pytest.approx(items * (500 * 100 + 1500 * 10 + 200) / 1e6)
    note = f"Providers had cached {items * 1500:,} tokens of the prompts, which saved \\$0.81"
    assert note in project.read("run/report.md")
    assert "prompt caches of the providers may save up to $" in planned
