"""The metric `audit`: brings the findings about the data into the report, next to the numbers they concern."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import SameFamily, same_families

from jrh_audit.checks import audit
from jrh_audit.facts import Finding
from jrh_audit.measure_list import AUDIT, PROBLEM
from jrh_audit.options import AuditOptions


@frozen
class AuditMetric:
    """Turn the findings about each task's items into measures: share of items affected, and the consequence."""

    options: AuditOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:  # noqa: ARG002
        """Yield one measure per finding, and per judge of the family that labelled or wrote the items.

        Nothing if the items are unknown (imported records).
        """
        for name, items in context.items.items():
            task = context.tasks.get(name)
            if task is not None:
                yield from (_measure(name, result, result.kind) for result in audit(items, task, self.options))
                yield from (
                    _measure(name, shared, f"{shared.kind}-of-own-family", shared.judge)
                    for shared in same_families(items, context.models)
                )


def _measure(task: str, found: Finding | SameFamily, problem: str, judge: str = "") -> Measure:
    return Measure(
        name=AUDIT,
        judge=judge,
        task=task,
        cell={PROBLEM: problem},
        estimate=found.affected / found.items,
        n_trials=found.items,
        n_items=found.items,
        note=found.sentence,
    )
