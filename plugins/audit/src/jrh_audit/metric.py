"""The metric `audit`: brings the findings about the data into the report, next to the numbers they concern."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.values import same_families
from jrh_measuring import FINDING

from jrh_audit.checks import audit
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
            if task is None:
                continue
            for finding in audit(items, task, self.options):
                concerns = {"concerns": ", ".join(finding.concerns)} if finding.concerns else {}
                yield Measure(
                    name="audit",
                    judge="",
                    task=name,
                    cell={"finding": finding.kind, **concerns, "severity": finding.severity.value},
                    estimate=finding.affected / finding.items,
                    n_trials=finding.items,
                    n_items=finding.items,
                    flags=(FINDING,),
                    note=finding.sentence,
                )
            for shared in same_families(items, context.models):
                yield Measure(
                    name="audit",
                    judge=shared.judge,
                    task=name,
                    cell={"finding": shared.kind},
                    estimate=shared.affected / shared.items,
                    n_trials=shared.items,
                    n_items=shared.items,
                    flags=(FINDING,),
                    note=shared.sentence,
                )
