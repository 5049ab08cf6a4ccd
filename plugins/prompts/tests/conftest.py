"""Records made by hand, and tasks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jrh import Measure, MetricContext, Record, RecordTable, Scale, Status, Task
from jrh_testing import Project, sample_records, sample_task

BASE = sample_records(items=1)[0]


class Bench:
    """Builds records and measures them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.records: list[Record] = []

    def add(self, item: str, template: str, label: str | None, **how: Any) -> Bench:
        """Add one trial; `label` is canonical, None for none; `presented` where it differs."""
        status = how.pop("status", Status.OK if label is not None else Status.UNPARSABLE)
        presented = how.pop("presented", label)
        record = evolve(
            BASE,
            trial_id=str(len(self.records)),
            case_id=f"{item}-{template}-{how.get('option_order', '')}",
            item_id=item,
            task=self.task.name,
            test=how.pop("test", "templates"),
            family=how.pop("family", "templates"),
            variant=how.pop("variant", template),
            template=template,
            expectation="same",
            expected=None,
            status=status,
            presented=presented,
            canonical=label,
            simulated=False,
            judge=how.pop("judge", "j"),
            gold=how.pop("gold", None),
            repeat=how.pop("repeat", 0),
            **how,
        )
        self.records.append(record)
        return self

    def table(self, verdicts: Iterable[tuple[str, dict[str, str | None]]], **how: Any) -> Bench:
        """Add rows of (item, template -> label)."""
        for item, row in verdicts:
            for template, label in row.items():
                self.add(item, template, label, **how)
        return self

    def measure(self, metric: Any, **context: Any) -> list[Measure]:
        """Measure all records."""
        settings = {"tasks": {self.task.name: self.task}, "resamples": 200, "seed": 1, **context}
        return list(metric.measure(RecordTable.from_records(self.records), MetricContext(**settings)))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project to run the program in."""
    return Project(tmp_path)


@pytest.fixture
def yes_no() -> Bench:
    """Return a bench for YES and NO."""
    return Bench(sample_task())


@pytest.fixture
def levels() -> Bench:
    """Return a bench for the levels 1 to 5."""
    return Bench(Task(name="levels", scale=Scale.of_levels(1, 5)))


@pytest.fixture
def bench():
    """Return a builder of benches for any task."""
    return Bench


@pytest.fixture
def pick():
    """Return a function that finds the one measure of a name, judge and cell."""

    def find(measures: list[Measure], name: str, judge: str | None = None, **cell: str) -> Measure:
        found = [
            each
            for each in measures
            if each.name == name and dict(each.cell) == cell and (judge is None or each.judge == judge)
        ]
        assert len(found) == 1, f"{len(found)} measures '{name}' {cell}"
        return found[0]

    return find
