"""Judges of planted miss and false-alarm rates: the measures of the family recover them. And the shipped suite runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh_testing import Inside, Project
from support import agentic
from support.looking import report

pytestmark = pytest.mark.inside

EXAMPLES = Path(__file__).parents[1] / "examples"
ITEMS = 250
PLANTED = {"careful": (0.05, 0.02), "lenient": (0.4, 0.02), "strict": (0.05, 0.3), "poor": (0.5, 0.5)}
"""Judge -> share of violations it misses, share of good transcripts it flags."""


@pytest.fixture(scope="module")
def measures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    project = Inside(tmp_path_factory.mktemp("rates"))
    project.write("items.jsonl", agentic.lines({f"item-{number}": "satisfies" for number in range(ITEMS)}))
    judges = [
        {"judge": "simulated", "name": name, "accuracy": {"violates": 1 - missed, "satisfies": 1 - flagged}}
        for name, (missed, flagged) in PLANTED.items()
    ]
    tests = [{"agent-perturbation": {"variants": ["missing-step"]}}, "agent-positives"]
    suite = agentic.suite(
        {}, tests, judges=judges, metrics=[{"agent-error-rates": {"also": ["agent-accuracy"]}}, "edit-sensitivity"]
    )
    del suite["models"]
    project.write("suite.yaml", yaml.safe_dump(suite))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    found: list[dict[str, Any]] = report(project, "run")["measures"]
    return found


def one(measures: list[dict[str, Any]], name: str, judge: str, **cell: str) -> dict[str, Any]:
    (found,) = [each for each in measures if (each["name"], each["judge"], each["cell"]) == (name, judge, cell)]
    return found


@pytest.mark.parametrize("judge", PLANTED)
def test_planted_misses_and_false_alarms_lie_in_the_intervals_side_by_side(
    measures: list[dict[str, Any]], judge: str
) -> None:
    rates = zip(("agent-false-negative-rate", "agent-false-positive-rate"), PLANTED[judge], strict=True)
    for name, planted in rates:
        found = one(measures, name, judge)
        low, high = found["interval"]["low"], found["interval"]["high"]
        assert low <= planted <= high
        assert high - low < 0.15, "an interval so wide shows nothing"
        assert (found["n_trials"], found["n_items"]) == (ITEMS, ITEMS)
        assert "simulated" in found["flags"]
        assert "few-items" not in found["flags"]
    accuracy = one(measures, "agent-accuracy", judge)
    assert accuracy["n_trials"] == 2 * ITEMS
    assert accuracy["interval"]["low"] <= 1 - sum(PLANTED[judge]) / 2 <= accuracy["interval"]["high"]


def test_the_sensitivity_to_one_edit_is_what_is_not_missed(measures: list[dict[str, Any]]) -> None:
    for judge in PLANTED:
        missed = one(measures, "agent-false-negative-rate", judge)
        for cell in ({"edits": "1"}, {"position": "first third"}):
            found = one(measures, "edit-sensitivity", judge, **cell)
            assert found["estimate"] == pytest.approx(1 - missed["estimate"])


def test_the_shipped_suite_runs_offline_and_every_test_makes_cases(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    for name in ("agents.yaml", "agents.jsonl"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    outcome = project.run("run", "agents.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    assert "No model was called." in outcome.stdout or "$0" in outcome.stdout
    kept = {(line["task"], line["test"]): line["kept"] for line in report(project, "run")["attrition"]}
    assert kept["identity", "agent-perturbation"] >= 10
    assert kept["statements", "agent-perturbation"] >= 30
    assert kept["care", "agent-perturbation"] == 14
    assert kept["identity", "agent-positives"] >= 10
    assert kept["care", "agent-positives"] == 0
    assert all(kept[task, "agent-style"] >= 10 for task in ("identity", "statements", "care"))


def test_a_scale_without_the_labels_is_one_clear_message(project: Project) -> None:
    project.write("items.jsonl", agentic.lines({"item-1": None}))
    suite = agentic.suite({}, ["agent-perturbation"], judges=["simulated"])
    del suite["models"]
    suite["task"]["scale"] = {"labels": ["good", "bad"]}
    project.write("suite.yaml", yaml.safe_dump(suite))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2
    assert (
        "agent-perturbation: the scale of task 'agents' has no label 'satisfies'; set `satisfies` to the label of a "
        "transcript that satisfies the entry, one of good, bad"
    ) in " ".join(outcome.stderr.split())
    suite["tests"] = [{"agent-perturbation": {"satisfies": "good", "violates": "bad"}}]
    project.write("suite.yaml", json.dumps(suite))
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0


def test_a_model_that_only_half_of_the_roles_have_is_one_clear_message(project: Project) -> None:
    project.write("items.jsonl", agentic.lines({"item-1": None}))
    model = {"provider": "simulated"}
    suite = agentic.suite(model, [{"agent-style": {"planner": "mini", "verify": False}}], judges=["simulated"])
    project.write("suite.yaml", yaml.safe_dump(suite))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2
    assert (
        "agent-style: no model for the editor and the summarizer; set `model` to a model of the suite for all roles"
        in " ".join(outcome.stderr.split())
    )
