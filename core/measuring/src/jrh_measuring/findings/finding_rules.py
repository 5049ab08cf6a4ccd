"""The table of rules, and the findings of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from attrs import evolve
from jrh.values.finding import Finding, FindingSettings
from jrh.values.report import RunReport

from jrh_measuring.findings.accuracy_rules import (
    accuracy_change,
    accuracy_equivalence,
    against_trivial,
    misses_changes,
)
from jrh_measuring.findings.answer_rules import (
    calibration,
    compression,
    few_clusters,
    missing_by_condition,
    missing_verdicts,
    rationales,
)
from jrh_measuring.findings.ceiling_rules import human_ceiling
from jrh_measuring.findings.claims import Claim, Situation, grouped, weakened
from jrh_measuring.findings.covariate_rules import covariate_effects
from jrh_measuring.findings.data_rules import doubted, found_by_plugins, without_cases
from jrh_measuring.findings.hypotheses import chains_of, equivalences
from jrh_measuring.findings.measure_index import MeasureIndex
from jrh_measuring.findings.option_rules import (
    identical_options,
    order_flips,
    overlooked_inversion,
    position_bias,
    template_flips,
)
from jrh_measuring.findings.ordinal_rules import grading_bias, inverted_order
from jrh_measuring.findings.page_family import PageFamily
from jrh_measuring.findings.stability_rules import moves, reruns, robust, undecided, unmeasured_noise
from jrh_measuring.moving import directed_tests, moving_tests

Rule: TypeAlias = Callable[[Situation], Iterable[Claim]]
DataRule: TypeAlias = Callable[[RunReport], Iterable[Finding]]

RULES: Final[tuple[Rule, ...]] = (
    against_trivial,
    human_ceiling,
    position_bias,
    identical_options,
    overlooked_inversion,
    moves,
    accuracy_change,
    misses_changes,
    covariate_effects,
    rationales,
    few_clusters,
    missing_verdicts,
    missing_by_condition,
    reruns,
    calibration,
    compression,
    grading_bias,
    inverted_order,
    order_flips,
    template_flips,
    robust,
    accuracy_equivalence,
    unmeasured_noise,
    undecided,
)
"""The rules about judges. Findings of one severity keep this order."""

DATA_RULES: Final[tuple[DataRule, ...]] = (without_cases, found_by_plugins)
"""The rules about data and tests."""


def findings_of(report: RunReport, settings: FindingSettings | None = None) -> tuple[Finding, ...]:
    """Return what a report's measures say, in sentences.

    A pure function of measures, tasks, expectations and counts of cases: an imported log and a run with the same
    records have the same findings.

    Args:
        report: the run; its own findings are not read.
        settings: effect floors and margin.

    Returns:
        Findings about data and tests first, then judge by judge in the suite's order; the worst first.
    """
    return with_findings(report, settings).findings


def with_findings(report: RunReport, settings: FindingSettings | None = None) -> RunReport:
    """Return a report with its findings, and with the family of tests that its claims of a difference belong to."""
    situations, family = _situations(report, settings or FindingSettings())
    return evolve(report, findings=tuple(_all(report, situations)), family=family.summary)


def _situations(report: RunReport, settings: FindingSettings) -> tuple[list[Situation], PageFamily]:
    """Return the judges, each with the family of all."""
    index, moving = MeasureIndex.of(report.measures), moving_tests(report.records)
    directed = directed_tests(report.records)
    judges = [
        Situation(judge=judge, report=report, index=index, moving=moving, directed=directed, settings=settings)
        for judge in report.judges
    ]
    family = PageFamily.of(
        (chain for now in judges for chain in chains_of(now)),
        report.level,
        [each for now in judges for each in equivalences(now)],
    )
    return [evolve(now, family=family) for now in judges], family


def _all(report: RunReport, situations: Iterable[Situation]) -> Iterator[Finding]:
    told = [finding for rule in DATA_RULES for finding in rule(report)]
    yield from _worst_first(each for each in told if each.judge not in report.judges)
    for now in situations:
        found = grouped(weakened(claim, report.flags) for rule in RULES for claim in rule(now))
        about = [each for each in told if each.judge == now.judge]
        yield from _worst_first((*doubted(found, told), *about))


def _worst_first(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: each.severity.rank)
