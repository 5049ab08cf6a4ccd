"""The contract of judges, for every kind of scale."""

from __future__ import annotations

from typing import ClassVar

import jrh_baseline.plugin
from jrh import Mode, Scale
from jrh.values import Example
from jrh_testing import JudgeContract, sample_task

PAIRS = tuple(
    Example(
        fields={"request": "?", "response_a": f"{first} number {place}.", "response_b": f"{second} number {place}."},
        gold=gold,
        group="",
    )
    for place, (gold, first, second) in enumerate(
        [("A", "A full answer with reasons,", "None"), ("B", "None", "A full answer with reasons,")] * 3
    )
)
"""The kit's own examples show the same response twice, from which a judge of differences rightly learns nothing."""


class TestLabels(JudgeContract):
    plugin = jrh_baseline.plugin
    component = "baseline"
    task = sample_task()


class TestLevels(JudgeContract):
    plugin = jrh_baseline.plugin
    component = "baseline"
    task = sample_task(scale=Scale.of_levels(1, 6))
    options: ClassVar = {"regularisation": 0.5}


class TestPairs(JudgeContract):
    plugin = jrh_baseline.plugin
    component = "baseline"
    task = sample_task(Mode.PAIRWISE)
    examples = PAIRS


class TestPairsWithTie(JudgeContract):
    plugin = jrh_baseline.plugin
    component = "baseline"
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))
    options: ClassVar = {"tie_margin": 0.01, "balanced": False}
    examples = PAIRS


class TestTranscripts(JudgeContract):
    plugin = jrh_baseline.plugin
    component = "baseline"
    task = sample_task(Mode.TRANSCRIPT)
