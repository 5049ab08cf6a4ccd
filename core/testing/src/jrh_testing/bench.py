"""Records made by hand, for tests of metrics whose numbers are worked out on paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve
from jrh import Measure, MetricContext, Record, RecordTable, Status, Task
from jrh.plugins import Metric

from jrh_testing.reports import sample_records


class RecordBench:
    """Builds records by hand, one trial after the other, and measures them."""

    def __init__(self, task: Task) -> None:
        """Start without records of a task."""
        self.task = task
        self.records: list[Record] = []

    def add(self, item: str, template: str, label: str | None, **how: Any) -> RecordBench:
        """Add one trial; `label` is canonical, None for none; `presented` where it differs."""
        defaults = {
            # A trial without a label has no verdict, and a missing verdict is a status, never an empty label.
            "status": Status.OK if label is not None else Status.UNPARSABLE,
            "presented": label,
            "group": item,
            "test": "templates",
            "family": "templates",
            "variant": template,
            "judge": "j",
            "gold": None,
            "repeat": 0,
        }
        record = evolve(
            sample_records(items=1)[0],
            trial_id=str(len(self.records)),
            # Trials of one item and template are one case unless the order of the options differs: repeats of a case
            # are reruns.
            case_id=f"{item}-{template}-{how.get('option_order', '')}",
            item_id=item,
            task=self.task.name,
            template=template,
            expectation="same",
            expected=None,
            canonical=label,
            simulated=False,
            **(defaults | how),
        )
        self.records.append(record)
        return self

    def table(self, verdicts: Iterable[tuple[str, dict[str, str | None]]], **how: Any) -> RecordBench:
        """Add rows of (item, template -> label)."""
        for item, row in verdicts:
            for template, label in row.items():
                self.add(item, template, label, **how)
        return self

    def measure(self, metric: Metric, **context: Any) -> list[Measure]:
        """Measure all records."""
        # Few resamples: these numbers are worked out on paper, and only the estimate has to match.
        settings = {"tasks": {self.task.name: self.task}, "resamples": 200, "seed": 1, **context}
        return list(metric.measure(RecordTable.from_records(self.records), MetricContext(**settings)))


def only_measure(measures: Iterable[Measure], name: str, judge: str | None = None, **cell: str) -> Measure:
    """Return the one measure of this name and cell, and of this judge if given; fail unless there is exactly one."""
    matches = [
        measure
        for measure in measures
        if measure.name == name and dict(measure.cell) == cell and judge in (None, measure.judge)
    ]
    # Exactly one: a measure that comes twice would let a test read the right one by luck.
    assert len(matches) == 1, f"{len(matches)} measures '{name}' {cell}"
    return matches[0]
