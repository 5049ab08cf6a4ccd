"""The example of criteria runs over loopback models: every verdict is there, and each habit shows where it is.

It reads the golden outputs, which tests/test_golden.py makes again and compares: one run serves both.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import golden

REPLIES = 10


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(golden.read("criteria", "report.json"))
    assert not any(count for each in found["measures"] for count in each["missing"].values())
    return found


def estimate(report: dict[str, Any], judge: str, name: str, test: str, **cell: str) -> float:
    (one,) = [
        each
        for each in report["measures"]
        if (each["judge"], each["name"], each["test"], each["cell"]) == (judge, name, test, cell)
    ]
    return float(one["estimate"])


def test_a_judge_that_reads_follows_the_rubric_and_scores_as_the_gold_labels(report: dict[str, Any]) -> None:
    assert estimate(report, "reads", "score-error", "reference") == 0
    assert estimate(report, "reads", "rubric-effect", "rubric-matters", variant="inverted") > 0.5
    assert estimate(report, "reads", "as-expected", "criterion-negated") == 1
    assert estimate(report, "reads", "as-expected", "halo") == 1


def test_a_judge_that_ignores_its_rubric_moves_under_no_rubric(report: dict[str, Any]) -> None:
    for variant in ("inverted", "empty", "other"):
        assert estimate(report, "ignores", "rubric-effect", "rubric-matters", variant=variant) == 0
    assert estimate(report, "ignores", "gold-accuracy", "reference") == 1


def test_a_judge_that_tires_is_better_where_every_criterion_has_its_call(report: dict[str, Any]) -> None:
    assert estimate(report, "tires", "late-accuracy-change", "criteria-order", variant="reversed") < -0.2
    assert estimate(report, "tires", "gold-accuracy", "criteria-per-call") == 1
    assert estimate(report, "tires", "halo-effect", "halo", variant="others") == 0


def test_criteria_of_a_call_are_paid_for_once(report: dict[str, Any]) -> None:
    (line,) = [each for each in report["spending"] if (each["name"], each["test"]) == ("reads", "reference")]
    assert line["replies"] == REPLIES * 2
