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
from jrh.testing import ChatServer, Outcome, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import query, report
from support.suites import openai_http, write_suite
from support.writers import FAULTS, FLIPPED, FOREIGN, PROSE, REFUSAL, Writers

DATA = Path(__file__).parents[2] / "shared" / "data" / "persuade"
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
    "huge": "longer than 100,000 characters",
    "language": "another language",
}
SHARED: dict[str, Any] = {
    "resamples": 100,
    "metrics": ["accuracy", "flip-rate"],
    "reference": {"repeats": 1},
}
REWRITTEN = ("paraphrase", "verbosity", "label-flip")


def essays(base: Path) -> dict[str, Any]:
    """Make the suite over the essays, without tests; the data is read in place."""
    folder = Path(os.path.relpath(DATA, base))
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
        rows = query(
            self.project,
            "run",
            "SELECT item_id, variant, state, reason, payload FROM drafts WHERE test = ? ORDER BY position",
            (test,),
        )
        return [(*row[:4], json.loads(row[4])) for row in rows]

    def cases(self, test: str) -> list[dict[str, Any]]:
        """Return the cases of a test."""
        return [
            json.loads(payload)
            for (payload,) in query(self.project, "run", "SELECT payload FROM cases WHERE test = ?", (test,))
        ]


def done(folder: Path, suite: dict[str, Any], items: tuple[jrh.Item, ...]) -> Job:
    """Run a suite."""
    project = Project(folder, env={KEY_VARIABLE: KEY})
    outcome = project.run("run", write_suite(project, suite), "--run-dir", "run", "--yes")
    return Job(project=project, outcome=outcome, items=items)


def items_of(suite: dict[str, Any], folder: Path) -> tuple[jrh.Item, ...]:
    """Read the items of a suite as the run will."""
    path = write_suite(Project(folder), suite, "items.yaml")
    return jrh.read_items(folder / path)[0][1]


def with_writer(suite: dict[str, Any], url: str, tests: list[Any]) -> dict[str, Any]:
    """Let a model write, and another one read, over the wire."""
    models = {
        "writer": openai_http(url, model="writer", free=True, max_tokens=4000),
        "reader": openai_http(url, model="reader", free=True, max_tokens=4000),
    }
    judges = [*suite["judges"], {"name": "reader", "judge": "llm", "model": "reader"}]
    return {**suite, "models": models, "tests": tests, "judges": judges}


@pytest.fixture(scope="module")
def essays_by_rules(tmp_path_factory: pytest.TempPathFactory) -> Job:
    if not (DATA / "essays.csv").is_file():
        pytest.skip("the essays (../shared/data/persuade) are not here")
    folder = tmp_path_factory.mktemp("essays-rules")
    tests = ["format", {"stochastic": {"repeats": 2}}, "paraphrase", "verbosity", "synthetic-ordinal"]
    suite = {**essays(folder), "tests": tests}
    return done(folder, suite, items_of(suite, folder))


@pytest.fixture(scope="module")
def essays_by_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    if not (DATA / "essays.csv").is_file():
        pytest.skip("the essays (../shared/data/persuade) are not here")
    folder = tmp_path_factory.mktemp("essays-model")
    suite = essays(folder)
    items = items_of({**suite, "tests": []}, folder)
    with ChatServer(Writers(items, (DATA / "rubric.txt").read_text(encoding="utf-8"), LEVELS)) as server:
        once = {"initial_temperature": 1.0, "max_temperature": 1.0, "attempts_per_temperature": 1}
        tests = [
            "format",
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
        "format",
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
            "format",
            {"stochastic": {"repeats": 2}},
            {"paraphrase": {"model": "writer", "attempts": 1}},
            {"verbosity": {"model": "writer", "attempts": 1}},
            {"label-flip": {"model": "writer", "attempts": 1, "validate": [{"llm-label": {"model": "reader"}}]}},
        ]
        yield done(folder, with_writer(suite, server.url, tests), items)
