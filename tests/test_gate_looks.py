"""Looks of `jrh gate` at one growing run are counted in its store and spend its error rate."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from jrh_testing import Outcome, Project, call
from support.suites import simulated_suite, write_items, write_suite
from support.verdicts import import_judges, right_with

RULE = "as-expected[reference] >= 0.9"


def gate(project: Project, *options: str) -> Outcome:
    return call(project, "gate", "run", "--rule", RULE, "--json", "gate.json", *options)


def look(project: Project) -> tuple[int, bool]:
    found = json.loads(project.read("gate.json"))["look"]
    return found["number"], found["recorded"]


def ran(project: Project, items: int, accuracy: float = 0.95) -> None:
    write_items(project, items)
    judges = [{"name": "sim", "judge": "simulated", "accuracy": accuracy}]
    write_suite(project, simulated_suite(judges=judges, tests=[], metrics=["as-expected"], reports=["json"]))
    done = call(project, "run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
    assert done.exit_code == 0, done.output


def test_only_new_verdicts_make_a_new_look(project: Project) -> None:
    ran(project, 30)
    for _ in range(3):
        gate(project)
        assert look(project) == (1, True)
    first = json.loads(project.read("gate.json"))
    ran(project, 40)
    done = gate(project)
    assert look(project) == (2, True)
    assert "This is look 2 at the growing data of this run, so it has 10% of the error rate of 2.5%" in done.stdout
    second = json.loads(project.read("gate.json"))
    assert first["checks"][0]["limits"]["hold_error"] == pytest.approx(0.02)
    assert second["checks"][0]["limits"]["hold_error"] == pytest.approx(0.0025)
    gate(project)
    assert look(project) == (2, True)


def test_another_judge_under_the_same_name_is_a_new_question(project: Project) -> None:
    ran(project, 30)
    gate(project)
    ran(project, 30, accuracy=0.7)
    gate(project)
    assert look(project) == (1, True)


def test_an_import_that_grows_is_looked_at_again(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(1.0)}, items=40)
    gate(project)
    import_judges(project.path / "run", {"a": right_with(1.0)}, items=60)
    gate(project)
    assert look(project) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the lock is taken the way Linux does it")
def test_a_run_in_use_is_gated_and_says_that_the_look_is_not_recorded(project: Project) -> None:
    from jrh.store.run_store import Store

    ran(project, 40)
    store = Store.open(project.path / "run", "trial")
    try:
        done = gate(project)
    finally:
        store.close()
    assert look(project) == (1, False)
    assert "This look could not be recorded" in done.stdout
    gate(project)
    assert look(project) == (1, True)


def test_the_limits_of_a_rule_over_several_places_share_its_error_rate(project: Project) -> None:
    import_judges(project.path / "run", {name: right_with(0.9, seed=place) for place, name in enumerate("abcd")})
    done = gate(project)
    document = json.loads(project.read("gate.json"))
    assert {each["limits"]["places"] for each in document["checks"]} == {4}
    assert document["checks"][0]["limits"]["fail_error"] == pytest.approx(0.005)
    assert "shared by all its places" in done.stdout
    assert [each["rule"] for each in document["rules"]] == [RULE]


def test_the_documents_name_the_shares_of_the_looks() -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "gate.md").read_text()
    assert "80%" in text
    assert "1 / (5 k (k - 1))" in text
