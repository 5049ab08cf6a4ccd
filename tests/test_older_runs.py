"""A run that an earlier version made: its report heeds flags although the run kept none."""

from __future__ import annotations

import json
from pathlib import Path

import jrh
from jrh.store.run_store import Store
from jrh_measuring import load_flags

SUITE = {
    "name": "older",
    "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
    "data": [{"id": f"{n}", "request": f"{n}?", "response": f"It is {n}.\n\nYes.", "gold": "YES"} for n in range(4)],
    "tests": ["format"],
    "judges": ["simulated"],
    "reports": [],
}


def test_a_run_without_flags_gets_those_that_are_installed(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    jrh.run(SUITE, run_dir=run_dir, use_cache=False, quiet=True)
    store = Store.open(run_dir, "older")
    summary = json.loads(store.meta("summary") or "{}")
    assert summary.pop("flags")
    store.set_meta("summary", json.dumps(summary))
    store.close()
    with jrh.open_report(run_dir) as report:
        assert report.flags == load_flags()
