"""Families that are applied together: real perturbers by rules and over the wire, up to the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jrh_testing import ChatServer, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import cases_of, report
from support.suites import openai_http, write_suite
from support.writers import Writers
from test_families import facts, items_of

pytestmark = pytest.mark.inside

LONGER = {"verbosity": {"variants": ["long"], "long_ratio": [1.05, 3.0]}}
SPACED = {"format": {"variants": ["spaces"]}}


def cases(project: Project, test: str) -> list[dict[str, Any]]:
    return cases_of(project, "run", test)


@pytest.fixture(scope="module")
def by_rules(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("chains"))
    crossing = {"cross": [LONGER, SPACED], "sample": {"n": 20}, "repeats": 2}
    suite = {**facts(), "tests": [["label-flip", LONGER], crossing], "reference": {"repeats": 2}}
    suite = {**suite, "metrics": ["as-expected", "noise-excess", "interaction"]}
    outcome = project.run("run", write_suite(project, suite), "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.stderr
    return project


def test_a_false_answer_in_more_words_is_still_false(by_rules: Project) -> None:
    made = cases(by_rules, "label-flip+verbosity")
    assert len(made) >= 10
    assert {case["expectation"]["label"] for case in made} == {"NO"}
    for case in made:
        flip, longer = case["provenance"]["details"]["steps"]
        assert flip["component"] == "jrh-label-flip/label-flip"
        assert longer["details"]["fields"]["response"]["length_ratio"] > 1.05
    found = [m for m in report(by_rules, "run")["measures"] if m["name"] == "as-expected" and not m["cell"]]
    (accuracy,) = [m for m in found if m["test"] == "label-flip+verbosity"]
    assert (accuracy["n_trials"], accuracy["n_items"]) == (len(made), len({case["item_id"] for case in made}))


def test_a_crossing_puts_every_combination_over_one_sample_and_measures_the_interaction(by_rules: Project) -> None:
    names = ("crossed.verbosity", "crossed.format", "crossed.verbosity+format")
    lines = {line["test"]: line for line in report(by_rules, "run")["attrition"]}
    assert [lines[name]["skipped"]["not in the test's sample"] for name in names] == [10, 10, 10]
    alone, both = cases(by_rules, names[0]), cases(by_rules, names[2])
    spaced = {case["item_id"]: case for case in both}
    assert spaced
    for case in alone:
        if case["item_id"] in spaced:
            words = spaced[case["item_id"]]["fields"]["response"].split()
            assert words == case["fields"]["response"].split()
    (interaction,) = [m for m in report(by_rules, "run")["measures"] if m["name"] == "interaction"]
    assert interaction["test"] == names[2]
    assert interaction["n_items"] == len(spaced)
    assert interaction["interval"]["low"] <= interaction["estimate"] <= interaction["interval"]["high"]


def test_one_test_of_a_crossing_can_be_asked_for(by_rules: Project) -> None:
    outcome = by_rules.run("plan", "suite.yaml", "--test", "crossed.verbosity+format")
    assert outcome.exit_code == 0, outcome.stderr
    assert "crossed.verbosity+format" in outcome.stdout
    assert "label-flip" not in outcome.stdout


def test_a_model_writes_one_step_and_is_paid_once_for_all_combinations(tmp_path: Path) -> None:
    suite = facts()
    items = items_of(suite, tmp_path)
    writers = Writers(items, suite["task"]["rubric"], ("YES", "NO"), faults=())
    with ChatServer(writers) as server:
        project = Project(tmp_path, env={KEY_VARIABLE: KEY})
        models = {"writer": openai_http(server.url, model="writer", free=True, max_tokens=4000)}
        crossing = {"cross": [{"paraphrase": {"model": "writer"}}, SPACED], "sample": {"n": 8}}
        suite = {**suite, "models": models, "tests": [crossing]}
        outcome = project.run("run", write_suite(project, suite), "--run-dir", "run", "--yes")
        assert outcome.exit_code == 0, outcome.stderr
        assert len(server.requests) == 8
    alone = {case["item_id"]: case["fields"]["response"] for case in cases(project, "crossed.paraphrase")}
    both = cases(project, "crossed.paraphrase+format")
    assert len(alone) == 8
    assert both
    for case in both:
        assert case["fields"]["response"].split() == alone[case["item_id"]].split()
        assert case["fields"]["response"] != alone[case["item_id"]]
        assert case["provenance"]["model"]


def test_a_chain_with_the_option_order_has_swap_measures_against_the_test_without_it(project: Project) -> None:
    suite = {
        "name": "swapped",
        "data": {"source": "examples", "dataset": "preference", "sample": {"n": 12, "seed": 1}},
        "task": {"instruction": "Which is better?", "scale": {"pairwise": True}},
        "tests": ["option-order", SPACED, {"chain": [SPACED, "option-order"]}],
        "judges": [{"name": "first", "judge": "simulated", "position_preference": 1.0}],
        "metrics": ["position-bias"],
        "reports": ["json"],
    }
    outcome = project.run("run", write_suite(project, suite), "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.stderr
    found = {(m["test"], m["name"]): m for m in report(project, "run")["measures"] if not m["cell"]}
    for test in ("option-order", "format+option-order"):
        assert found[test, "swap-consistency"]["estimate"] == 0.0
        assert found[test, "position-bias"]["estimate"] == 1.0
        assert found[test, "first-position-rate"]["estimate"] == 1.0
    assert found["format+option-order", "position-bias"]["n_items"] == len(cases(project, "format+option-order"))
