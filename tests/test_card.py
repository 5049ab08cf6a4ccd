"""`jrh card` through the command: the numbers of the run, what was not run, and a run without verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jrh_testing import Inside, Project
from support.suites import simulated_suite, write_items, write_suite

pytestmark = pytest.mark.inside

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Inside(tmp_path_factory.mktemp("card"))
    write_items(project, 20)
    judges = [
        {"name": "<b>|x", "judge": "simulated", "accuracy": 0.9},
        {"name": "mute", "judge": "simulated", "refusals": 1.0},
    ]
    tests = [{"format": {"variants": ["spaces"]}}]
    write_suite(project, simulated_suite(judges=judges, tests=tests, reports=["json"], reference={"repeats": 2}))
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code in (0, 3), done.output
    return project


def card(project: Project) -> Any:
    return json.loads(project.run("card", "run", "--judge", "<b>|x", "--format", "json").stdout)


def test_the_shipped_schema_is_what_the_classes_give() -> None:
    from jrh_authoring.suite_schema import DRAFT
    from jrh_authoring.type_schemas import TypeSchemas
    from jrh_decide.card import Card

    schemas = TypeSchemas(written=False)
    schemas.of(Card)
    root = schemas.definitions.pop("jrh_decide.Card")
    head = {"$schema": DRAFT, "title": "The card of a judge: `jrh card`"}
    expected = json.dumps({**head, **root, "$defs": dict(sorted(schemas.definitions.items()))}, indent=2) + "\n"
    shipped = ROOT / "schemas" / "card.schema.json"
    assert shipped.read_text() == expected, "write the expected text into schemas/card.schema.json"


def test_the_numbers_are_those_of_the_run(project: Project) -> None:
    import jsonschema

    found = card(project)
    jsonschema.validate(found, json.loads((ROOT / "schemas" / "card.schema.json").read_text()))
    stored = json.loads(project.read("run/report.json"))["measures"]
    keys = ("name", "judge", "test", "estimate", "n_trials")
    written = [[each[key] for key in keys] for each in stored]
    shown = [[line["measure"][key] for key in keys] for line in found["lines"] if line["measure"]]
    assert shown
    assert all(each in written for each in shown)
    assert len({found["prompt_digest"], found["data_digest"], found["results_digest"]}) == 3


def test_what_was_not_run_is_named_and_never_passed(project: Project) -> None:
    found, page = card(project), project.run("card", "run", "--judge", "<b>|x").stdout
    lines = {line["what"]: line for line in found["lines"]}
    assert lines["layout"]["status"] == "measured"
    assert lines["human ceiling"]["status"] == "not run"
    assert "human ceiling" in found["not_run"]
    assert "not run: human ceiling" in found["sentence"]
    assert "| human ceiling | NOT RUN | needs items that two people labelled |" in page
    assert found["simulated"]
    assert found["sentence"].startswith("Simulated judge")


def test_a_hostile_name_is_text_on_the_page(project: Project) -> None:
    page = project.run("card", "run", "--judge", "<b>|x").stdout
    assert "<b>" not in page
    assert all(row.replace("\\|", "").count("|") == 4 for row in page.splitlines() if row.startswith("|"))


def test_a_judge_without_a_verdict_has_no_card(project: Project) -> None:
    refused = project.run("card", "run", "--judge", "mute")
    assert refused.exit_code == 2
    assert "no verdict" in refused.output
    assert "Name one with --judge" in project.run("card", "run").output
