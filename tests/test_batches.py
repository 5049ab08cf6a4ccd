"""Calls through batch APIs: submitted once whatever happens, paid at half price, reported as if asked one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import define
from jrh.plugins import LONGEST_ANSWER
from jrh_batch import anthropic, openai
from jrh_testing import ChatServer, Inside, LabelAnswers, Outcome, Project, loop_over
from support.batch_server import BatchServer, Lines
from support.keys import KEY, KEY_VARIABLE
from support.looking import everything, one, query, report, report_bytes, until
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside

ITEMS = 8
TRIALS = ITEMS * 2
PRICE = {"input": 1000.0, "output": 2000.0}
COSTS_AND_TIMES = {"cost", "latency"}
VERDICTS = "SELECT test, item_id, canonical, status FROM records ORDER BY 1, 2"
PROVIDERS = ("openai-batch", "anthropic-batch")


def batch_model(provider: str, url: str, **settings: Any) -> dict[str, Any]:
    return {
        "provider": provider,
        "model": "loopback-1",
        "base_url": url,
        "api_key_env": KEY_VARIABLE,
        "max_tokens": 20,
        "price": PRICE,
        "max_requests": TRIALS,
        "collect_seconds": 2.0,
        "poll_seconds": 0.1,
        "settle_seconds": 0.2,
        **settings,
    }


def write(project: Project, model: dict[str, Any], name: str = "suite.yaml", **changes: Any) -> str:
    write_items(project, ITEMS)
    tests = [{"format": {"variants": ["trailing"]}}]
    return write_suite(project, llm_suite(model, tests=tests, **changes), name)


def command(run_dir: str, suite: str = "suite.yaml") -> tuple[str, ...]:
    return ("run", suite, "--run-dir", run_dir, "--no-cache", "--yes")


def run(project: Project, run_dir: str, *more: str) -> Outcome:
    return project.run(*command(run_dir), *more)


@define
class World:
    """A server, a project whose suite asks it, and the reports of a run that nothing disturbed."""

    provider: str
    project: Project
    server: BatchServer
    first: Outcome
    reports: dict[str, bytes]


@pytest.fixture(scope="module", params=PROVIDERS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    project = Inside(tmp_path_factory.mktemp("batches"), env={KEY_VARIABLE: KEY})
    with BatchServer(key=KEY) as server:
        write(project, batch_model(request.param, server.url))
        first = run(project, "whole")
        assert first.exit_code == 0, first.output
        assert sum(server.submitted.values()) == TRIALS
        yield World(request.param, project, server, first, report_bytes(project, "whole"))


@pytest.fixture(autouse=True)
def _fresh(world: World) -> None:
    world.server.reset()


def started(world: World, run_dir: str, step: str, suite: str = "suite.yaml") -> None:
    """Run in a process of its own and kill it while a step waits for the server's answer."""
    world.server.hang_at = step
    with Project(world.project.path, env=world.project.env).start(*command(run_dir, suite)) as running:
        assert world.server.hanging.wait(60), "the step was not reached"
        running.kill()
        assert running.wait().exit_code == -9
    world.server.hang_at = ""
    world.server.hanging.clear()


STEPS = {"openai-batch": ("upload", "create", "look", "download"), "anthropic-batch": ("create", "look", "download")}


@pytest.mark.parametrize("place", range(4))
def test_a_kill_at_any_step_submits_nothing_twice(world: World, place: int) -> None:
    if place >= len(STEPS[world.provider]):
        pytest.skip("this protocol has fewer steps")
    step = STEPS[world.provider][place]
    started(world, f"killed-{step}", step)
    if step == "create":  # and while it looks for what was created
        started(world, f"killed-{step}", "list")
    outcome = run(world.project, f"killed-{step}")
    assert outcome.exit_code == 0, outcome.output
    assert set(world.server.submitted.values()) == {1}
    assert sum(world.server.submitted.values()) == TRIALS
    assert report_bytes(world.project, f"killed-{step}") == world.reports
    assert "unknown" not in outcome.stdout.splitlines()[-3], "the calls were taken up, not lost"


def test_ctrl_c_leaves_a_batch_at_the_provider(world: World) -> None:
    world.server.looks = 10**9
    with Project(world.project.path, env=world.project.env).start(*command("stopped")) as running:
        until(lambda: world.server.seen["look"] > 0, "a batch to be looked at")
        running.interrupt()
        stopped = running.wait()
    assert stopped.exit_code == 130, stopped.output
    world.server.looks = 1
    outcome = run(world.project, "stopped")
    assert outcome.exit_code == 0, outcome.output
    assert sum(world.server.submitted.values()) == TRIALS
    assert report_bytes(world.project, "stopped") == world.reports


def test_ping_asks_no_batch_model(world: World) -> None:
    outcome = world.project.run("ping", "suite.yaml")
    assert "answers in batches, hours later; nothing is sent" in outcome.stdout
    assert outcome.exit_code == 0
    assert not world.server.seen


def test_one_batch_holds_all_calls_of_a_stage(world: World) -> None:
    outcome = run(world.project, "again")
    assert outcome.exit_code == 0, outcome.output
    assert [len(batch.lines) for batch in world.server.batches] == [TRIALS]
    assert report_bytes(world.project, "again") == world.reports


def without_costs(found: Any) -> Any:
    """Leave out of a report what the provider is, what it takes, and how long it takes."""
    if isinstance(found, list):
        return [without_costs(each) for each in found]
    if not isinstance(found, dict):
        return found
    kept = {name: without_costs(value) for name, value in found.items() if name not in COSTS_AND_TIMES}
    kept["measures"] = [each for each in kept.get("measures", []) if each.get("name") not in COSTS_AND_TIMES]
    if "sections" in found:
        kept["sections"] = [each for each in kept["sections"] if not each["name"].startswith(("cost-", "answer"))]
    kept["components"] = [each for each in kept.get("components", []) if each["role"] != "model"]
    return kept


def test_the_report_is_that_of_single_calls_but_for_cost_and_times(world: World) -> None:
    if world.provider != "openai-batch":
        pytest.skip("the chat server speaks OpenAI's protocol")
    columns = (
        "test, variant, item_id, repeat, status, presented, canonical, rationale, prompt_tokens, completion_tokens"
    )
    rows = f"SELECT {columns}, attempts FROM records ORDER BY test, variant, item_id, repeat"
    other = Inside(world.project.path / "sync", env=world.project.env)
    other.path.mkdir()
    with ChatServer(LabelAnswers(labels=LABELS)) as server:
        write(other, openai_http(server.url, max_tokens=20, price=PRICE))
        assert run(other, "whole").exit_code == 0
    assert query(world.project, "whole", rows) == query(other, "whole", rows)
    assert without_costs(report(world.project, "whole")) == without_costs(report(other, "whole"))
    texts = (project.read("whole/report.md") for project in (world.project, other))
    pages = [
        re.sub(r"<details><summary>Cost in .*?</details>", "", text, flags=re.DOTALL).splitlines() for text in texts
    ]
    lines = [[line for line in page if "\\$" not in line and not line.startswith("| model |")] for page in pages]
    assert lines[0] == lines[1]
    assert len(lines[0]) > len(pages[0]) - 10
    cost = "SELECT sum(cost) FROM records"
    assert one(world.project, "whole", cost) == pytest.approx(one(other, "whole", cost) / 2)


def test_plan_and_run_show_half_the_price(world: World) -> None:
    whole = write(world.project, batch_model(world.provider, world.server.url, price_factor=1.0), "full-price.yaml")
    shown = []
    for name in ("suite.yaml", whole):
        planned = world.project.run("plan", name, "--run-dir", "planned", "--no-cache")
        assert planned.exit_code == 0, planned.output
        shown.append([float(found) for found in re.findall(r"\$(\d+\.\d{4})", planned.stdout)])
    assert shown[0]
    assert shown[0] == pytest.approx([amount / 2 for amount in shown[1]])


def test_a_run_may_leave_and_come_back(world: World) -> None:
    world.server.looks = 3
    left = run(world.project, "left", "--no-wait")
    assert left.exit_code == 3, left.output
    assert f"{TRIALS} calls wait in batch batch-0" in left.stderr
    assert "to continue: jrh run suite.yaml --run-dir left --no-cache" in left.stderr
    assert query(world.project, "left", "SELECT count(*) FROM calls WHERE outcome IS NULL") == [(TRIALS,)]
    while (back := run(world.project, "left", "--no-wait")).exit_code == 3:
        assert world.server.batches[0].looks < 10, back.output
    assert back.exit_code == 0, back.output
    assert sum(world.server.submitted.values()) == TRIALS
    assert report_bytes(world.project, "left") == world.reports


def test_a_resumed_batch_has_the_records_and_notes_of_one_go(world: World) -> None:
    """The provider lacks a setting of the suite, and lets some requests fail before they are answered."""
    settings = {"seed": 5} if world.provider == "anthropic-batch" else {"temperature": 0.5}
    suite = write(world.project, batch_model(world.provider, world.server.url, **settings), "settings.yaml")
    fates = [Lines(fails=lambda prompt: "number 002" in prompt)]
    if world.provider == "openai-batch":
        fates.insert(0, Lines(lacks="temperature"))
    world.server.fates = list(fates)
    assert world.project.run(*command("one-go", suite)).exit_code == 0
    world.server.reset()
    world.server.fates, world.server.looks = list(fates), 2
    while (back := world.project.run(*command("resumed", suite), "--no-wait")).exit_code == 3:
        assert all(batch.looks < 20 for batch in world.server.batches), back.output
    assert back.exit_code == 0, back.output
    columns = "test, item_id, repeat, status, canonical, cost, attempts, not_settable, temperature, seed"
    rows = f"SELECT {columns} FROM records ORDER BY 1, 2, 3"
    assert query(world.project, "resumed", rows) == query(world.project, "one-go", rows)
    assert {row[-3] for row in query(world.project, "resumed", rows)} == set(settings)
    assert report_bytes(world.project, "resumed") == report_bytes(world.project, "one-go")


def test_expired_failed_and_doubled_lines_are_handled_one_by_one(world: World) -> None:
    hit = {number: f"number {number:03}" for number in range(ITEMS)}
    world.server.fates = [
        Lines(
            expires=lambda prompt: hit[0] in prompt or hit[1] in prompt,
            fails=lambda prompt: hit[2] in prompt,
            twice=lambda prompt: hit[4] in prompt,
        )
    ]
    outcome = run(world.project, "partly")
    assert outcome.exit_code == 0, outcome.output
    assert len(world.server.batches[0].lines) == TRIALS
    often = world.server.submitted
    assert sorted(often.values()) == [1] * 10 + [2] * 6
    assert all((often[prompt] == 2) == any(hit[number] in prompt for number in range(3)) for prompt in often)
    # What expired or failed was not billed.
    faults = query(world.project, "partly", "SELECT outcome, count(*), sum(cost) FROM calls GROUP BY 1 ORDER BY 1")
    assert [row for row in faults if row[0] != "ok"] == [("server_error", 6, 0.0)]
    assert query(world.project, "partly", VERDICTS) == query(world.project, "whole", VERDICTS)


def as_error_first(content: bytes) -> bytes:
    """Put a line before the answers of three quarters of the calls that says they failed."""
    rows = [json.loads(line) for line in content.splitlines()]
    said = {"code": "server_error", "message": "busy"}
    result = {"type": "errored", "error": {"type": "error", "error": {"type": "api_error", "message": "busy"}}}
    early = [{"custom_id": row["custom_id"], "error": said, "result": result} for row in rows[: len(rows) * 3 // 4]]
    return b"".join(json.dumps(row).encode() + b"\n" for row in [*early, *rows])


def with_status(status: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what gives a batch another status, and no results yet."""
    return lambda document: document | {"status": status, "processing_status": status, "output_file_id": None}


LOOKS: dict[str, list[Callable[[dict[str, Any]], Any]]] = {
    "no file for two looks": [lambda document: document | {"output_file_id": None}] * 2,
    "404": [lambda document: 404] * 2,
    "a list as the status": [with_status(["completed"])] * 2,
}
"""Answers about a batch whose results can be read later."""
FILES: dict[str, list[Callable[[bytes], bytes | int]]] = {
    "HTML with 200": [lambda content: b"<html>Welcome</html>"],
    "an error before the answer": [as_error_first],
    "numbers as texts": [lambda content: content.replace(b'"status_code": 200', b'"status_code": "200"')],
}
"""Results that can be read later, if not at once."""
UNKNOWN = "SELECT count(*), min(worst) > 0 FROM calls WHERE cost IS NULL"
PAID = "SELECT count(*), count(DISTINCT key), total(cost), sum(cost IS NULL) FROM calls"


@loop_over("fault", [*LOOKS, *FILES])
def test_results_that_cannot_be_read_at_once_are_read_again_and_not_bought_again(world: World, fault: str) -> None:
    world.server.reset()
    world.server.looked = list(LOOKS.get(fault, ()))
    world.server.content = list(FILES.get(fault, ()))
    run_dir = "again-" + re.sub(r"\W+", "-", fault)
    outcome = run(world.project, run_dir)
    assert outcome.exit_code == 0, outcome.output
    assert not world.server.looked or world.provider == "anthropic-batch", "only OpenAI's status names files"
    assert set(world.server.billed.values()) == {1}
    assert sum(world.server.billed.values()) == TRIALS
    assert query(world.project, run_dir, PAID) == query(world.project, "whole", PAID)
    assert report_bytes(world.project, run_dir) == world.reports


def test_what_stays_unreadable_is_booked_at_its_worst_and_bought_again_only_by_agreement(world: World) -> None:
    lost = "number 003"
    world.server.fates = [Lines(missing=lambda prompt: lost in prompt)]
    suite = write(
        world.project,
        batch_model(world.provider, world.server.url, results_seconds=0.3, collect_seconds=1),
        "patient.yaml",
    )
    for _ in range(2):
        outcome = world.project.run(*command("unread", suite))
        assert outcome.exit_code == 3, outcome.output
        assert "batch batch-0 cannot be read: 14 of 16 answers could be read" in outcome.stderr
        assert "jrh asks again only with `rebuy: true`" in outcome.stderr
        assert len(world.server.batches) == 1
        assert one(world.project, "unread", "SELECT count(*) FROM records WHERE status = 'ok'") == TRIALS - 2
        assert query(world.project, "unread", UNKNOWN) == [(2, 1)]
        assert "for calls of unknown cost" in outcome.stdout
    agreed = world.project.run(*command("unread", suite), "--set", "models.mini.rebuy=true")
    assert agreed.exit_code == 0, agreed.output
    assert [len(batch.lines) for batch in world.server.batches] == [TRIALS, 2]
    assert query(world.project, "unread", f"{UNKNOWN} AND outcome = 'malformed'") == [(2, 1)]
    planned = VERDICTS.replace("records", "records WHERE trial_id IN (SELECT id FROM trials)")
    assert query(world.project, "unread", planned) == query(world.project, "whole", planned)


def test_a_line_too_long_to_read_is_the_truncated_reply_of_its_call_and_hides_no_other(world: World) -> None:
    def spoil(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        long = {**rows[3], "padding": "x" * (LONGEST_ANSWER + 1_000_000)}
        foreign = {"padding": long["padding"]}
        return [*rows[:3], foreign, long, *rows[4:]]

    world.server.spoil = spoil
    outcome = run(world.project, "long-line")
    assert outcome.exit_code == 0, outcome.output
    assert set(world.server.submitted.values()) == {1}, "what was answered is asked again"
    statuses = query(world.project, "long-line", "SELECT status, count(*) FROM records GROUP BY 1 ORDER BY 1")
    assert statuses == [("ok", TRIALS - 1), ("truncated", 1)]


def test_an_error_with_a_lone_surrogate_fails_its_own_call_alone(world: World) -> None:
    def spoil(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        said = {"type": "invalid_request_error", "code": "invalid", "message": "bad \ud800"}
        response = {"status_code": 400, "body": {"error": said}}
        result = {"type": "errored", "error": {"type": "error", "error": said}}
        return [{"custom_id": rows[0]["custom_id"], "response": response, "result": result}, *rows[1:]]

    world.server.spoil = spoil
    # The counts call the failed line an answer, so that its word is believed only after the wait.
    outcome = run(world.project, "surrogate", "--set", "models.mini.results_seconds=0")
    assert outcome.exit_code == 3, outcome.output
    assert "1 of 16 trials failed" in outcome.stderr
    again = run(world.project, "surrogate")
    assert again.exit_code == 0, again.output
    assert sorted(world.server.submitted.values()) == [1] * (TRIALS - 1) + [2]


def test_a_batch_whose_creation_was_not_confirmed_is_found(world: World) -> None:
    world.server.break_once = {"create": 503}
    world.server.forget_metadata = True
    outcome = run(world.project, "unconfirmed")
    assert outcome.exit_code == 0, outcome.output
    assert sum(world.server.submitted.values()) == TRIALS
    assert report_bytes(world.project, "unconfirmed") == world.reports


def test_calls_are_split_at_the_size_of_a_file_and_a_kill_at_their_creation_loses_none(
    world: World,
) -> None:
    """Some of the batches are at the provider, and have the same size; the notes have no id of any."""
    limits = {"max_megabytes": 0.0015, "in_flight": TRIALS - 1}
    split = write(world.project, batch_model(world.provider, world.server.url, **limits), "split.yaml")
    started(world, "split", "create", split)
    at_provider = len(world.server.batches)
    outcome = world.project.run(*command("split", split))
    assert outcome.exit_code == 0, outcome.output
    assert 1 <= at_provider < len(world.server.batches)
    assert set(world.server.submitted.values()) == {1}
    assert sum(world.server.submitted.values()) == TRIALS
    assert max(map(len, world.server.sent)) <= 1_500 + len('{"requests":[]}')
    assert query(world.project, "split", VERDICTS) == query(world.project, "whole", VERDICTS)


@pytest.mark.parametrize("step", ["upload", "create", "look", "list", "download"])
def test_a_429_and_a_503_at_any_step_are_waited_out_and_submit_nothing_twice(world: World, step: str) -> None:
    if step not in (*STEPS[world.provider], "list"):
        pytest.skip("this protocol has fewer steps")
    world.server.refuse = {step: [429, 503, 429]}
    if step == "list":
        world.server.break_once = {"create": 503}  # only then batches are listed
    outcome = run(world.project, f"busy-{step}")
    assert outcome.exit_code == 0, outcome.output
    assert not world.server.refuse[step]
    assert sum(world.server.submitted.values()) == TRIALS
    assert report_bytes(world.project, f"busy-{step}") == world.reports


def test_a_batch_is_found_behind_pages_of_newer_ones(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others submit more than two pages of batches between the kill and the next run."""
    started(world, "buried", "create")
    world.server.foreign(210, lines=TRIALS - 1)
    world.server.foreign(2, lines=TRIALS)
    before = len(world.server.batches)
    with monkeypatch.context() as patch:
        for module in (openai, anthropic):
            patch.setattr(module, "MOST_PAGES", 2)
        hidden = run(world.project, "buried")
    assert hidden.exit_code == 3, hidden.output
    assert "newer batches are listed, and more" in hidden.stderr
    assert len(world.server.batches) == before, "it may be at the provider, and is submitted again"
    found = run(world.project, "buried")
    assert found.exit_code == 0, found.output
    assert len(world.server.batches) == before
    assert report_bytes(world.project, "buried") == world.reports


def test_a_batch_waits_until_another_one_has_left_the_queue(world: World) -> None:
    half = TRIALS // 2
    halves = write(world.project, batch_model(world.provider, world.server.url, max_requests=half), "halves.yaml")
    world.server.room, world.server.looks = half, 3
    outcome = world.project.run(*command("halves", halves))
    assert outcome.exit_code == 0, outcome.output
    assert [len(each.lines) for each in world.server.batches if each.failed is None] == [half, half]
    assert set(world.server.submitted.values()) == {1}
    assert query(world.project, "halves", VERDICTS) == query(world.project, "whole", VERDICTS)


def test_a_full_queue_is_waited_for_with_smaller_batches(world: World) -> None:
    if world.provider != "openai-batch":
        pytest.skip("Anthropic answers 429 instead")
    world.server.room = TRIALS - 1
    outcome = run(world.project, "queued")
    assert outcome.exit_code == 0, outcome.output
    assert set(world.server.submitted.values()) == {1}
    assert world.server.max_lines == TRIALS // 2
    assert report_bytes(world.project, "queued") == world.reports
    # Halves that are refused, too, are not put together again.
    world.server.reset()
    world.server.room = 3
    outcome = run(world.project, "narrow")
    assert outcome.exit_code == 0, outcome.output
    assert set(world.server.submitted.values()) == {1}
    assert world.server.max_lines <= 3
    assert query(world.project, "narrow", VERDICTS) == query(world.project, "whole", VERDICTS)


def test_no_run_spends_more_than_its_budget(world: World) -> None:
    # A call's worst case is some 0.2 to 0.3 dollars, so some four of the calls are submitted at a time.
    outcome = run(world.project, "poor", "--set", "budget.usd=0.5", "--set", "models.mini.collect_seconds=0.1")
    assert outcome.exit_code == 4, outcome.output
    assert len(world.server.batches) > 1
    paid = one(world.project, "poor", "SELECT sum(cost) FROM calls")
    print(paid, [len(each.lines) for each in world.server.batches], outcome.output)
    assert 0.0 < paid <= 0.5
    rich = run(world.project, "poor")
    assert rich.exit_code == 0, rich.output
    assert set(world.server.submitted.values()) == {1}
    assert report_bytes(world.project, "poor") == world.reports


def test_the_key_is_in_no_file_and_no_output(world: World) -> None:
    world.server.key = "another-key"
    outcome = run(world.project, "refused", "--no-preflight")
    world.server.key = KEY
    assert outcome.exit_code == 3, outcome.output
    assert "Set a valid key" in outcome.stderr
    assert world.server.unauthorized == 1
    assert KEY.encode() not in everything(world.project, outcome, world.first)
    assert run(world.project, "refused").exit_code == 0
    assert sum(world.server.submitted.values()) == TRIALS
