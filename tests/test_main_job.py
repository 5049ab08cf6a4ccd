"""The main job on real input: essays judged by a classical judge and by an LLM through both providers (point 2)."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from jrh_testing import ChatServer, Outcome, Project, SimulatedAnswers
from support.essays import essays_folder
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report, report_bytes
from support.suites import litellm, openai_http, write_suite

LEVELS = tuple("123456")
ITEMS = 18
LAYOUTS = ("spaces", "trailing", "indent")
REFERENCE, FORMAT, REPEATS = 2, len(LAYOUTS), 3
PER_LLM = ITEMS * (REFERENCE + FORMAT + REPEATS)


def essays(url: str, base: Path) -> dict[str, Any]:
    """Make the suite; real data is read in place."""
    folder = Path(os.path.relpath(essays_folder(base / "data"), base))
    columns = {"id": "essay_id", "request": "assignment", "response": "full_text", "label": "holistic_essay_score"}
    limits = {"concurrency": 16, "price": {"input": 0.5, "output": 1.5}, "max_tokens": 100}
    return {
        "name": "essays",
        "data": {
            "source": "csv",
            "path": str(folder / "essays.csv"),
            "columns": {**columns, "stratum": "prompt_name"},
            "sample": {"n": ITEMS, "seed": 7, "stratify": True},
        },
        "task": {
            "instruction": {"file": str(folder / "instruction.txt")},
            "rubric": {"file": str(folder / "rubric.txt")},
            "scale": {"ordinal": [1, 6]},
        },
        "models": {"direct": openai_http(url, **limits), "routed": litellm(url, **limits)},
        "tests": [{"format": {"variants": list(LAYOUTS)}}, {"stochastic": {"repeats": REPEATS}}],
        "judges": [
            "baseline",
            {"name": "direct", "judge": "llm", "model": "direct"},
            {"name": "routed", "judge": "llm", "model": "routed", "parser": "json"},
        ],
        "budget": {"usd": 20.0},
        "resamples": 200,
    }


@frozen(kw_only=True)
class Job:
    """The job, done once and then once more."""

    project: Project
    first: Outcome
    calls_first: int
    reports_first: dict[str, bytes]
    again: Outcome
    calls_again: int
    server: ChatServer


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    project = Project(tmp_path_factory.mktemp("essays"), env={KEY_VARIABLE: KEY})
    answer = SimulatedAnswers(labels=LEVELS, accuracy=0.7, form='{"verdict": "{label}"}')
    with ChatServer(answer, latency=0.01) as server:
        suite = write_suite(project, essays(server.url, project.path))
        first = project.run("run", suite, "--run-dir", "run", "--yes")
        calls = server.count
        reports = report_bytes(project, "run") if first.exit_code == 0 else {}
        again = project.run("run", suite, "--run-dir", "run", "--yes")
        yield Job(
            project=project,
            first=first,
            calls_first=calls,
            reports_first=reports,
            again=again,
            calls_again=server.count - calls,
            server=server,
        )


def test_the_job_is_done(job: Job) -> None:
    assert job.first.exit_code == 0, job.first.output
    assert "Traceback" not in job.first.output
    for name in ("report.md", "report.json"):
        assert f"Report: run/{name}\n" in job.first.stdout


def test_every_judge_is_asked_every_case_as_often_as_the_suite_says(job: Job) -> None:
    counted = {
        (judge, test): count
        for judge, test, count in query(job.project, "run", "SELECT judge, test, count(*) FROM records GROUP BY 1, 2")
    }
    per_test = {"reference": ITEMS * REFERENCE, "format": ITEMS * FORMAT, "stochastic": ITEMS * REPEATS}
    assert counted == {(judge, test): per_test[test] for judge in ("baseline", "direct", "routed") for test in per_test}
    assert one(job.project, "run", "SELECT count(*) FROM records WHERE status != 'ok'") == 0


def test_all_judges_judge_the_same_cases(job: Job) -> None:
    cases = {
        judge: {row[0] for row in query(job.project, "run", "SELECT case_id FROM records WHERE judge = ?", (judge,))}
        for judge in ("baseline", "direct", "routed")
    }
    assert cases["baseline"] == cases["direct"] == cases["routed"]
    assert len(cases["direct"]) == ITEMS * (1 + FORMAT + 1)


def test_every_call_is_one_request_and_costs_what_its_tokens_cost(job: Job) -> None:
    assert job.calls_first == 2 * PER_LLM
    by_model = Counter(dict(query(job.project, "run", "SELECT model, count(*) FROM calls GROUP BY model")))
    assert by_model == {"direct": PER_LLM, "routed": PER_LLM}
    for judge in ("direct", "routed"):
        asked, answered, cost = query(
            job.project,
            "run",
            "SELECT sum(prompt_tokens), sum(completion_tokens), sum(cost) FROM records WHERE judge = ?",
            (judge,),
        )[0]
        assert cost == pytest.approx((asked * 0.5 + answered * 1.5) / 1e6)
    assert one(job.project, "run", "SELECT sum(cost) FROM records WHERE judge = 'baseline'") == 0


def test_both_providers_send_the_same_questions_and_read_the_same_verdicts(job: Job) -> None:
    # The prompts of the two judges differ in nothing but the seeds of the repeats, which the server does not look at.
    verdicts = {
        judge: query(
            job.project,
            "run",
            "SELECT test, item_id, variant, repeat, canonical FROM records WHERE judge = ? ORDER BY 1, 2, 3, 4",
            (judge,),
        )
        for judge in ("direct", "routed")
    }
    assert verdicts["direct"] == verdicts["routed"]
    assert len({row[-1] for row in verdicts["direct"]}) > 3


def test_the_essays_reach_the_judge_whole(job: Job) -> None:
    with_reference = query(
        job.project,
        "run",
        "SELECT unpacked(i.texts, i.payload) FROM items i JOIN records r ON r.item_id = i.id GROUP BY i.id LIMIT 3",
    )
    assert with_reference
    prompts = list(job.server.prompts)
    for (payload,) in with_reference:
        text = json.loads(payload)["fields"]["response"]
        assert len(text) > 500
        assert sum(text in prompt for prompt in prompts) >= 1


def test_the_report_says_what_was_found_and_what_it_was_made_of(job: Job) -> None:
    found = report(job.project, "run")
    assert found["planned"] == 3 * PER_LLM
    assert found["missing_records"] == 0
    assert found["faults"] == []
    measured = {(each["judge"], each["name"], each["test"]): each for each in found["measures"] if not each["cell"]}
    for judge in ("baseline", "direct", "routed"):
        accuracy = measured[judge, "as-expected", "reference"]
        assert accuracy["n_items"] == ITEMS
        assert accuracy["interval"]["low"] <= accuracy["estimate"] <= accuracy["interval"]["high"]
        assert (judge, "flip-rate", "format") in measured
        assert (judge, "rerun-disagreement", "stochastic") in measured
    assert measured["baseline", "rerun-disagreement", "stochastic"]["estimate"] == 0.0
    assert (
        measured["baseline", "flip-rate", "format"]["estimate"] < measured["direct", "flip-rate", "format"]["estimate"]
    )
    made_of = {(each["role"], each["component"]) for each in found["components"]}
    assert {
        ("data source", "jrh-sources/csv"),
        ("perturber", "jrh-format/format"),
        ("validator", "jrh-format/words-unchanged"),
        ("judge", "jrh-baseline/baseline"),
        ("model", "jrh-litellm/litellm"),
        ("model", "jrh-openai-http/openai-http"),
    } <= made_of
    assert [each["simulated"] for each in found["components"]].count(True) == 0


def test_every_case_of_the_format_test_has_the_words_of_its_essay(job: Job) -> None:
    rows = query(
        job.project,
        "run",
        "SELECT unpacked(c.texts, c.payload), unpacked(i.texts, i.payload) FROM cases c "
        "JOIN items i ON i.id = c.item_id WHERE c.test = 'format'",
    )
    assert len(rows) == ITEMS * FORMAT
    for case, item in rows:
        presented, original = (json.loads(text)["fields"]["response"] for text in (case, item))
        assert presented != original
        assert presented.split() == original.split()


def test_running_it_again_asks_nothing_and_reports_the_same(job: Job) -> None:
    assert job.again.exit_code == 0, job.again.output
    assert job.calls_again == 0
    assert report_bytes(job.project, "run") == job.reports_first
