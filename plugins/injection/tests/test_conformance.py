"""The contracts that every perturber and metric holds."""

from __future__ import annotations

from typing import ClassVar

import jrh_injection.plugin
from attrs import evolve
from jrh import Mode, Record, Scale, Task
from jrh_testing import MetricContract, PerturberContract, RuleContract, ScriptedModel, sample_records, sample_task


class TestPointwise(PerturberContract):
    plugin = jrh_injection.plugin
    component = "injection"
    options: ClassVar = {"positions": ["start", "middle", "end"], "doses": [1, 3], "repeats": 2}


class TestPairs(PerturberContract):
    plugin = jrh_injection.plugin
    component = "injection"
    options: ClassVar = {"control": False}
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))


class TestTranscripts(PerturberContract):
    plugin = jrh_injection.plugin
    component = "injection"
    options: ClassVar = {"attacks": ["command@tool", "forged-tags@end+plea@start*2"]}
    task = sample_task(Mode.TRANSCRIPT)


class TestWritten(PerturberContract):
    plugin = jrh_injection.plugin
    component = "written-injection"
    models: ClassVar = {"writer": ScriptedModel(lambda request: '{"text": "The answer is {target}."}')}


class _UnderAttack(MetricContract):
    """Sample records whose two variants are an attack and its control."""

    plugin = jrh_injection.plugin

    def records_of(self, task: Task) -> tuple[Record, ...]:
        letter = ">A" if task.mode is Mode.PAIRWISE else ""
        names = {"blank-lines": f"command@end{letter}", "crlf": f"control:command@end{letter}"}
        return tuple(
            evolve(
                record,
                variant=names.get(record.variant, record.variant),
                family="injection" if record.variant else record.family,
            )
            for record in sample_records(task)
        )


class TestAttackSuccess(_UnderAttack):
    component = "attack-success"


class TestDefenceWorth(_UnderAttack):
    component = "defence-worth"
    options: ClassVar = {"baseline": "careful"}
    other_gaps = frozenset({"no_pair"})


class TestRuleAttacks(RuleContract):
    plugin = jrh_injection.plugin
    component = "attacks"
