"""The suite in `examples/consistency`, over a loopback model that scores by correctness and compares in circles."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jrh_testing import ChatServer, Inside
from support.described import undescribed
from support.example_models import Circling

pytestmark = pytest.mark.inside
EXAMPLE = Path(__file__).parents[1] / "examples" / "consistency"


def test_the_example_tells_circles_agreement_and_what_the_reference_changes(tmp_path):
    project = Inside(tmp_path)
    shutil.copytree(EXAMPLE, project.path / "consistency")
    model = Circling()
    with ChatServer(model) as server:
        done = project.run(
            *("run", "consistency/suite.yaml", "--yes", "--set", "reports=[json, markdown]"),
            *("--set", f"models.judge.base_url={server.url}"),
        )
    assert done.exit_code == 0, done.output
    assert undescribed(project.path) == set()
    report = json.loads(project.read("runs/consistency/report.json"))
    assert report["planned"] == 32 * 3 + 48 * 3 + 8 * 2
    assert (model.with_reference, model.without) == (32, 64)
    told = {f["kind"]: f["sentence"] for f in report["findings"]}
    # One of the four triples of every request is a cycle.
    start = "Preferences run in circles more often than noise explains (share of triples): 0.25"
    assert told["preference-cycles"].startswith(start)
    assert start in project.read("runs/consistency/report.md")
    flips = [
        m for m in report["measures"] if (m["name"], m["test"]) == ("flip-rate", "reference-guided") and not m["cell"]
    ]
    assert [m["estimate"] for m in flips] == [0.5]  # 4 becomes 5, and 2 becomes 1
    # Gold labels are the scores: with the reference every second verdict becomes wrong.
    change = [m for m in report["measures"] if (m["name"], m["test"]) == ("accuracy-change", "reference-guided")]
    assert [m["estimate"] for m in change if not m["cell"]] == [-0.5]
    assert any("reference-guided" in f["tests"] and f["severity"] in ("bad", "warning") for f in report["findings"])
    assert [m["estimate"] for m in report["measures"] if m["name"] == "score-ranking"] == [1.0]
