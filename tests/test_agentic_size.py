"""Long transcripts pass in bounded memory, and what the models are shown of them is bounded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def took(shape: str, how: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.long_transcript", shape, how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(("shape", "least"), [("2,000 messages", 400_000), ("5 MB", 5_000_000)])
def test_the_rules_edit_a_long_transcript_in_bounded_memory(shape: str, least: int) -> None:
    found = took(shape, "rules")
    assert found["characters"] >= least
    assert found["drafts"] == 8
    assert found["megabytes"] < 200


@pytest.mark.parametrize("shape", ["2,000 messages", "5 MB", "5 MB in one answer"])
def test_the_pipeline_edits_a_long_transcript_and_shows_no_more_than_the_limit(shape: str) -> None:
    found = took(shape, "pipeline")
    assert found["drafts"] == 1
    assert 10_000 < found["longest_prompt"] < 70_000
    assert found["megabytes"] < 200
