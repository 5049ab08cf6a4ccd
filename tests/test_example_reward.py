"""The suite in `examples/reward`: two scorers whose numbers are known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jrh_testing import Inside
from support.described import undescribed

pytestmark = pytest.mark.inside
EXAMPLE = Path(__file__).parents[1] / "examples" / "reward"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    project = Inside(tmp_path_factory.mktemp("example"))
    shutil.copytree(EXAMPLE, project.path / "reward")
    done = project.run("run", "reward/suite.yaml", "--yes", "--set", "reports=[json, csv]")
    assert done.exit_code == 0, done.output
    assert undescribed(project.path) == set()
    report = json.loads(project.read("runs/reward/report.json"))
    return report, project


def of(report, name, judge, test):
    return [m for m in report["measures"] if (m["name"], m["judge"], m["test"]) == (name, judge, test)]


def test_what_each_scorer_is_worth_is_found(ran):
    report, _ = ran
    assert of(report, "auc", "knows", "reference")[0]["estimate"] == 1
    low, high = (of(report, "auc", "likes-length", "reference")[0]["interval"][end] for end in ("low", "high"))
    assert low < 0.5 < high
    kinds = {(f["judge"], f["kind"]) for f in report["findings"]}
    assert {("knows", "scores-order"), ("likes-length", "scores-undecided"), ("likes-length", "scores-shift")} <= kinds
    assert ("knows", "scores-shift") not in kinds


def test_what_makes_no_sense_for_scores_is_not_shown(ran):
    report, _ = ran
    names = {m["name"] for m in report["measures"]}
    assert not names & {"score-tau-b", "rationale-disagreement"}
    assert of(report, "calibration-error", "knows", "reference")
    assert not of(report, "calibration-error", "likes-length", "reference")
