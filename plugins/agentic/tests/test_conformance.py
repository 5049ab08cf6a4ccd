"""The contracts of the kernel, for all three tests by rules and with a model, and for the measures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jrh_agentic.plugin
from agentic_samples import item, shop, task
from attrs import evolve
from jrh import Case, ChatRequest, Equals, Measure, MetricContext, Record, RecordTable, Scale, Task
from jrh.values import Condition, Evidence
from jrh.values.cases import Provenance
from jrh_testing import (
    MetricContract,
    PerturberContract,
    ScriptedModel,
    build,
    sample_records,
    sample_task,
    sample_tasks,
)

ITEMS = (
    item(identity="good"),
    item(gold="violates", identity="bad"),
    item(gold=None, identity="unlabelled"),
    item(messages="user: plain text", identity="text"),
    item(messages=shop('- a word about tea\n- a word about milk\n\nIt\'s "fine". Good.'), identity="list"),
)


def reply(request: ChatRequest) -> str:
    prompt = request.messages[-1].content
    if "Plan edits" in prompt:
        return json.dumps({"thesis": "t", "steps": [{"message": 9, "goal": "say it otherwise", "reason": "r"}]})
    if "and no other:" in prompt:
        return json.dumps({"message": 9, "content": "It arrives in June."})
    if "Apply the entry strictly" in prompt:
        return json.dumps({"reason": "r", "label": prompt.partition("Labels: ")[2].splitlines()[0].split(", ")[-1]})
    if "Decide whether" in prompt:
        return json.dumps({"reason": "r", "same": True})
    return json.dumps({"summary": "s"})


class TestPerturbationByRules(PerturberContract):
    plugin = jrh_agentic.plugin
    component = "agent-perturbation"
    task = task()
    items = ITEMS


class TestPerturbationWithAModel(PerturberContract):
    plugin = jrh_agentic.plugin
    component = "agent-perturbation"
    task = task()
    items = ITEMS
    options = {"model": "scripted"}
    models = {"scripted": ScriptedModel(reply)}


class TestOtherLabelsByRules(PerturberContract):
    plugin = jrh_agentic.plugin
    component = "agent-perturbation"
    task = sample_tasks()[-1]
    options = {"satisfies": "YES", "violates": "NO", "demands": {"sample-transcript": ["verify_identity"]}}
    items = tuple(evolve(each, gold=None) for each in ITEMS)


class TestLevelsByRules(PerturberContract):
    plugin = jrh_agentic.plugin
    component = "agent-perturbation"
    task = task(scale=Scale.of_levels(1, 3))
    items = tuple(evolve(each, gold="2") for each in ITEMS)


class TestPositivesByRules(PerturberContract):
    plugin = jrh_agentic.plugin
    component = "agent-positives"
    task = task()
    items = ITEMS


class TestPositivesWithAModel(TestPositivesByRules):
    options = {"model": "scripted"}
    models = {"scripted": ScriptedModel(reply)}


class TestStyleByRules(PerturberContract):
    plugin = jrh_agentic.plugin
    component = "agent-style"
    task = task()
    items = ITEMS


class TestStyleWithAModel(TestStyleByRules):
    options = {"model": "scripted"}
    models = {"scripted": ScriptedModel(reply)}


def records_of(given: Task) -> tuple[Record, ...]:
    """Turn the sample records into those of this family: the label expected by name, a rationale for every verdict."""
    due = {"agent-perturbation": given.scale.labels[-1], "agent-positives": given.scale.labels[0]}
    made = []
    for record in sample_records(given, items=12):
        family = "agent-positives" if record.family == "reference" else "agent-perturbation"
        made.append(
            evolve(
                record,
                family=family,
                test=family,
                expectation="equals",
                expected=due[family],
                strength=1.0 + len(record.variant) % 2,
                rationale="message 9 is wrong" if len(record.item_id) % 2 else "it is wrong",
            )
        )
    return tuple(made)


class Known(Evidence):
    """Knows every case: message 9 of 9 was edited."""

    def cases(self, case_ids: Sequence[str]) -> dict[str, Case]:
        details = {"edits": [{"was": 9, "message": 9, "what": "w", "diff": ""}], "edits_left_out": 0, "messages": 9}
        return {
            identity: Case(
                id=identity,
                task="t",
                test="agent-perturbation",
                item_id="i",
                condition=Condition(),
                fields={"transcript": shop()},
                expectation=Equals(label="violates"),
                label_map={},
                provenance=Provenance(details=details),
            )
            for identity in case_ids
        }

    def replies(self, trial_ids: Sequence[str]) -> dict[str, object]:  # type: ignore[override]
        return {}


class FamilyMetricContract(MetricContract):
    plugin = jrh_agentic.plugin
    other_gaps = frozenset({"no_rationale"})

    def records_of(self, task: Task) -> tuple[Record, ...]:
        return records_of(task)

    def measure(self, base: Path, task: Task, records: Sequence[Record]) -> list[Measure]:
        context = MetricContext(tasks={task.name: task}, resamples=100, seed=1, evidence=Known())
        return list(self.build_component(base, task).measure(RecordTable.from_records(records), context))


class TestErrorRates(FamilyMetricContract):
    component = "agent-error-rates"


class TestSensitivity(FamilyMetricContract):
    component = "edit-sensitivity"


class TestLocalisation(FamilyMetricContract):
    component = "evidence-localisation"


def test_records_of_other_families_have_no_such_measures() -> None:
    context = MetricContext(tasks={task.name: task for task in [sample_task()]})
    for spec in jrh_agentic.plugin.jrh_metrics():
        metric = build(jrh_agentic.plugin, spec.name)
        assert list(metric.measure(RecordTable.from_records(sample_records()), context)) == []
