"""The rule that brings what the audit found into the report, next to the numbers it concerns."""

from __future__ import annotations

from collections.abc import Iterator

from jrh import RunReport
from jrh.values import Basis, Finding, Severity
from jrh_measuring import Rule

from jrh_audit.measure_list import AUDIT, CONCERNS, NEAR, PROBLEM, SEVERITIES


class Problems(Rule):
    """Tells what the data cannot support."""

    def claims(self, now: RunReport) -> Iterator[Finding]:
        """Yield a finding per problem."""
        for measure in now.measures:
            kind = measure.cell.get(PROBLEM, "")
            if measure.name != AUDIT or kind not in SEVERITIES:
                continue
            concerns = f" Concerns {', '.join(CONCERNS[kind])}." if kind in CONCERNS else ""
            yield Finding(
                kind=kind,
                # An incomplete search that found nothing is no problem of the data.
                severity=Severity.INFO if kind == NEAR and not measure.estimate else SEVERITIES[kind],
                judge=measure.judge,
                task=measure.task,
                statement=measure.note.split(". ")[0].rstrip("."),
                sentence=f"{measure.note}{concerns}",
                basis=(Basis(name=AUDIT, judge=measure.judge, task=measure.task, cell=dict(measure.cell)),),
            )
