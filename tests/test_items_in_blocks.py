"""A run that reads its items from a file and from the store, a few at a time, is the run that holds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jrh_testing import Project
from support.looking import one, query, report
from support.suites import write_suite

pytestmark = pytest.mark.inside

SUITE: dict[str, Any] = {
    "name": "blocks",
    "data": {"source": "jsonl", "path": "items.jsonl", "sample": {"n": 9, "seed": 4, "stratify": "part"}},
    "task": {"instruction": "Is the answer right?", "scale": {"labels": ["YES", "NO"]}},
    "tests": [{"test": "format", "variants": ["spaces"], "sample": {"n": 5}}, {"stochastic": {"repeats": 3}}],
    "judges": [{"judge": "simulated", "rerun_noise": 0.3}, "baseline"],
    "reports": ["json"],
}


def test_the_report_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path)
    rows = [
        {"id": str(n), "response": f"It is {n // 2}. " * 20, "label": "YES" if n % 3 else "NO", "part": str(n % 2)}
        for n in range(14)
    ]
    project.write("items.jsonl", "\n".join(map(json.dumps, rows)))
    write_suite(project, SUITE)
    held = project.run("run", "suite.yaml", "--yes", "--run-dir", "held")
    for module in ("store.temporary", "store.cases_table"):
        monkeypatch.setattr(f"jrh.{module}.IN_MEMORY", 4)
    for module in ("values.clusters", "store.temporary", "store.cases_table"):
        monkeypatch.setattr(f"jrh.{module}.BLOCK", 3)
    read = project.run("run", "suite.yaml", "--yes", "--run-dir", "read")
    assert (held.exit_code, read.exit_code) == (0, 0), read.output
    assert report(project, "read") == report(project, "held")
    columns = "trial_id, status, canonical, cluster, covariates, occasion"
    sql = f"SELECT {columns} FROM trials JOIN records ON trial_id = id ORDER BY position"
    assert query(project, "read", sql) == query(project, "held", sql)
    assert one(project, "read", "SELECT count(*) FROM items") == 9
