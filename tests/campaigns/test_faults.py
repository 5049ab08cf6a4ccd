"""Everything a provider can do wrong ends in a status or in a bounded retry, and never in a score (point 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from jrh_testing import FAULTS, ChatServer, Fault, Inside, Outcome, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report
from support.suites import PROVIDERS, llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.slow

ATTEMPTS = 2
TIMEOUT = 8.0
"""Seconds until `drip` and `hang` are over; on a busy machine the longest proper answer, of 8 MB, takes four."""
RETRIED = {
    "429-seconds": "rate_limit",
    "429-date": "rate_limit",
    "429-bare": "rate_limit",
    "500": "server_error",
    "503": "server_error",
    "reset": "connection",
    "drip": "timeout",
    "hang": "timeout",
    "bad-json": "malformed",
    "empty-choices": "malformed",
    "empty-body": "malformed",
    "html": "malformed",
    "finish-error": "malformed",
}
"""Fault -> the kind its attempts are counted under."""
FINAL = {"400": "rejected", "404": "rejected"}
ANSWERS = {
    "missing-usage": "ok",
    "reasoning-only": "ok",
    "finish-unknown": "incomplete",
    "context-overflow": "context_overflow",
    "length": "truncated",
    "refusal": "refused",
    "content-filter": "refused",
    "huge-body": "truncated",
}
"""Faults that are answers: fault -> status of the verdict."""
STOPPING = ("401", "403", "402", "no-quota")
ODD = ("null-content",)
"""Answers without a decision."""
PRICE = {"input": 1.0, "output": 2.0}


def always(kind: str) -> str:
    return f"An answer. <always {kind}>"


def once(kind: str) -> str:
    return f"An answer. <once {kind}>"


@frozen(kw_only=True)
class Judged:
    """One judge of the finished run against the faulty servers; it is named for its provider."""

    project: Project
    outcome: Outcome
    server: ChatServer
    judge: str

    def record(self, text: str) -> dict[str, Any]:
        names = ("status", "presented", "canonical", "cost", "attempts", "detail", "prompt_tokens")
        found = query(
            self.project,
            "run",
            f"SELECT {', '.join(f'r.{name}' for name in names)} FROM records r JOIN items i ON i.id = r.item_id "
            "WHERE instr(unpacked(i.texts, i.payload), ?) AND r.judge = ?",
            (text, self.judge),
        )
        assert len(found) == 1, text
        return dict(zip(names, found[0], strict=True))

    def outcomes(self) -> dict[str, int]:
        grouped = "SELECT outcome, count(*) FROM calls WHERE model = ? GROUP BY outcome"
        return dict(query(self.project, "run", grouped, (self.judge,)))

    def asked(self, text: str) -> int:
        return sum(count for prompt, count in self.server.prompts.items() if text in prompt)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Judged]]:
    """One run in which every fault happens to every provider, each with a judge and a server of its own."""
    faults = [Fault(kind, match=always(kind), retry_after=0.2) for kind in FAULTS if kind not in STOPPING]
    faults += [Fault(kind, match=once(kind), times=1, per_prompt=True, retry_after=0.2) for kind in RETRIED]
    texts = [always(kind) for kind in FAULTS if kind not in STOPPING] + [once(kind) for kind in RETRIED]
    texts += ["A healthy answer.", "Another healthy answer."]
    _warm_up(Inside(tmp_path_factory.mktemp("warm"), env={KEY_VARIABLE: KEY}))
    project = Inside(tmp_path_factory.mktemp("faults"), env={KEY_VARIABLE: KEY})
    limits = {"timeout": TIMEOUT, "max_attempts": ATTEMPTS, "price": PRICE, "max_tokens": 50, "concurrency": 24}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(ChatServer("NO", faults=faults)) for name in PROVIDERS}
        models = {name: PROVIDERS[name](server.url, **limits) for name, server in servers.items()}
        judges = [{"name": name, "judge": "llm", "model": name} for name in PROVIDERS]
        write_items(project, texts)
        write_suite(project, llm_suite({}, models=models, judges=judges))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run")
        yield {
            name: Judged(project=project, outcome=outcome, server=server, judge=name)
            for name, server in servers.items()
        }


def _warm_up(project: Project) -> None:
    """Make one call through litellm, which imports for seconds at its first: they would count as time-outs."""
    with ChatServer("NO") as server:
        write_items(project, 1)
        write_suite(project, llm_suite(PROVIDERS["litellm"](server.url)))
        assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0


@pytest.fixture(params=list(PROVIDERS))
def judged(request: pytest.FixtureRequest, matrix: Mapping[str, Judged]) -> Judged:
    """One provider's row of the matrix."""
    return matrix[request.param]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide an empty project that runs in this process."""
    return Inside(tmp_path, env={KEY_VARIABLE: KEY})


def test_every_fault_of_the_server_is_met() -> None:
    assert {*RETRIED, *FINAL, *ANSWERS, *STOPPING, *ODD} == set(FAULTS)


def test_a_run_with_failed_trials_is_incomplete_and_says_how_many(judged: Judged) -> None:
    assert judged.outcome.exit_code == 3, judged.outcome.output
    failed = one(judged.project, "run", "SELECT count(*) FROM records WHERE status IN ('timeout', 'provider_error')")
    total = one(judged.project, "run", "SELECT count(*) FROM trials")
    assert f"{failed} of {total} trials failed and have no verdict" in judged.outcome.stderr
    assert "Traceback" not in judged.outcome.output


@pytest.mark.parametrize("kind", RETRIED)
def test_a_lasting_fault_is_retried_in_bounds_and_ends_in_a_status(judged: Judged, kind: str) -> None:
    record = judged.record(always(kind))
    expected = "timeout" if RETRIED[kind] == "timeout" else "provider_error"
    assert record["status"] == expected, record
    assert record["detail"].startswith(f"{RETRIED[kind]}: "), record
    assert record["attempts"] == judged.asked(always(kind)) == ATTEMPTS
    assert (record["presented"], record["canonical"]) == (None, None)


@pytest.mark.parametrize("kind", RETRIED)
def test_a_passing_fault_is_answered_by_the_retry(judged: Judged, kind: str) -> None:
    record = judged.record(once(kind))
    assert (record["status"], record["canonical"], record["attempts"]) == ("ok", "NO", 2), record
    assert judged.asked(once(kind)) == 2


@pytest.mark.parametrize("kind", FINAL)
def test_a_rejected_request_is_not_sent_again(judged: Judged, kind: str) -> None:
    record = judged.record(always(kind))
    assert (record["status"], record["canonical"], record["attempts"]) == ("provider_error", None, 1), record
    assert record["detail"].startswith("rejected: "), record
    assert judged.asked(always(kind)) == 1


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_odd_answer_is_an_answer_and_not_asked_again(judged: Judged, kind: str) -> None:
    record = judged.record(always(kind))
    assert record["status"] == ANSWERS[kind], record
    assert judged.asked(always(kind)) == 1


@pytest.mark.parametrize(
    "kind", [*ODD, *RETRIED, *FINAL, "length", "refusal", "content-filter", "huge-body", "finish-unknown"]
)
def test_no_fault_becomes_a_score(judged: Judged, kind: str) -> None:
    record = judged.record(always(kind))
    assert record["status"] != "ok"
    assert (record["presented"], record["canonical"]) == (None, None)


def test_a_reply_cut_at_the_limit_is_not_parsed_though_a_label_stands_in_it(judged: Judged) -> None:
    record = judged.record(always("length"))
    reply = one(
        judged.project,
        "run",
        "SELECT payload FROM calls WHERE outcome = 'truncated' AND instr(payload, 'YES, because')",
    )
    assert "length" in reply
    assert (record["status"], record["canonical"]) == ("truncated", None)


def test_ten_megabytes_are_an_answer_that_says_it_was_too_long_and_are_not_kept(judged: Judged) -> None:
    record = judged.record(always("huge-body"))
    assert record["detail"] == "the reply is longer than 8,388,608 bytes and was not read"
    assert one(judged.project, "run", "SELECT max(length(payload)) FROM calls") < 10_000


def test_a_reply_without_token_counts_has_an_unknown_cost_and_not_none(judged: Judged) -> None:
    record = judged.record(always("missing-usage"))
    assert record["status"] == "ok"
    assert record["cost"] is None
    assert record["prompt_tokens"] is None
    unknown = "SELECT count(*) FROM calls WHERE outcome = 'ok' AND cost IS NULL AND model = ?"
    assert one(judged.project, "run", unknown, (judged.judge,)) == 1
    (line,) = [line for line in report(judged.project, "run")["costs"] if line["judge"] == judged.judge]
    assert line["unknown"] >= 1
    assert line["tokens_unknown"] >= 1


def test_an_answered_trial_costs_what_its_tokens_cost(judged: Judged) -> None:
    record = judged.record("A healthy answer.")
    its = "FROM records WHERE judge = ? AND"
    tokens = query(
        judged.project,
        "run",
        f"SELECT prompt_tokens, completion_tokens {its} cost IS NOT NULL",
        (judged.judge,),
    )
    assert record["cost"] > 0
    answered = f"SELECT total(cost) {its} status NOT IN ('timeout', 'provider_error')"
    known = one(judged.project, "run", answered, (judged.judge,))
    assert known == pytest.approx(sum((asked * 1.0 + answered * 2.0) / 1e6 for asked, answered in tokens if asked))


def test_an_unknown_finish_reason_is_named_and_never_parsed(judged: Judged) -> None:
    record = judged.record(always("finish-unknown"))
    assert (record["status"], record["canonical"]) == ("incomplete", None)
    assert "'banana'" in record["detail"]


def test_a_verdict_in_the_reasoning_alone_is_found(judged: Judged) -> None:
    assert judged.record(always("reasoning-only"))["canonical"] == "NO"


def test_a_prompt_that_is_too_long_is_a_status_of_its_own_and_says_how_long_it_may_be(judged: Judged) -> None:
    record = judged.record(always("context-overflow"))
    assert (record["status"], record["attempts"]) == ("context_overflow", 1)
    assert "8192 tokens" in record["detail"]


def test_every_attempt_stands_in_the_store_with_its_outcome(judged: Judged) -> None:
    counted = judged.outcomes()
    assert None not in counted
    assert sum(counted.values()) == judged.server.count
    for kind in ("rate_limit", "server_error", "connection", "timeout"):
        faults = sum(each == kind for each in RETRIED.values())
        assert counted[kind] == faults * (ATTEMPTS + 1), kind
    assert counted["rejected"] == len(FINAL)
    assert counted["truncated"] == 2
    assert counted["refused"] == 2


def test_the_reports_count_the_faults(judged: Judged) -> None:
    found = report(judged.project, "run")["faults"]
    lines = {line["kind"]: line for line in found if line["model"] == judged.judge}
    counted = judged.outcomes()
    for kind in ("rate_limit", "server_error", "connection", "timeout", "rejected", "malformed", "context_overflow"):
        assert lines[kind]["attempts"] == counted[kind], kind
        lost = one(
            judged.project,
            "run",
            "SELECT count(*) FROM records WHERE judge = ? AND (detail LIKE ? || ': %' OR status = ?)",
            (judged.judge, kind, kind if kind == "context_overflow" else ""),
        )
        assert lines[kind]["final"] == lost, kind
    assert not {"ok", "refused", "truncated"} & set(lines)
    text = judged.project.read("run/report.md")
    assert f"| {judged.judge} | timeout | {counted['timeout']} | " in text


def test_the_reports_count_the_missing_verdicts_by_status(judged: Judged) -> None:
    grouped = "SELECT status, count(*) FROM records WHERE judge = ? GROUP BY status"
    statuses = dict(query(judged.project, "run", grouped, (judged.judge,)))
    measures = [each for each in report(judged.project, "run")["measures"] if each["judge"] == judged.judge]
    accuracy = next(each for each in measures if each["name"] == "as-expected" and not each["cell"])
    missing = {status: count for status, count in statuses.items() if status != "ok"}
    assert accuracy["missing"] == missing
    assert accuracy["n_trials"] == statuses["ok"]


def test_a_run_whose_only_trouble_is_ten_megabytes_is_complete_and_asks_no_second_time(
    project: Project, server: ChatServer
) -> None:
    server.misbehave(Fault("huge-body", match=always("huge-body")))
    write_items(project, [always("huge-body"), "Healthy."])
    write_suite(project, llm_suite(openai_http(server.url, max_attempts=3)))
    first = project.run("run", "suite.yaml", "--run-dir", "run")
    again = project.run("run", "suite.yaml", "--run-dir", "run")
    assert (first.exit_code, again.exit_code) == (0, 0), first.output
    assert server.count == 2
    statuses = dict(query(project, "run", "SELECT status, count(*) FROM records GROUP BY status"))
    assert statuses == {"ok": 1, "truncated": 1}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("YES") as server:
        yield server


def test_once_the_server_is_well_the_same_command_asks_only_what_failed(project: Project, server: ChatServer) -> None:
    kinds = ("500", "bad-json", "400", "refusal", "length")
    server.misbehave(*(Fault(kind, match=always(kind)) for kind in kinds))
    write_items(project, [*map(always, kinds), "Healthy.", "Healthy, too."])
    write_suite(project, llm_suite(openai_http(server.url, max_attempts=1)))
    first = project.run("run", "suite.yaml", "--run-dir", "run")
    before = server.prompts
    server.misbehave()
    second = project.run("run", "suite.yaml", "--run-dir", "run")
    asked = server.prompts - before
    assert first.exit_code == 3
    assert second.exit_code == 0, second.output
    assert sorted(asked.values()) == [1, 1, 1]
    assert all(any(always(kind) in prompt for kind in ("500", "bad-json", "400")) for prompt in asked)
    statuses = dict(query(project, "run", "SELECT status, count(*) FROM records GROUP BY status"))
    assert statuses == {"ok": 5, "refused": 1, "truncated": 1}


def check_stopped(project: Project, server: ChatServer, stopped: Outcome) -> None:
    """Check a run whose key was refused at the eleventh item."""
    answered = sum(server.proper_answers.values())
    assert stopped.exit_code == 3, stopped.output
    assert re.search("model 'mini' (rejected the key|has no credit left) ", stopped.stderr)
    assert re.search("(Set a valid key|Add credit to the account) and run the same command again", stopped.stderr)
    assert "jrh: to continue: jrh run suite.yaml --run-dir run" in stopped.stderr
    assert "Traceback" not in stopped.output
    assert 10 <= answered <= 14, "it did not stop at once"
    assert server.count == answered + 1
    assert one(project, "run", "SELECT count(*) FROM records WHERE status = 'ok'") == answered
    assert one(project, "run", "SELECT count(*) FROM records") == answered


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", STOPPING)
def test_a_refused_key_in_mid_run_stops_at_once_and_nothing_is_lost(
    project: Project, server: ChatServer, kind: str, provider: str
) -> None:
    server.misbehave(Fault(kind, match="number 010"))
    items = write_items(project, 20)
    suite = write_suite(project, llm_suite(PROVIDERS[provider](server.url, concurrency=2)))
    check_stopped(project, server, project.run("run", suite, "--run-dir", "run"))
    server.misbehave()
    done = project.run("run", suite, "--run-dir", "run")
    assert done.exit_code == 0, done.output
    assert server.count == items + 1
    assert max((server.prompts - server.proper_answers).values()) == 1
    assert one(project, "run", "SELECT count(*) FROM records WHERE status = 'ok'") == items


def test_a_wrong_key_is_asked_about_once_and_the_right_one_finishes(project: Project, tmp_path: Path) -> None:
    with ChatServer("YES", require_key=KEY) as server:
        items = write_items(project, 12)
        suite = write_suite(project, llm_suite(openai_http(server.url, concurrency=1)))
        wrong = project.run("run", suite, "--run-dir", "run", env={KEY_VARIABLE: "another-key-entirely"})
        refused = server.count
        right = project.run("run", suite, "--run-dir", "run")
    assert (wrong.exit_code, refused) == (3, 1), wrong.output
    assert "rejected the key (HTTP 401" in wrong.stderr
    assert "another-key-entirely" not in wrong.output
    assert right.exit_code == 0, right.output
    assert server.count == refused + items


def test_when_every_call_fails_the_run_is_incomplete_and_nothing_looks_like_a_result(
    project: Project, server: ChatServer
) -> None:
    server.misbehave(Fault("500"))
    items = write_items(project, 8)
    write_suite(
        project, llm_suite(openai_http(server.url, max_attempts=2), tests=[{"format": {"variants": ["spaces"]}}])
    )
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 3, outcome.output
    assert f"{2 * items} of {2 * items} trials failed and have no verdict" in outcome.stderr
    found = report(project, "run")
    # What has no judge describes the data and not an answer.
    scores = [each for each in found["measures"] if each["name"] != "missing" and each["judge"]]
    assert scores
    assert [each for each in scores if each["estimate"] is not None] == []
    assert [each["estimate"] for each in found["measures"] if each["name"] == "missing" and not each["cell"]] == [
        1.0,
        1.0,
    ]
    assert "100 %" not in outcome.output
    assert "100%" not in outcome.output


def test_a_provider_that_refuses_everything_stops_the_run_early(project: Project, server: ChatServer) -> None:
    server.misbehave(Fault("400"))
    write_items(project, 200)
    write_suite(project, llm_suite(openai_http(server.url, concurrency=4)))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 3, outcome.output
    assert "model 'mini' failed 20 questions in a row, the last one with rejected: HTTP 400" in outcome.stderr
    assert 20 <= server.count <= 26  # with those that were ready to be sent
    assert one(project, "run", "SELECT count(*) FROM records WHERE canonical IS NOT NULL") == 0


def test_some_failures_between_answers_do_not_stop_the_run(project: Project, server: ChatServer) -> None:
    server.misbehave(Fault("400", every=2))
    items = write_items(project, 80)
    write_suite(project, llm_suite(openai_http(server.url, concurrency=1)))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 3, outcome.output
    statuses = dict(query(project, "run", "SELECT status, count(*) FROM records GROUP BY status"))
    assert statuses == {"ok": items // 2, "provider_error": items // 2}


@pytest.mark.parametrize("fault", ["refused", "unknown host"])
def test_a_connection_that_never_was_is_a_failure_that_costs_nothing(
    project: Project, unused_tcp_port: int, fault: str
) -> None:
    limits = {"max_attempts": 1, "price": PRICE, "max_tokens": 50}
    host = {"refused": "127.0.0.1", "unknown host": "no-such-host.invalid"}[fault]
    models = {name: PROVIDERS[name](f"http://{host}:{unused_tcp_port}/v1", **limits) for name in PROVIDERS}
    write_items(project, 1)
    judges = [{"name": name, "judge": "llm", "model": name} for name in models]
    write_suite(project, llm_suite({}, models=models, judges=judges))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 3, outcome.output
    assert one(project, "run", "SELECT total(cost) || ' ' || count(*) FROM calls WHERE cost IS NOT NULL") == "0.0 2"
    assert query(project, "run", "SELECT DISTINCT status FROM records") == [("provider_error",)]
