"""Every parser holds the contract of parsers."""

from __future__ import annotations

import json

import jrh_parsers.plugin
from attrs import evolve
from jrh import Record, Reply, Scale, ScaleKind, Status, Task
from jrh_testing import MetricContract, ParserContract, StageContract, sample_records

LEVELS = (
    Scale.of_levels(1, 6),
    Scale.of_levels(0, 10),
    Scale.of_levels(-2, 2),
    Scale(kind=ScaleKind.ORDINAL, labels=("poor", "fair", "good")),
)
PAIRS = (Scale.of_pairs(), Scale.of_pairs(tie="TIE"), Scale.of_pairs(tie="C"))


class TestAuto(ParserContract):
    plugin = jrh_parsers.plugin
    component = "auto"


class TestJson(ParserContract):
    plugin = jrh_parsers.plugin
    component = "json"

    def reply_for(self, label: str, scale: Scale) -> Reply:
        return Reply(status=Status.OK, text=json.dumps({"rationale": "It says so.", "verdict": label}))


class TestLabel(ParserContract):
    plugin = jrh_parsers.plugin
    component = "label"


class TestLikert(ParserContract):
    plugin = jrh_parsers.plugin
    component = "likert"
    scales = LEVELS


class TestPairwise(ParserContract):
    plugin = jrh_parsers.plugin
    component = "pairwise"
    scales = PAIRS


class TestWeighted(ParserContract):
    plugin = jrh_parsers.plugin
    component = "weighted"
    scales = LEVELS

    def reply_for(self, label: str, scale: Scale) -> Reply:
        return Reply(status=Status.OK, text=label, token_probabilities=({"10": 0.01, label: 0.9},))


class TestWeightedWithFallback(ParserContract):
    plugin = jrh_parsers.plugin
    component = "weighted"
    options = {"fallback": True}
    scales = LEVELS


class TestRationaleContradiction(MetricContract):
    plugin = jrh_parsers.plugin
    component = "rationale-contradiction"
    other_gaps = frozenset({"no_rationale", "unreadable_rationale"})

    def records_of(self, task: Task) -> tuple[Record, ...]:
        said = {ScaleKind.PAIRWISE: "I choose", ScaleKind.ORDINAL: "I rate it", ScaleKind.LABELS: "So the answer is"}
        return tuple(
            evolve(
                record,
                presented=record.canonical,
                rationale=f"{said[task.scale.kind]} {task.scale.labels[place % 2]}." if place % 3 else "",
            )
            for place, record in enumerate(sample_records(task))
        )


class TestRationales(StageContract):
    plugin = jrh_parsers.plugin
    component = "rationales"
    options = {"model": "reader"}
    required_options = ("model",)
