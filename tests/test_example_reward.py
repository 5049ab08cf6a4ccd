"""The suite in `examples/reward`: two scorers whose numbers are known.

It reads the golden outputs, which tests/test_golden.py makes again and compares: one run serves both.
"""

from __future__ import annotations

import json

import pytest
from support import golden


@pytest.fixture(scope="module")
def report():
    return json.loads(golden.read("reward", "report.json"))


def of(report, name, judge, test):
    return [m for m in report["measures"] if (m["name"], m["judge"], m["test"]) == (name, judge, test)]


def test_what_each_scorer_is_worth_is_found(report):
    assert of(report, "auc", "knows", "reference")[0]["estimate"] == 1
    low, high = (of(report, "auc", "likes-length", "reference")[0]["interval"][end] for end in ("low", "high"))
    assert low < 0.5 < high
    kinds = {(f["judge"], f["kind"]) for f in report["findings"]}
    assert {("knows", "scores-order"), ("likes-length", "scores-undecided"), ("likes-length", "scores-shift")} <= kinds
    assert ("knows", "scores-shift") not in kinds


def test_what_makes_no_sense_for_scores_is_not_shown(report):
    names = {m["name"] for m in report["measures"]}
    assert not names & {"score-tau-b", "rationale-disagreement"}
    assert of(report, "calibration-error", "knows", "reference")
    assert not of(report, "calibration-error", "likes-length", "reference")
