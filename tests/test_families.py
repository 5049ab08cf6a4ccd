"""Every family over real input, by rules alone and written by a model, with the attrition that the report shows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jrh
import pytest
from attrs import frozen
from jrh_testing import ChatServer, Inside, Outcome, Project
from support.essays import essays_folder
from support.keys import KEY, KEY_VARIABLE
from support.looking import cases_of, drafts_of, report
from support.suites import REPORTS, openai_http, write_suite
from support.writers import FAULTS, FLIPPED, FOREIGN, PROSE, REFUSAL, Writers

pytestmark = pytest.mark.slow

ESSAYS, FACTS = 10, 30
LEVELS = ("1", "2", "3", "4", "5", "6")
DOUBTED = 29
"""The place of the fact whose label flip the validator rejects."""
REASONS = {
    "prose": "no JSON in the reply",
    "empty": "empty text",
    "unchanged": "unchanged",
    "rubric": "the rubric itself",
    "refusal": "the model refused",
    "long": "longer than 100,000 characters",
    "huge": "longer than 8 MiB",
    "language": "another language",
}
FORMAT = {"format": {"variants": ["spaces", "indent"]}}
SHARED: dict[str, Any] = {
    "resamples": 100,
    "reports": list(REPORTS),
    "metrics": ["as-expected", "flip-rate"],
    "reference": {"repeats": 1},
}
REWRITTEN = ("paraphrase", "verbosity", "label-flip")


def essays(base: Path) -> dict[str, Any]:
    """Make the suite over the essays, without tests; real data is read in place."""
    folder = Path(os.path.relpath(essays_folder(base / "data"), base))
    columns = {"id": "essay_id", "request": "assignment", "response": "full_text", "label": "holistic_essay_score"}
    return {
        "name": "essays",
        "data": {"source": "csv", "path": str(folder / "essays.csv"), "columns": columns, "sample": {"n": ESSAYS}},
        "task": {
            "instruction": {"file": str(folder / "instruction.txt")},
            "rubric": {"file": str(folder / "rubric.txt")},
            "scale": {"ordinal": [1, 6]},
        },
        "judges": [{"judge": "simulated", "name": "steady"}],
        **SHARED,
    }


def facts() -> dict[str, Any]:
    """Make the suite over the shipped factual items, without tests."""
    return {
        "name": "facts",
        "data": {"source": "examples", "dataset": "factual"},
        "task": {
            "instruction": "Decide whether the answer to the question is factually accurate.",
            "rubric": "YES: what the answer states is true. NO: what it states is false, in whole or in part.",
            "scale": {"labels": ["YES", "NO"]},
        },
        "judges": [{"judge": "simulated", "name": "steady"}],
        **SHARED,
    }


@frozen(kw_only=True)
class Job:
    """A suite that was run."""

    project: Project
    outcome: Outcome
    items: tuple[jrh.Item, ...]

    def attrition(self) -> dict[str, dict[str, Any]]:
        """Return what the report says of each test's drafts."""
        return {line["test"]: line for line in report(self.project, "run")["attrition"]}

    def drafts(self, test: str) -> list[tuple[str, str, str, str, dict[str, Any]]]:
        """Return item, variant, state, reason and payload of everything a test proposed."""
        return drafts_of(self.project, "run", test)

    def cases(self, test: str) -> list[dict[str, Any]]:
        """Return the cases of a test."""
        return cases_of(self.project, "run", test)


def done(folder: Path, suite: dict[str, Any], items: tuple[jrh.Item, ...]) -> Job:
    """Run a suite."""
    project = Inside(folder, env={KEY_VARIABLE: KEY})
    outcome = project.run("run", write_suite(project, suite), "--run-dir", "run", "--yes")
    return Job(project=project, outcome=outcome, items=items)


def items_of(suite: dict[str, Any], folder: Path) -> tuple[jrh.Item, ...]:
    """Read the items of a suite as the run will."""
    path = write_suite(Inside(folder), suite, "items.yaml")
    return jrh.read_items(folder / path)[0][1]


def with_writer(suite: dict[str, Any], url: str, tests: list[Any]) -> dict[str, Any]:
    """Let a model write, and another one read, over the wire."""
    limits = {"free": True, "max_tokens": 4000, "max_attempts": 1}
    models = {
        "writer": openai_http(url, model="writer", **limits),
        "reader": openai_http(url, model="reader", **limits),
    }
    judges = [*suite["judges"], {"name": "reader", "judge": "llm", "model": "reader"}]
    return {**suite, "models": models, "tests": tests, "judges": judges}


@pytest.fixture(scope="module")
def essays_by_rules(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("essays-rules")
    tests = [FORMAT, {"stochastic": {"repeats": 2}}, "paraphrase", "verbosity", "synthetic-ordinal"]
    suite = {**essays(folder), "tests": tests}
    return done(folder, suite, items_of(suite, folder))


@pytest.fixture(scope="module")
def essays_by_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    folder = tmp_path_factory.mktemp("essays-model")
    suite = essays(folder)
    items = items_of({**suite, "tests": []}, folder)
    with ChatServer(
        Writers(items, (essays_folder(folder / "data") / "rubric.txt").read_text(encoding="utf-8"), LEVELS)
    ) as server:
        once = {"initial_temperature": 1.0, "max_temperature": 1.0, "attempts_per_temperature": 1}
        tests = [
            FORMAT,
            {"stochastic": {"repeats": 2}},
            {"paraphrase": {"model": "writer", "attempts": 1}},
            {"verbosity": {"model": "writer", "attempts": 1}},
            {"synthetic-ordinal": {"model": "writer", "grader": "reader", **once}},
        ]
        yield done(folder, with_writer(suite, server.url, tests), items)


@pytest.fixture(scope="module")
def facts_by_rules(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("facts-rules")
    tests = [
        FORMAT,
        {"stochastic": {"repeats": 2}},
        "paraphrase",
        {"verbosity": {"long_ratio": [1.05, 3.0]}},
        "label-flip",
    ]
    suite = {**facts(), "tests": tests}
    return done(folder, suite, items_of(suite, folder))


@pytest.fixture(scope="module")
def facts_by_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    folder = tmp_path_factory.mktemp("facts-model")
    suite = facts()
    items = items_of(suite, folder)
    writers = Writers(items, suite["task"]["rubric"], ("YES", "NO"), doubted=DOUBTED)
    with ChatServer(writers) as server:
        tests = [
            FORMAT,
            {"stochastic": {"repeats": 2}},
            {"paraphrase": {"model": "writer", "attempts": 1}},
            {"verbosity": {"model": "writer", "attempts": 1}},
            {"label-flip": {"model": "writer", "attempts": 1, "validate": [{"llm-label": {"model": "reader"}}]}},
        ]
        yield done(folder, with_writer(suite, server.url, tests), items)


def kept(job: Job) -> dict[str, tuple[int, int, int]]:
    """Return for every test how many drafts were made, kept, and how many drafts or items were not even drafts."""
    return {
        test: (line["drafted"], line["kept"], sum(line["skipped"].values())) for test, line in job.attrition().items()
    }


def test_every_family_but_label_flip_runs_over_essays_without_a_model(essays_by_rules: Job) -> None:
    assert essays_by_rules.outcome.exit_code == 0, essays_by_rules.outcome.output
    assert "No model was called." in essays_by_rules.outcome.stdout
    found = kept(essays_by_rules)
    assert found["format"] == (2 * ESSAYS, 2 * ESSAYS, 0)
    assert found["stochastic"] == (ESSAYS, ESSAYS, 0)
    # A rule can write for the lowest of the six levels only.
    assert found["synthetic-ordinal"] == (ESSAYS, ESSAYS, 5 * ESSAYS)
    for test, variants in (("paraphrase", 1), ("verbosity", 2)):
        drafted, kept_of_them, skipped = found[test]
        assert drafted + skipped == variants * ESSAYS
        assert drafted == kept_of_them >= ESSAYS // 2


def test_every_family_but_ordinal_runs_over_facts_without_a_model(facts_by_rules: Job) -> None:
    assert facts_by_rules.outcome.exit_code == 0, facts_by_rules.outcome.output
    found = kept(facts_by_rules)
    assert found["format"] == (2 * FACTS, 2 * FACTS, 0)
    assert found["stochastic"] == (FACTS, FACTS, 0)
    assert found["paraphrase"][0] + found["paraphrase"][2] == FACTS
    assert found["verbosity"][0] + found["verbosity"][2] == 2 * FACTS
    assert all(drafted == kept_of_them > 0 for drafted, kept_of_them, _ in found.values())


def test_a_rule_flips_right_answers_only_and_says_so_of_the_others(facts_by_rules: Job) -> None:
    gold = {item.id: item.gold for item in facts_by_rules.items}
    assert {gold[case["item_id"]] for case in facts_by_rules.cases("label-flip")} == {"YES"}
    wrong = list(gold.values()).count("NO")
    skipped = facts_by_rules.attrition()["label-flip"]["skipped"]
    assert skipped["the response is wrong already; an error cannot make it right"] == wrong


@pytest.mark.parametrize("name", ["essays_by_rules", "facts_by_rules", "essays_by_model", "facts_by_model"])
def test_the_report_shows_what_became_of_the_drafts(name: str, request: pytest.FixtureRequest) -> None:
    job: Job = request.getfixturevalue(name)
    written = job.project.read("run/report.md")
    for test, line in job.attrition().items():
        assert f"| {line['task']} | {test} | {line['items']} | {line['drafted']} | {line['kept']} |" in written
        states = [state for _, _, state, _, _ in job.drafts(test)]
        assert states.count("kept") == line["kept"] == len(job.cases(test))
        assert states.count("rejected") == line["drafted"] - line["kept"]


def test_a_model_writes_every_family_for_essays_and_its_failures_are_counted(essays_by_model: Job) -> None:
    assert essays_by_model.outcome.exit_code == 0, essays_by_model.outcome.output
    bad, good = len(FAULTS), ESSAYS - len(FAULTS)
    found = kept(essays_by_model)
    assert found["paraphrase"] == (good, good, bad)
    assert found["verbosity"] == (2 * good, 2 * good, 2 * bad)
    assert found["synthetic-ordinal"] == (6 * good, 6 * good, 6 * bad)


def test_a_model_writes_every_family_for_facts_and_its_failures_are_counted(facts_by_model: Job) -> None:
    assert facts_by_model.outcome.exit_code == 0, facts_by_model.outcome.output
    bad, good = len(FAULTS), FACTS - len(FAULTS)
    found = kept(facts_by_model)
    assert found["paraphrase"] == (good, good, bad)
    assert found["verbosity"] == (2 * good, 2 * good, 2 * bad)
    assert found["label-flip"] == (good, good - 1, bad)


def test_the_draft_that_a_validator_does_not_believe_is_rejected_in_its_name(facts_by_model: Job) -> None:
    rejected = [row[:4] for row in facts_by_model.drafts("label-flip") if row[2] == "rejected"]
    reason = "llm-label: reached another label than expected"
    assert rejected == [(facts_by_model.items[DOUBTED].id, "flip", "rejected", reason)]
    assert f"rejected: {reason} (1)" in facts_by_model.project.read("run/report.md")


@pytest.mark.parametrize(
    ("name", "fault"),
    [(name, fault) for name in ("essays_by_model", "facts_by_model") for fault in FAULTS],
)
def test_what_a_generator_does_wrong_is_a_recorded_rejection(
    name: str, fault: str, request: pytest.FixtureRequest
) -> None:
    job: Job = request.getfixturevalue(name)
    item, reason = job.items[FAULTS.index(fault)].id, REASONS[fault]
    for test in REWRITTEN if name == "facts_by_model" else REWRITTEN[:2]:
        rows = [(state, why) for of, _, state, why, _ in job.drafts(test) if of == item]
        assert rows
        assert set(rows) == {("skipped", reason)}
        assert item not in {case["item_id"] for case in job.cases(test)}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_attempt_at_a_level_that_failed_is_recorded_with_its_reason(fault: str, essays_by_model: Job) -> None:
    item, reason = essays_by_model.items[FAULTS.index(fault)].id, REASONS[fault]
    payloads = [row[4] for row in essays_by_model.drafts("synthetic-ordinal") if row[0] == item]
    assert len(payloads) == len(LEVELS)
    assert all(f'"{reason}"' in json.dumps(payload["details"]["attempts"]) for payload in payloads)
    assert item not in {case["item_id"] for case in essays_by_model.cases("synthetic-ordinal")}


@pytest.mark.parametrize("name", ["essays_by_model", "facts_by_model"])
def test_no_case_holds_anything_the_generator_was_not_to_write(name: str, request: pytest.FixtureRequest) -> None:
    job: Job = request.getfixturevalue(name)
    sources = {item.id: str(item.fields["response"]) for item in job.items}
    for test in (*REWRITTEN, "synthetic-ordinal"):
        for case in job.cases(test):
            text = case["fields"]["response"]
            assert text.strip()
            assert text != sources[case["item_id"]]
            assert len(text) < 100_000
            assert not any(bad in text for bad in (PROSE, REFUSAL, FOREIGN))


def test_a_flipped_fact_expects_the_other_label(facts_by_model: Job) -> None:
    gold = {item.id: item.gold for item in facts_by_model.items}
    cases = facts_by_model.cases("label-flip")
    assert {case["fields"]["response"].startswith(FLIPPED) for case in cases} == {True}
    for case in cases:
        assert case["expectation"]["label"] == {"YES": "NO", "NO": "YES"}[gold[case["item_id"]]]


def test_a_response_of_a_level_expects_the_level_it_was_written_for(essays_by_model: Job) -> None:
    cases = essays_by_model.cases("synthetic-ordinal")
    assert {case["expectation"]["label"] for case in cases} == set(LEVELS)
    for case in cases:
        assert f"level{case['expectation']['label']}x" in case["fields"]["response"]


@pytest.mark.parametrize("name", ["essays_by_model", "facts_by_model"])
def test_who_wrote_a_case_and_how_stands_in_its_provenance(name: str, request: pytest.FixtureRequest) -> None:
    job: Job = request.getfixturevalue(name)
    for test in ("paraphrase", "verbosity"):
        for case in job.cases(test):
            assert "writer" in case["provenance"]["model"]
            details = case["provenance"]["details"]
            assert details["temperature"] == 0.7
            assert details["fields"]["response"]["attempts"] == 1
            assert isinstance(details["fields"]["response"]["seed"], int)


def test_the_report_says_how_far_the_voters_of_a_consensus_agree_on_kept_and_rejected_drafts(tmp_path: Path) -> None:
    vote = {"consensus": {"validators": ["rules", "facts-kept", "words-unchanged"]}}
    tests = [{"label-flip": {"validate": [vote], "variants": ["antonym", "negation", "number"]}}]
    job = done(tmp_path, {**facts(), "tests": tests}, ())
    assert job.outcome.exit_code == 0, job.outcome.output
    line = job.attrition()["label-flip"]
    (agreement,) = line["agreement"]
    assert line["rejected"]
    assert line["kept"]
    assert (agreement["validator"], agreement["voters"], agreement["missing"]) == ("consensus", 3, 0)
    assert agreement["drafts"] == agreement["comparable"] == line["drafted"] > line["kept"]
    assert -1 < agreement["interval"]["low"] < agreement["estimate"] < agreement["interval"]["high"] <= 1
    assert "Agreement of validators" in job.project.run("report", "run", "--full").stdout
    assert "| label-flip | consensus | 3 | " in job.project.read("run/report.md")
