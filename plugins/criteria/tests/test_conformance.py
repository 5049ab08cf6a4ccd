"""The contracts that every perturber, metric and source holds."""

from __future__ import annotations

import json
from typing import ClassVar

import jrh_criteria.plugin
import pytest
from attrs import evolve
from jrh import Item, JrhError, MetricContext, Mode, Record, RecordTable, Scale, ScaleKind, Task
from jrh.values import Criteria, Criterion, JudgedCriterion
from jrh_criteria.mode import together_text
from jrh_testing import (
    DataSourceContract,
    MetricContract,
    ModeContract,
    PerturberContract,
    RuleContract,
    build,
    sample_records,
    sample_task,
)

LABELS = Scale(kind=ScaleKind.LABELS, labels=("met", "unmet", "n/a"), positive="met")
RUBRIC = (Criterion(id="a", text="It greets.", weight=2.0), Criterion(id="b", text="It ends.", weight=-1.0))
TASK = evolve(
    sample_task(Mode.POINTWISE, LABELS),
    rubric="",
    criteria=Criteria(name="sample", entries=RUBRIC, per_call=0, not_applicable="n/a"),
)


def items(task: Task) -> tuple[Item, ...]:
    """Return three responses with two criteria each, as a run has them."""
    del task
    together = together_text((each.id, each.text) for each in RUBRIC)
    return tuple(
        Item(
            id=f"{number}#{each.id}",
            fields={
                "request": f"Ask {number}",
                "response": f"Hello {number}, the end.",
                "criterion": {"id": each.id, "text": each.text},
                "criteria": together,
            },
            gold="met",
            group=str(number),
            metadata={"evidence.a": "Hello", "evidence.b": "the end"},
            criterion=JudgedCriterion(criterion=each, of=str(number)),
        )
        for number in range(3)
        for each in RUBRIC
    )


class TestMode(ModeContract):
    plugin = jrh_criteria.plugin
    component = "criteria"
    options: ClassVar = {"mode": "criteria", "criteria": {"file": "rubric.yaml", "per_call": "all"}}
    files: ClassVar = {
        "rubric.yaml": "- {id: a, instructions: It greets.}\n"
        "- {id: b, instructions: It ends., score_levels: [{level: 0, label: no}, {level: 1, label: yes}]}\n"
    }


class TestTasksOfEntries(TestMode):
    options: ClassVar = {"mode": "transcript", "criteria": {"file": "rubric.yaml"}}


class _Perturbers(PerturberContract):
    plugin = jrh_criteria.plugin
    also_changes: ClassVar = ("criterion", "criteria")
    task = TASK

    def items_of(self, task: Task) -> tuple[Item, ...]:
        return items(task)


class TestRubricMatters(_Perturbers):
    component = "rubric-matters"


class TestOrder(_Perturbers):
    component = "criteria-order"
    options: ClassVar = {"shuffles": 2}


class TestPerCall(_Perturbers):
    component = "criteria-per-call"


class TestFiller(_Perturbers):
    component = "irrelevant-criterion"


class TestWording(_Perturbers):
    component = "criterion-wording"


class TestNegated(_Perturbers):
    component = "criterion-negated"


class TestHalo(_Perturbers):
    component = "halo"


class TestScore(MetricContract):
    """Every item of the sample is a response with one criterion."""

    plugin = jrh_criteria.plugin
    component = "criteria-score"
    task = TASK

    def measure(self, base, task, records):
        names = sorted({record.item_id for record in records})
        made = tuple(
            Item(id=name, fields={}, criterion=JudgedCriterion(criterion=RUBRIC[0], of=name)) for name in names
        )
        context = MetricContext(tasks={task.name: task}, items={task.name: made}, resamples=100, seed=1)
        return list(self.build_component(base, task).measure(RecordTable.from_records(records), context))


class TestEffect(MetricContract):
    plugin = jrh_criteria.plugin
    component = "rubric-effect"

    def records_of(self, task: Task) -> tuple[Record, ...]:
        return tuple(
            evolve(record, family="rubric-matters" if record.variant else record.family)
            for record in sample_records(task)
        )


class TestPlace(MetricContract):
    """Without the items of a run no criterion has a place; `test_planted` measures."""

    plugin = jrh_criteria.plugin
    component = "criteria-place"
    silent = "no item of the sample has a criterion"


class _Sources(DataSourceContract):
    plugin = jrh_criteria.plugin
    component = "rubric-benchmark"
    required_options: ClassVar = ("path",)


class TestLists(_Sources):
    """The shape of HealthBench: a conversation, and a list of criteria with points."""

    options: ClassVar = {
        "path": "lists.jsonl",
        "criteria": "rubrics",
        "columns": {"id": "prompt_id", "request": "prompt", "response": "completion", "weight": "points"},
    }
    files: ClassVar = {
        "lists.jsonl": "".join(
            json.dumps(
                {
                    "prompt_id": f"p{number}",
                    "prompt": [{"role": "user", "content": f"What is {number}?"}],
                    "completion": f"It is {number}.",
                    "rubrics": [
                        {"criterion": "Says what it is.", "points": 5, "tags": ["axis:accuracy"]},
                        {"criterion": "Is rude.", "points": -3, "tags": []},
                    ],
                }
            )
            + "\n"
            for number in range(3)
        )
    }


class TestRows(_Sources):
    """The shape of RuVerBench and RubricEval: a response, one criterion, and what people say of it."""

    options: ClassVar = {
        "path": "rows.csv",
        "columns": {"request": "instruction", "response": "output", "criterion": "rubric", "label": "human"},
    }
    files: ClassVar = {
        "rows.csv": "instruction,output,rubric,human\nAdd,1+1=2,Adds,True\nAdd,1+1=2,Is long,False\nSub,2-1=1,Adds,0\n"
    }


def test_rows_of_one_response_are_one_response(tmp_path):
    (tmp_path / "rows.csv").write_text(TestRows.files["rows.csv"])
    source = build(jrh_criteria.plugin, "rubric-benchmark", options=TestRows.options, base=tmp_path)
    items = list(source.read())
    assert [(item.id, item.group, item.gold) for item in items] == [
        ("1#1", "1", "met"),
        ("1#2", "1", "unmet"),
        ("2#1", "2", "unmet"),
    ]
    assert [each.text for each in items[0].criterion.others] == ["Adds", "Is long"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            {"rubrics": [{"criterion": "a", "points": 0}]},
            "lists.jsonl:1: the weight '0' of criterion '1' must be a number other than 0",
        ),
        ({"rubrics": [{"criterion": "a", "points": "x\ny"}]}, "the weight 'x\\ny' of criterion '1'"),
        (
            {"rubrics": [{"criterion": "a", "points": -1}]},
            "all weights of response 'p' are negative; at least one must be positive",
        ),
        ({"rubrics": "nothing"}, "lists.jsonl:1: not valid JSON"),
        ({"rubrics": [1]}, "lists.jsonl:1: 'rubrics' is not a list of criteria"),
        ({"rubrics": [{"points": 1}]}, "lists.jsonl:1: no text in 'criterion' of criterion 1"),
        ({"rubrics": [{"criterion": "a", "criterion_id": "\x1b[31m"}]}, "characters that cannot be printed"),
        ({"completion": "", "rubrics": [{"criterion": "a"}]}, "lists.jsonl:1: no 'completion'; map it"),
    ],
    ids=range(8),
)
def test_bad_rows_are_one_message_with_the_line(tmp_path, line, said):
    (tmp_path / "lists.jsonl").write_text(json.dumps({"prompt_id": "p", "completion": "x", **line}))
    source = build(jrh_criteria.plugin, "rubric-benchmark", options=TestLists.options, base=tmp_path)
    with pytest.raises(JrhError) as caught:
        list(source.read())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


class TestRules(RuleContract):
    plugin = jrh_criteria.plugin
    component = "criteria"
