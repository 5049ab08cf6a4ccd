"""A short kill campaign: `make campaigns SECONDS=600` runs the long one."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from campaigns import kills
from campaigns.rounds import rounds

pytestmark = pytest.mark.slow
SECONDS = 60.0


def test_runs_that_are_killed_at_random_lose_nothing_and_pay_for_nothing_twice(tmp_path: Path) -> None:
    counted: Counter[str] = Counter()
    for played in rounds("kills", kills.campaign, tmp_path, iter(range(2)), time.monotonic() + SECONDS):
        assert not played.problems, f"seed {played.seed}: {played.problems}"
        counted += played.counted
    assert counted["kills"] >= 1
