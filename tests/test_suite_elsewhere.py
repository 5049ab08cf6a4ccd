"""A suite is run from wherever the user stands: its relative paths start at its own directory."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from jrh_testing import Project
from support.looking import report
from support.suites import simulated_suite, write_suite

pytestmark = pytest.mark.inside

ROWS = [{"id": f"i{n}", "request": f"question {n}", "response": f"answer {n}", "label": "YES"} for n in range(3)]


def as_csv() -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(ROWS[0]))
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue()


@pytest.mark.parametrize(("source", "suite_in"), [("csv", "suites"), ("jsonl", "suites/deep")])
def test_relative_paths_start_at_the_suite(project: Project, source: str, suite_in: str) -> None:
    folder = f"{suite_in}/"
    content = as_csv() if source == "csv" else "".join(json.dumps(row) + "\n" for row in ROWS)
    project.write(f"{folder}data/items.{source}", content)
    project.write(f"{folder}ask.txt", "Is the answer right?")
    task: dict[str, Any] = {"instruction": {"file": "ask.txt"}, "scale": {"labels": ["YES", "NO"]}}
    suite = simulated_suite(data={"source": source, "path": f"data/items.{source}"}, task=task)
    outcome = project.run("run", write_suite(project, suite, f"{folder}suite.yaml"), "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.stderr
    assert len(project.records("run")) == len(ROWS)
    (used,) = [each for each in report(project, "run")["components"] if each["role"] == "data source"]
    assert used["options"]["path"] == f"data/items.{source}"


def test_a_missing_file_is_named_as_the_suite_writes_it(project: Project) -> None:
    suite = simulated_suite(data={"source": "csv", "path": "data/items.csv"})
    outcome = project.run("run", write_suite(project, suite, "suites/suite.yaml"), "--run-dir", "run")
    assert outcome.exit_code == 2
    assert "data/items.csv: file not found; a relative path is relative to the suite's directory" in outcome.stderr
