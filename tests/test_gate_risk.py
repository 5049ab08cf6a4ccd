"""`jrh gate-risk` through the command: the answer, its refusals, and the gate's own exit code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jrh_testing import Inside, Project
from support.suites import simulated_suite, write_items, write_suite

pytestmark = pytest.mark.inside

NIGHTS = ("--nights", "10")


def planted(project: Project, *, repeats: int = 3, **gate: Any) -> Project:
    """Write and run a suite of 40 items whose judge changes some verdicts when it is asked again."""
    write_items(project, 40)
    judges = [{"name": "nightly", "judge": "simulated", "accuracy": 0.9, "rerun_noise": 0.1}]
    suite = simulated_suite(judges=judges, tests=[{"format": {"variants": ["spaces"]}}], gate=gate, reports=["json"])
    write_suite(project, {**suite, "reference": {"repeats": repeats}})
    project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return planted(Inside(tmp_path_factory.mktemp("risk")), rules=["gold-accuracy >= 0.75"])


def test_the_first_line_says_both_mistakes_and_json_has_the_same_numbers(project: Project) -> None:
    text = project.run("gate-risk", "run", *NIGHTS)
    assert text.exit_code == 0, text.output
    first = text.output.splitlines()[0]
    found = json.loads(project.run("gate-risk", "run", *NIGHTS, "--format", "json").output)
    assert found["sentence"] == first
    assert first.startswith(f"Red {100 * found['same']['red']['value']:.0f} nights in 100 with nothing changed; ")
    assert "Next: " in text.output
    for answer in (found["same"], found["fresh"]):
        assert sum(answer["reasons"].values()) == pytest.approx(answer["red"]["value"])
        assert answer["red"]["low"] <= answer["red"]["value"] <= answer["red"]["high"]


def test_a_mark_that_is_out_of_reach_is_red_every_night_and_one_below_never(project: Project) -> None:
    for mark, red in (("0.99", 1.0), ("0.2", 0.0)):
        command = ("gate-risk", "run", *NIGHTS, "--rule", f"gold-accuracy >= {mark}", "--format", "json")
        found = json.loads(project.run(*command).output)
        assert found["same"]["red"]["value"] == found["fresh"]["red"]["value"] == red
        assert found["same"]["missed"]["value"] == 1 - red


def test_missing_verdicts_are_red_and_counted_apart(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_items(project, 40)
    judges = [{"name": "nightly", "judge": "simulated", "accuracy": 0.95, "refusals": 0.2}]
    suite = simulated_suite(judges=judges, tests=[], gate={"rules": ["gold-accuracy >= 0.3"]}, reports=["json"])
    write_suite(project, {**suite, "reference": {"repeats": 3}})
    project.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
    assert project.run("gate", "run").exit_code == 3
    found = json.loads(project.run("gate-risk", "run", *NIGHTS, "--format", "json").output)
    assert found["sentence"].endswith("This red is not chance: more verdicts are missing than the gate allows.")
    assert found["tonight"] == 3
    assert found["same"]["reasons"]["missing"] == found["same"]["red"]["value"] == 1


def test_one_run_without_repeats_is_refused_with_the_command_that_gives_them(tmp_path: Any) -> None:
    project = planted(Inside(tmp_path), repeats=1, rules=["gold-accuracy >= 0.75"])
    refused = project.run("gate-risk", "run")
    assert refused.exit_code == 2
    assert "jrh run SUITE --run-dir run-again --no-cache" in refused.output
    # The same verdicts once more show nothing.
    assert project.run("gate-risk", "run", "run").exit_code == 2
    write_items(project, ["Another answer.", "One more."])
    project.run("run", "suite.yaml", "--run-dir", "others", "--no-cache", "--yes")
    other = project.run("gate-risk", "run", "others")
    assert (other.exit_code, "'others' asks none of the questions of 'run'" in other.output) == (2, True), other.output


def test_a_suite_stands_for_its_run_and_what_is_no_run_is_an_error(project: Project) -> None:
    assert "has no run in" in project.run("gate-risk", "suite.yaml").output
    assert project.run("gate-risk", "nowhere").exit_code == 2
