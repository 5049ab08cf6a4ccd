"""Rules about the data and the tests: tests without cases, and claims that the data contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

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

    def claims(self, report: RunReport) -> Iterator[Finding]:
        """Yield a finding per test and task without cases."""
        nowhere = {(test.test, task) for test in empty_tests(report.attrition) for task in test.tasks}
        for line in report.attrition:
            why, empty = why_no_cases(line), (line.test, line.task) in nowhere
            if not why or not line.applies or not (empty or line.drafted):
                continue
            # Empty in all of its tasks, a test measures nothing; empty in one, it still measures the others.
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


def withdraw_praise(
    findings: Iterable[Finding], about_data: Iterable[Finding], doubts: Mapping[str, frozenset[str]]
) -> Iterator[Finding]:
    """Withdraw praise that the data contradict: it stays as information, with what contradicts it.

    Args:
        findings: about a judge.
        about_data: about the data and the tests; those that are at least a warning contradict.
        doubts: kind of finding -> the measures in which it contradicts what is good.
    """
    warnings = [finding for finding in about_data if finding.severity.rank <= Severity.WARNING.rank]
    for finding in findings:
        names = {basis.name for basis in finding.basis}
        against = [doubt for doubt in warnings if doubt.task == finding.task and names & doubts[doubt.kind]]
        # A warning about the data does not make a defect of a judge smaller: only praise is withdrawn.
        if finding.severity is Severity.GOOD and against:
            but = "; ".join(doubt.statement for doubt in against)
            yield evolve(
                finding,
                severity=Severity.INFO,
                statement=f"{finding.statement}, but {but}",
                sentence=f"{finding.sentence} But {but}.",
            )
        else:
            yield finding
