"""A run of a perfect and a simulated judge."""

from __future__ import annotations

from pathlib import Path

import jrh
import pytest

SUITE = {
    "name": "answers",
    "data": {"source": "examples", "sample": {"n": 6, "seed": 1}},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "tests": ["format"],
    "judges": [{"name": "planted", "judge": "simulated", "accuracy": 0.7, "unparsable": 0.2}],
    "metrics": ["gold-accuracy", "agreement"],
}


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exported") / "run"
    result = jrh.run(SUITE, run_dir=directory, use_cache=False, quiet=True)
    assert result.exit_code == 0, result.message
    return directory
