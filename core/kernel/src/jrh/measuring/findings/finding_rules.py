"""The table of rules, and the findings of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from jrh.measuring.findings.accuracy_rules import accuracy_change, accuracy_equivalence, against_trivial
from jrh.measuring.findings.claims import Claim, Situation, grouped
from jrh.measuring.findings.measure_index import MeasureIndex
from jrh.measuring.findings.stability_rules import moves
from jrh.measuring.moving import moving_tests
from jrh.values.finding import Finding, FindingSettings
from jrh.values.report import RunReport

Rule: TypeAlias = Callable[[Situation], Iterable[Claim]]

RULES: Final[tuple[Rule, ...]] = (
    against_trivial,
    moves,
    accuracy_change,
    accuracy_equivalence,
)
"""The rules about judges. Findings of one severity keep this order."""


def findings_of(report: RunReport, settings: FindingSettings | None = None) -> tuple[Finding, ...]:
    """Return what a report's measures say, in sentences.

    A pure function of measures, tasks, records' expectations and attrition: an imported log and a run with the same
    records have the same findings.

    Args:
        report: the run; its own findings are not read.
        settings: effect floors and margin.

    Returns:
        Findings about data and tests first, then judge by judge in the suite's order; the worst first.
    """
    return tuple(_ordered(_all(report, settings or FindingSettings())))


def _all(report: RunReport, settings: FindingSettings) -> Iterator[tuple[Finding, ...]]:
    index, moving = MeasureIndex.of(report.measures), moving_tests(report.records)
    for judge in report.judges:
        now = Situation(judge=judge, report=report, index=index, moving=moving, settings=settings)
        yield grouped(claim for rule in RULES for claim in rule(now))


def _ordered(groups: Iterable[tuple[Finding, ...]]) -> Iterator[Finding]:
    for group in groups:
        yield from sorted(group, key=lambda each: each.severity.rank)
