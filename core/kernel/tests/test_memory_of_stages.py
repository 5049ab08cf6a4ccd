"""What stages before measuring hold of each item and trial: the peaks of two sizes differ by a few bytes for each.

SQLite's own memory is not in these figures; its caches have a fixed size.
"""

from __future__ import annotations

import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy.ma  # noqa: F401 - numpy loads it for some sizes of arrays alone: a megabyte
import pytest
from attrs import evolve
from jrh.plugins.specs import JudgeSpec
from jrh.running.schedule import AskedCase, TrialPlanner
from jrh.running.stages.cases_of_drafts import reference_cases
from jrh.running.stages.load import check
from jrh.store.run_store import Store
from jrh.store.temporary import Spool, spool_items, spool_values
from jrh.suite.definition import DataUse, JudgeUse, TaskUse
from jrh.suite.resolved import Resolved
from jrh.values.cases import Case
from jrh.values.clusters import clusters_of
from jrh.values.items import Item, Task
from jrh.values.records import RecordTable
from jrh.values.scales import Scale, ScaleKind
from jrh_plan.trial_counts import count_trials
from jrh_review.listed_cases import case_rows
from jrh_testing import sample_records

FEW, MANY = 1000, 2500
TASK = Task(name="essays", instruction="Is it right?", scale=Scale(kind=ScaleKind.LABELS, labels=("YES", "NO")))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is held at once be little, so that what grows shows."""
    monkeypatch.setattr("jrh.store.temporary.IN_MEMORY", 50)
    for module in ("values.clusters", "store.temporary", "store.cases_table"):
        monkeypatch.setattr(f"jrh.{module}.BLOCK", 50)
    monkeypatch.setattr("jrh.store.temporary._HELD", 100)
    monkeypatch.setattr("jrh.store.database.CHUNK", 100)
    monkeypatch.setattr("jrh.store.database.PAGE", 100)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give a store that is open for writing."""
    store = Store.open(tmp_path, "essays")
    yield store
    store.close()


class Source:
    """Reads items that are made as they are asked for."""

    def __init__(self, count: int) -> None:
        """Read so many."""
        self.count = count

    def read(self) -> Iterator[Item]:
        """Yield the items."""
        return (
            Item(id=f"essay number {place}", fields={"response": f"{place} and so on. "}) for place in range(self.count)
        )


def grows(work: Callable[[int], object]) -> float:
    """Return the bytes by which the peak grows with each item."""
    work(10)  # what is imported and remembered once
    peaks = []
    for count in (FEW, MANY):
        tracemalloc.start()
        work(count)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[1] - peaks[0]) / (MANY - FEW)


def test_an_item_that_is_read_checked_and_stored_takes_a_few_bytes(store: Store) -> None:
    """A table of ids and origins took 300 bytes, clusters 400 more."""
    use = TaskUse(task=TASK, data=DataUse(name="csv", component="csv"))

    def work(count: int) -> None:
        items = check(Source(count), use)
        store.items.write({"essays": items})

    assert grows(work) < 50


def test_the_cluster_of_an_item_that_is_alone_takes_a_number() -> None:
    """Its keys and names took 500 bytes."""
    assert grows(lambda count: clusters_of(spool_items(Source(count).read()))) < 50


def _judge(lab: Any) -> Resolved[JudgeSpec]:
    declared = JudgeSpec(name="fixed", summary="", factory=lambda options, context: None)  # type: ignore[arg-type]
    return Resolved(use=JudgeUse(name="fixed", component="fixed"), entry=lab.entry(declared), options=None)


def test_a_trial_that_is_planned_takes_nothing(lab: Any) -> None:
    """What is noted of places and questions took 45 to 90 bytes."""

    judge = _judge(lab)

    def work(count: int) -> None:
        asked = Spool(AskedCase)
        for item in Source(count).read():
            asked.add(AskedCase.of(case, TASK) for case in reference_cases(TASK, [item], 1))
        planner = TrialPlanner([(judge, "0" * 32)], {TASK.name: TASK})
        assert sum(1 for _ in planner.trials_of(asked.all())) == count

    assert grows(work) < 30


def test_a_trial_of_jrh_plan_takes_some_numbers(lab: Any) -> None:
    """Its case and its row were held: 3,700 bytes."""
    judges = [(_judge(lab), "0" * 32)]
    key = ("essays", "reference")
    stored = SimpleNamespace(occasions=lambda: iter(()), final_trials=lambda ids: set(ids[:1]))
    suite = SimpleNamespace(tasks=[SimpleNamespace(task=TASK)])
    request = SimpleNamespace(resolved=SimpleNamespace(suite=suite))
    dry: Any = SimpleNamespace(request=request, store=SimpleNamespace(trials=stored))

    def work(count: int) -> None:
        cases = spool_values(Case, (reference_cases(TASK, [item], 2)[0] for item in Source(count).read()))
        own = {item.id: item.id for item in Source(FEW).read()}
        clusters = {"essays": defaultdict(lambda: "another", own)}
        found = count_trials(dry, {key: cases}, judges, clusters)["fixed", key]
        assert (found.cases, found.trials, found.items) == (count, 2 * count, count)
        assert found.clusters == min(count, FEW) + (count > FEW)
        assert found.open[-1] == (cases[-1], 1)

    assert grows(work) < 150


def test_the_ids_of_cases_are_read_in_pages(store: Store) -> None:
    """All ids of a test were a list: 80 bytes each."""
    made = reference_cases(TASK, list(Source(MANY).read()), 1)
    few = [evolve(case, id=f"few {case.id}") for case in made[:FEW]]
    for test, cases in (("many", made), ("few", few)):
        writing = store.cases.writing("essays", test)
        writing.put(cases, ())
        writing.finish("digest")
    names = {10: "none", FEW: "few", MANY: "many"}
    assert grows(lambda count: sum(map(len, store.cases.ids("essays", names[count])))) < 10
    assert list(store.cases.ids("essays", "many")) == [case.id for case in made]


def test_listed_cases_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting and adding up all rows took 70 to 100 bytes of each trial, besides what the metrics have read."""
    monkeypatch.setattr("jrh_review.listed_cases._PART", 100)
    sample = sample_records(missing=0.0)[0]
    tasks = {sample.task: evolve(TASK, name=sample.task)}
    tables = {
        count: RecordTable.from_records(
            [
                evolve(sample, trial_id=f"{place:032x}", case_id=f"{place // 2:032x}", item_id=f"{place // 9}")
                for place in range(count)
            ]
        )
        for count in (10, FEW, MANY)
    }
    for table in tables.values():
        assert sum(row.trials for row in case_rows(table, tasks)) == len(table)
    assert grows(lambda count: sum(row.trials for row in case_rows(tables[count], tasks))) < 40
