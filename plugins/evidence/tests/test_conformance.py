"""The contracts that every perturber and metric holds."""

from __future__ import annotations

from typing import ClassVar

import jrh_evidence.plugin
import pytest
from attrs import evolve
from jrh import Mode, Record, Scale, Task
from jrh_testing import MetricContract, PerturberContract, RuleContract, sample_records, sample_task

pytestmark = pytest.mark.inside


class TestPointwise(PerturberContract):
    plugin = jrh_evidence.plugin
    component = "evidence"
    options: ClassVar = {"text": "The bridge is closed.", "lengths": [3000, 200], "repeats": 2}


class TestPairs(PerturberContract):
    plugin = jrh_evidence.plugin
    component = "evidence"
    options: ClassVar = {"text": "The bridge is closed.", "lengths": [3000], "field": "response_b", "own": True}
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))


class TestTranscripts(PerturberContract):
    plugin = jrh_evidence.plugin
    component = "evidence"
    options: ClassVar = {"text": "The bridge is closed.", "lengths": [2000], "place": "tool"}
    task = sample_task(Mode.TRANSCRIPT)


class TestReach(MetricContract):
    """Sample records whose two variants are a text with evidence and one without."""

    plugin = jrh_evidence.plugin
    component = "evidence-reach"
    other_gaps = frozenset({"no_verdict_without_the_evidence"})
    about_missing = frozenset({"input-seen"})

    def records_of(self, task: Task) -> tuple[Record, ...]:
        names = {"blank-lines": "with@1000/0.5", "crlf": "without@1000"}
        return tuple(
            evolve(
                record,
                variant=names.get(record.variant, record.variant),
                family="evidence" if record.variant else record.family,
            )
            for record in sample_records(task)
        )


class TestErrors(PerturberContract):
    plugin = jrh_evidence.plugin
    component = "errors"
    options: ClassVar = {"doses": [1, 2]}


class TestErrorCurve(MetricContract):
    """Sample records whose two variants are one and two errors of a kind."""

    plugin = jrh_evidence.plugin
    component = "error-curve"

    def records_of(self, task: Task) -> tuple[Record, ...]:
        doses = {"blank-lines": 1, "crlf": 2}
        return tuple(
            evolve(
                record,
                variant=f"negation*{doses[record.variant]}" if record.variant in doses else record.variant,
                strength=float(doses.get(record.variant, 0)),
                family="errors" if record.variant else record.family,
            )
            for record in sample_records(task)
        )


class TestRuleEvidence(RuleContract):
    plugin = jrh_evidence.plugin
    component = "planted-evidence"


class TestRuleErrors(RuleContract):
    plugin = jrh_evidence.plugin
    component = "planted-errors"
