"""The findings of a report as lines of text: about the data first, then judge by judge, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.values import Finding

from jrh_report.tables import judge_label

DATA: Final = "Data and tests"
"""What stands above the findings that are about no judge."""


@frozen(kw_only=True)
class Told:
    """The findings about one judge, or about the data."""

    judge: str
    """Empty: the data and the tests."""
    heading: str
    findings: tuple[Finding, ...]


def told_by_judge(report: RunReport) -> Iterator[Told]:
    """Yield the findings in order, without the judges and the data of which there are none."""
    judges = dict.fromkeys(["", *report.judges, *(each.judge for each in report.findings)])
    for judge in judges:
        found = tuple(each for each in report.findings if each.judge == judge)
        if found:
            heading = judge_label(report, judge) if judge else DATA
            yield Told(judge=judge, heading=heading, findings=found)


def line(report: RunReport, finding: Finding) -> str:
    """Return severity, task and sentence; the task only if there are several."""
    several = finding.task and len(report.tasks) > 1
    return f"{finding.severity.value}{f', {finding.task}' if several else ''}: {finding.sentence}"
