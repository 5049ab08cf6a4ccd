"""The findings of a report by judge, and which measures deserve caution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen
from jrh import REFERENCE, RunReport
from jrh.values import Finding
from jrh_measuring import CONSTANT_GOLD, SIMULATED, mark_simulated

from jrh_report.sections import heat_measures, heat_parts

DATA: Final = "Data and tests"
"""The heading of the findings that are about no judge."""
ONE_LABEL: Final = (
    "this test expects a single label; a judge that always gives it scores 100%. Compare with the reference."
)
"""What constant gold means in a test that plants the right label, where the gold labels themselves vary."""
_SEVERAL: Final = 3
"""Names of measures are listed where they are fewer; more are `several measures`."""


@frozen(kw_only=True)
class JudgeFindings:
    """The findings about one judge, or about the data."""

    judge: str
    """Empty: the data and the tests."""
    heading: str
    findings: tuple[Finding, ...]


def findings_by_judge(report: RunReport) -> Iterator[JudgeFindings]:
    """Yield the findings in order, without the judges and the data of which there are none."""
    # Findings may name a judge that the suite no longer has.
    judges = dict.fromkeys(["", *report.judges, *(finding.judge for finding in report.findings)])
    for judge in judges:
        findings = tuple(finding for finding in report.findings if finding.judge == judge)
        if findings:
            heading = mark_simulated(report, judge) if judge else DATA
            yield JudgeFindings(judge=judge, heading=heading, findings=findings)


def sentence_with_severity(report: RunReport, finding: Finding) -> str:
    """Return severity, task and sentence; the task only if there are several."""
    several = finding.task and len(report.tasks) > 1
    return f"{finding.severity.value}{f', {finding.task}' if several else ''}: {finding.sentence}"


def cautions(report: RunReport, task: str) -> list[str]:
    """Return one line per flag of the heat maps' measures: its meaning, the measures, and the judges and tests.

    Simulated judges are marked wherever they appear, so that this flag is left out.
    """
    # Flags of every measure would fill pages; those of the heat maps are about the numbers that are read first.
    main = {measure.name for part in heat_parts(report, task) for measure in heat_measures(report, part)}
    gold = next((summary.gold for summary in report.tasks if summary.task.name == task), {})
    varied = sum(1 for items in gold.values() if items) > 1
    # Dictionaries as ordered sets: (flag, meaning) -> judge -> tests, and -> names of measures.
    places: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
    names: dict[tuple[str, str], dict[str, None]] = {}
    for measure in report.measures:
        if measure.task != task or measure.cell or measure.name not in main:
            continue
        for flag in measure.flags:
            if flag != SIMULATED:
                planted = flag == CONSTANT_GOLD and varied and measure.test != REFERENCE
                key = flag, ONE_LABEL if planted else flag_meanings(report).get(flag, "")
                places.setdefault(key, {}).setdefault(measure.judge, {})[measure.test] = None
                names.setdefault(key, {})[measure.name] = None
    return [_caution(key, names[key], places[key], report) for key in places]


def flag_meanings(report: RunReport) -> Mapping[str, str]:
    """Return what the flags mean that the run declares."""
    return {flag.name: flag.meaning for flag in report.flags.values()}


def _caution(
    key: tuple[str, str], names: Mapping[str, None], places: Mapping[str, Mapping[str, None]], report: RunReport
) -> str:
    flag, meaning = key
    what = ", ".join(names) if len(names) < _SEVERAL else "several measures"
    # In the suite's order, whatever order the measures came in.
    judges = [judge for judge in report.judges if judge in places] or list(places)
    where = "; ".join(_where(judge, places[judge], report) for judge in judges)
    return f"{flag} ({what}): {f'{meaning} Seen for ' if meaning else ''}{where}"


def _where(judge: str, tests: Mapping[str, None], report: RunReport) -> str:
    name = mark_simulated(report, judge)
    # A list of all tests says less than the word.
    if set(tests) >= set(report.tests):
        return f"{name} in all tests"
    if not any(tests):
        return name
    return f"{name} in {', '.join(test for test in report.tests if test in tests) or ', '.join(tests)}"
