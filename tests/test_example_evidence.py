"""The suite in `examples/evidence`, over a loopback model that reads 1,200 tokens and misses single wrong numbers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jrh_testing import ChatServer, Inside
from support.described import undescribed
from support.example_models import reading_the_start

pytestmark = pytest.mark.inside
EXAMPLE = Path(__file__).parents[1] / "examples" / "evidence"


def test_the_example_tells_how_far_the_model_reads_and_what_it_misses(tmp_path):
    project = Inside(tmp_path)
    shutil.copytree(EXAMPLE, project.path / "evidence")
    with ChatServer(reading_the_start) as server:
        done = project.run(
            *("run", "evidence/suite.yaml", "--yes", "--set", "reports=[json]"),
            *("--set", f"models.judge.base_url={server.url}"),
        )
    assert done.exit_code == 0, done.output
    assert undescribed(project.path) == set()
    report = json.loads(project.read("runs/evidence/report.json"))
    assert report["planned"] == 12 * (2 + 8 + 3)
    told = {f["kind"]: f["sentence"] for f in report["findings"]}
    assert told["evidence-reach"].startswith("Reads the first 1,500 tokens [1,000, 2,000] of a text; evidence")
    assert "Notices fewer than half of the texts with the fewest errors" in told["errors-missed"]
