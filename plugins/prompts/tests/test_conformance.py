"""The contracts that every source, perturber and metric holds."""

from __future__ import annotations

import json
from typing import ClassVar

import jrh_prompts.plugin
from attrs import evolve
from jrh import Item, Mode, Record, Scale, Task
from jrh_testing import (
    DataSourceContract,
    MetricContract,
    PerturberContract,
    ScriptedModel,
    sample_records,
    sample_task,
)

POINTWISE = sample_task()
PAIRWISE = sample_task(Mode.PAIRWISE)
LEVELS = Task(name="levels", scale=Scale.of_levels(1, 6), rubric="6: fine\n5: good\n4: so\n3: la\n2: bad\n1: worst")
CHOICE = "Which is better?\n\nA: {{ response_a }}\nB: {{ response_b }}"


class TestShippedTemplates(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "templates"
    options: ClassVar = {"inventory": "factuality", "formats": ["separator-dash", "casing-upper", "instruction-last"]}
    task = POINTWISE


class TestOwnTemplates(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "templates"
    options: ClassVar = {
        "templates": {
            "plain": {"text": CHOICE},
            "worse": {"text": f"Name the worse one.\n{CHOICE}", "labels": {"A": "B", "B": "A"}},
            "deutsch": {"text": f"Auf Deutsch.\n{CHOICE}", "labels": {"EINS": "A", "ZWEI": "B"}, "language": "de"},
        }
    }
    task = PAIRWISE


class TestTranscriptTemplates(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "templates"
    options: ClassVar = {"templates": {"plain": {"text": "YES or NO? {{ transcript }}"}}}
    task = sample_task(Mode.TRANSCRIPT)


class TestTemplatesOfItems(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "templates"
    options: ClassVar = {"from_items": True}
    task = POINTWISE
    items = tuple(
        Item(
            id=f"{number}",
            fields={"request": "?", "response": f"text {number}"},
            metadata={"prompts": {"one": "Good? {{ response }}", "two": "{{ response }} Is it good?"}},
        )
        for number in range(3)
    )


class TestOutputMode(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "output-mode"
    options: ClassVar = {"reasoning": ["none", "high"]}
    task = POINTWISE


class TestPromptParaphrase(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "prompt-paraphrase"
    options: ClassVar = {"template": "Right, YES or NO? {{ response }}", "model": "writer", "paraphrases": 2}
    required_options = ("template", "model")
    models: ClassVar = {
        "writer": ScriptedModel(
            {
                "Version 1": json.dumps({"template": "Is it right? YES or NO. {{ response }}"}),
                "Version 2": json.dumps({"template": "YES or NO: is this right? {{ response }}"}),
            }
        )
    }
    task = POINTWISE


class TestScale(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "scale"
    options: ClassVar = {
        "variants": {
            "ten": {"range": [1, 10]},
            "reversed": {"reversed": True},
            "letters": {"labels": ["f", "e", "d", "c", "b", "a"]},
        }
    }
    task = LEVELS


class TestRubric(PerturberContract):
    plugin = jrh_prompts.plugin
    component = "rubric"
    task = LEVELS


ROWS = [
    {
        "pair_id": f"p{number}",
        "task_type": "made-up",
        "prompt_a": f"Is it right? {text}",
        "prompt_b": f"{text}\nRight or not?",
        "response_being_judged": text,
        "ground_truth_label": label,
    }
    for number, (text, label) in enumerate([("two and two is four", "YES"), ("two and two is five", "NO")])
]


class TestPairedPrompts(DataSourceContract):
    plugin = jrh_prompts.plugin
    component = "paired-prompts"
    files: ClassVar = {"pairs.jsonl": "\n".join(map(json.dumps, ROWS))}
    options: ClassVar = {"path": "pairs.jsonl"}
    required_options = ("path",)
    task = POINTWISE


def _asked_with(records: tuple[Record, ...], task: Task, names: tuple[str, ...]) -> tuple[Record, ...]:
    """Make the sample's variants the templates of a test."""
    levels = {"blank-lines": names[0], "crlf": names[1]}
    return tuple(
        evolve(
            record,
            template=levels.get(record.variant, ""),
            language={"crlf": "de"}.get(record.variant, ""),
        )
        for record in records
    )


class _OverTemplates(MetricContract):
    """Sample records whose two variants are two templates and languages."""

    about_missing = frozenset({"excluded-pairs"})

    def records_of(self, task: Task) -> tuple[Record, ...]:
        return _asked_with(sample_records(task), task, ("one", "two"))


class TestTemplateSensitivity(_OverTemplates):
    plugin = jrh_prompts.plugin
    component = "template-sensitivity"


class TestSampledTemplateSensitivity(_OverTemplates):
    plugin = jrh_prompts.plugin
    component = "template-sensitivity"
    options: ClassVar = {"pairs": 1}


class TestPolarity(_OverTemplates):
    plugin = jrh_prompts.plugin
    component = "polarity"
    silent = "of two templates nobody can tell which one asks for the opposite"


class TestFlippedByEveryJudge(_OverTemplates):
    plugin = jrh_prompts.plugin
    component = "flipped-by-every-judge"


class TestPairwiseAgreement(_OverTemplates):
    plugin = jrh_prompts.plugin
    component = "pairwise-agreement"
