"""Every finding that rests on a test belongs to the family of the page, and no plugin corrects by itself."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from fnmatch import filter as filter_names
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jrh import REFERENCE, Interval, Measure, RunReport
from jrh.plugins import NoOptions, Role, RuleScope
from jrh.plugins.factories import make
from jrh.plugins.loading import load_plugins
from jrh.values import Severity
from jrh_measuring import Claim, measures_by_role
from jrh_measuring.findings.page_family import PageFamily
from jrh_testing import sample_report
from jrh_testing.contracts.rules import situations

ROOT = Path(__file__).parents[1]
CORRECTIONS = {"holm", "benjamini_hochberg", "chained_holm", "multipletests", "false_discovery_control"}
ALONE = {
    # Held-out items of its own, outside of any page: there is no family that its attacks could join.
    "plugins-contrib/hunt/src/jrh_contrib_hunt/hunting.py",
    # Corrects over the rows of its own answer; a page of a run has no claim about two judges' rows.
    "plugins/decide/src/jrh_decide/swap.py",
    # Marks ties in the table of the answer, and says so below it: pairs of judges are no hypotheses of findings.
    "plugins/metrics/src/jrh_metrics/judge_ranking.py",
}
"""Files that correct by themselves."""
FACTS = {
    "few-clusters": "counts items",
    "missing-verdicts": "counts verdicts",
    "human-ceiling": "says that people are not shown to agree, which is no claim",
}
"""Findings with a severity that no test decides, and why."""
SEVERE = {Severity.GOOD, Severity.WARNING, Severity.BAD}


class Everything(Container[Any]):
    """Holds whatever is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


NOTHING_SHOWN = PageFamily.of((), level=0.95)
ALL_SHOWN = PageFamily(alpha=0.05, claimed=Everything(), tests=1, comparisons=1, equivalent=Everything())  # type: ignore[arg-type]


def forced(measure: Measure, value: float) -> Measure:
    """Return a measure that seems to be known to be `value`."""
    if measure.unit == "p-value":
        return evolve(measure, estimate=1e-9, flags=())
    ends = Interval(low=value - 1e-6, high=value + 1e-6, level=0.95, method="wilson")
    return evolve(measure, estimate=value, interval=ends, bounds=None, flags=(), n_items=1000, n_clusters=1000)


CELL = {
    "attack": "plea@end",
    "compared-with": "u",
    "covariate": "length",
    "error": "sum",
    "errors": "1",
    "polarity": "positive",
    "template": "plain",
    "variant": "others",
}
"""What measures by parts are parted by, all at once: a rule looks up its own."""


def extra_measures(report: RunReport) -> Iterator[Measure]:
    """Yield every measure that a rule reads, in the reference condition and in two tests, one without reruns."""
    roles, plugins = measures_by_role(), load_plugins().plugins
    declared = [info.name for entry in plugins.metrics for info in entry.spec.measures]
    read = {name for entry in plugins.findings for name in entry.spec.reads}
    names = {name for each in read for name in roles.get(each) or filter_names(declared, each) or [each]}
    for name in sorted({*names, *(f"{name}-p" for name in names)}):
        for test in (REFERENCE, "extra", "asked once"):
            for cell in ({}, CELL):
                if test == "asked once" and name in roles[Role.CHANGE.value]:
                    continue
                unit = "p-value" if name.endswith("-p") else "proportion"
                place = {"judge": report.judges[0], "task": report.tasks[0].task.name, "test": test, "cell": cell}
                yield Measure(name=name, estimate=None, unit=unit, n_trials=1000, **place)


@cache
def reports() -> tuple[RunReport, ...]:
    """Return a report with every measure at one extreme, then at another."""
    report = sample_report()
    measures = (*report.measures, *extra_measures(report))
    return tuple(
        evolve(report, measures=tuple(forced(each, value) for each in measures)) for value in (-0.6, 0.0, 0.97)
    )


def rules() -> list[tuple[str, Any]]:
    """Return the rules about judges of all installed plugins."""
    entries = [entry for entry in load_plugins().plugins.findings if entry.spec.scope is RuleScope.JUDGE]
    return [(entry.qualified, make(entry, NoOptions(), None)) for entry in entries]


def claims(name: str, rule: Any, family: PageFamily) -> Iterator[Claim]:
    """Yield what a rule says of all samples where the family decided so."""
    for report in reports():
        for situation in situations(report):
            yield from rule.claims(evolve(situation, rule=name, family=family))


RULES = rules()


@pytest.mark.parametrize(("name", "rule"), RULES, ids=[name for name, _ in RULES])
def test_a_severity_needs_a_hypothesis_that_the_family_of_the_page_rejected(name: str, rule: Any) -> None:
    """However extreme the measures are: what the family did not decide is inconclusive, or information."""
    severe = {claim.kind for claim in claims(name, rule, NOTHING_SHOWN) if claim.severity in SEVERE}
    assert severe <= FACTS.keys()


def test_the_samples_reach_the_findings_of_all_rules() -> None:
    """Otherwise the test above would hold because nothing was ever said."""
    reached = {name for name, rule in RULES if any(c.severity in SEVERE for c in claims(name, rule, ALL_SHOWN))}
    assert {name for name, _ in RULES} - reached == set()


def test_no_plugin_corrects_for_its_own_tests() -> None:
    files = [path for place in ("plugins", "plugins-contrib") for path in ROOT.glob(f"{place}/*/src/**/*.py")]
    assert len(files) > 100
    found = {
        str(path.relative_to(ROOT))
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom | ast.Import) and CORRECTIONS & {alias.name for alias in node.names}
    }
    assert found == ALONE
