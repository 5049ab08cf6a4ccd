"""The contracts that the source, the perturber and every metric hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import jrh_consistency.plugin
import pytest
from attrs import evolve
from jrh import Item, Measure, MetricContext, Mode, Record, RecordTable, Scale, Task
from jrh_testing import (
    DataSourceContract,
    MetricContract,
    PerturberContract,
    RuleContract,
    sample_items,
    sample_records,
    sample_task,
)

pytestmark = pytest.mark.inside
ORDERS = ("A>B>C", "A>C>B", "B>A>C", "B>C>A", "C>A>B", "C>B>A")
ROWS = "".join(
    json.dumps(
        {"request_id": f"q{q}", "response_id": f"r{r}", "request": f"Ask {q}", "response": f"Text {q} {r}", "score": r}
    )
    + "\n"
    for q in range(3)
    for r in range(4)
)


class _Sets(DataSourceContract):
    plugin = jrh_consistency.plugin
    component = "response-sets"
    required_options = ("path",)
    options: ClassVar = {"path": "sets.jsonl"}
    files: ClassVar = {"sets.jsonl": ROWS}


class TestScores(_Sets):
    task = sample_task(Mode.POINTWISE, Scale.of_levels(0, 5))


class TestPairs(_Sets):
    options: ClassVar = {"path": "sets.jsonl", "most": 3, "seed": 4}
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE"))


class TestChoices(_Sets):
    options: ClassVar = {"path": "sets.jsonl", "lists": 2}
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs(options=4))


class TestRankings(_Sets):
    task = sample_task(Mode.POINTWISE, Scale.of_labels(*ORDERS))


class TestReferenceGuided(PerturberContract):
    plugin = jrh_consistency.plugin
    component = "reference-guided"
    options: ClassVar = {"repeats": 2}

    def items_of(self, task: Task) -> tuple[Item, ...]:
        return tuple(evolve(item, metadata={"reference": "Because."}) for item in sample_items(task))


class TestReferenceGuidedPairs(TestReferenceGuided):
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs())


def _renamed(record: Record, name: str) -> Record:
    return evolve(record, item_id=name, group=name.split("::", maxsplit=1)[0])


class _Metrics(MetricContract):
    plugin = jrh_consistency.plugin

    def tasks(self) -> tuple[Task, ...]:
        return (sample_task(Mode.PAIRWISE, Scale.of_pairs(tie="TIE")),)

    def records_of(self, task: Task) -> tuple[Record, ...]:
        """Give the items of the sample the names of the pairs of a set: three responses make three pairs."""
        pairs = [f"q{number}::{pair}" for number in range(20) for pair in ("a|b", "b|c", "a|c")]
        records = sample_records(task)
        names = {name: pairs[place] for place, name in enumerate(sorted({each.item_id for each in records}))}
        return tuple(
            evolve(each, item_id=names[each.item_id], group=names[each.item_id].split("::")[0]) for each in records
        )


class TestTransitivity(_Metrics):
    component = "transitivity"


class _TwoTasks(_Metrics):
    """Add the records of a second task about the same responses."""

    second: ClassVar[Task] = evolve(sample_task(Mode.POINTWISE, Scale.of_levels(1, 6)), name="second")
    members: ClassVar[tuple[str, ...]] = ("a", "b", "c")

    def records_of(self, task: Task) -> tuple[Record, ...]:
        return (*super().records_of(task), *self.seconds())

    def seconds(self) -> Iterator[Record]:
        records = sample_records(self.second, items=12)
        ids = sorted({each.item_id for each in records})
        size = len(self.members)
        names = {own: f"q{place // size}::{self.members[place % size]}" for place, own in enumerate(ids)}
        for each in records:
            name = names[each.item_id]
            yield evolve(
                each, item_id=name, group=name.split("::")[0], trial_id=f"second {each.trial_id}", task="second"
            )

    def measure(self, base: Path, task: Task, records: Sequence[Record]) -> list[Measure]:
        context = MetricContext(tasks={task.name: task, "second": self.second}, resamples=100, seed=1)
        return list(self.build_component(base, task).measure(RecordTable.from_records(records), context))


class TestPointwisePairwise(_TwoTasks):
    component = "pointwise-pairwise"


class TestListwisePairwise(_TwoTasks):
    component = "listwise-pairwise"
    second = evolve(sample_task(Mode.POINTWISE, Scale.of_labels(*ORDERS)), name="second")
    members = ("a|b|c",)


class TestScoreRanking(_TwoTasks):
    component = "score-ranking"

    def tasks(self) -> tuple[Task, ...]:
        return (sample_task(Mode.PAIRWISE, Scale.of_pairs(options=3)),)

    def records_of(self, task: Task) -> tuple[Record, ...]:
        records = sample_records(task, items=4)
        names = {own: f"q{place}::c|a|b" for place, own in enumerate(sorted({each.item_id for each in records}))}
        mine = (_renamed(each, names[each.item_id]) for each in records)
        return (*mine, *self.seconds())


class TestRuleCycles(RuleContract):
    plugin = jrh_consistency.plugin
    component = "cycles"


class TestRuleAgreement(RuleContract):
    plugin = jrh_consistency.plugin
    component = "agreement-of-ways"
