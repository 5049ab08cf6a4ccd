"""Rules about the data and the tests: what plugins found, tests without cases, and claims that the data contradict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import evolve
from jrh.running.outcome import empty_tests, why_no_cases
from jrh.values.finding import Basis, Finding, Severity
from jrh.values.measures import Measure
from jrh.values.report import RunReport

from jrh_measuring.findings.rule import Rule
from jrh_measuring.flags import FINDING

_CONCERNS: Final = "concerns"


def found_by_plugins(report: RunReport) -> Iterator[Finding]:
    """Yield a finding for every measure with the flag `finding`: its note is the sentence.

    The cell's `finding` is the kind, by default the measure's name; its `severity` is the severity, by default `bad`
    about a judge and `warning` about the data.
    """
    for each in report.measures:
        if FINDING in each.flags:
            yield _told(each)


def _told(measure: Measure) -> Finding:
    usual = Severity.BAD if measure.judge else Severity.WARNING
    concerns = measure.cell.get(_CONCERNS, "")
    statement = measure.note.split(". ")[0].rstrip(".")
    return Finding(
        kind=measure.cell.get("finding", measure.name),
        severity=_severity(measure.cell.get("severity", ""), usual),
        judge=measure.judge,
        task=measure.task,
        tests=(measure.test,) if measure.test else (),
        statement=statement,
        sentence=f"{measure.note}{f' Concerns {concerns}.' if concerns else ''}",
        basis=(
            Basis(
                name=measure.name, judge=measure.judge, task=measure.task, test=measure.test, cell=dict(measure.cell)
            ),
        ),
    )


def _severity(text: str, usual: Severity) -> Severity:
    return Severity(text) if text in {each.value for each in Severity} else usual


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
