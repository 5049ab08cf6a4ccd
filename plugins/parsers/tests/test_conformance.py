"""Every parser holds the contract of parsers."""

from __future__ import annotations

import json

import jrh_parsers.plugin
from jrh import Reply, Scale, ScaleKind, Status
from jrh_testing import ParserContract

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
