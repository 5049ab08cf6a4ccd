"""Rules about the data and the tests: tests without cases, and claims that the data contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import evolve
from jrh.running.outcome import empty_tests, why_no_cases
from jrh.values.finding import Finding, Severity
from jrh.values.report import RunReport

from jrh_measuring.findings.rule import Rule


class WithoutCases(Rule):
    """Tells which tests made no case of a task that they are meant for, and why.

    A test that has cases of another task and drafted nothing here, such as one for levels on a task with labels, is no
    finding: nothing is wrong.
    """

    def claims(self, report: Any) -> Iterator[Finding]:
        """Yield a finding per test and task without cases."""
        return _without_cases(report)


def _without_cases(report: RunReport) -> Iterator[Finding]:
    nowhere = {(each.test, task) for each in empty_tests(report.attrition) for task in each.tasks}
    for line in report.attrition:
        why = why_no_cases(line)
        if not why or not line.applies:
            continue
        empty = (line.test, line.task) in nowhere
        if not (empty or line.drafted):
            continue
        severity = Severity.BAD if empty else Severity.WARNING
        statement = f"Test '{line.test}' has {why}"
        yield Finding(
            kind="no-cases",
            severity=Severity.INFO if line.allow_empty else severity,
            task=line.task,
            tests=(line.test,),
            statement=statement,
            sentence=f"{statement}.",
        )


def doubted(
    findings: Iterable[Finding], about_data: Iterable[Finding], doubts: Mapping[str, frozenset[str]]
) -> Iterator[Finding]:
    """Withdraw praise that the data contradict: it stays as information, with what contradicts it.

    Args:
        findings: about a judge.
        about_data: about the data and the tests; those that are at least a warning contradict.
        doubts: kind of finding -> the measures in which it contradicts what is good.
    """
    contradicting = [(each, doubts[each.kind]) for each in about_data if each.severity.rank <= Severity.WARNING.rank]
    for each in findings:
        names = {basis.name for basis in each.basis}
        against = [doubt for doubt, concerns in contradicting if doubt.task == each.task and names & concerns]
        if each.severity is Severity.GOOD and against:
            but = "; ".join(doubt.statement for doubt in against)
            yield evolve(
                each,
                severity=Severity.INFO,
                statement=f"{each.statement}, but {but}",
                sentence=f"{each.sentence} But {but}.",
            )
        else:
            yield each
