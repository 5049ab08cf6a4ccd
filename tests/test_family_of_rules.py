"""A rule of another distribution joins the family of a report and leaves most of the error rate to the others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport
from jrh.plugins import KindSpec, RuleSpec
from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, PValue, Rule, Situation, with_findings
from jrh_testing import sample_report
from jrh_testing.contracts.rules import measure_sample

SHOUT = "jrh-contrib-shout"


def shouted(share: float, low: float) -> RunReport:
    """Return a report with a share of verdicts that shouting does not change, and flags."""
    report = sample_report()
    judge = report.judges[0]
    interval = Interval(low=low, high=min(share + (share - low), 1.0))
    kept = Measure(
        name="loud-agreement",
        judge=judge,
        task=report.tasks[0].task.name,
        test="format",
        estimate=share,
        interval=interval,
        n_trials=100,
        n_items=100,
    )
    return evolve(report, measures=(*report.measures, kept))


def without_shout() -> Plugins:
    plugins = load_plugins().plugins
    kept = [entry for entry in plugins.findings if entry.distribution != SHOUT]
    assert len(kept) == len(plugins.findings) - 1
    return evolve(plugins, findings=Registry("rule", kept))


def test_the_rule_of_another_distribution_joins_the_family_and_writes_its_finding() -> None:
    with_rule, without = (with_findings(shouted(0.5, 0.3), plugins=each) for each in (None, without_shout()))
    assert with_rule.family is not None
    assert without.family is not None
    assert with_rule.family.tests == without.family.tests + 1
    written = [each for each in with_rule.findings if each.kind == "minds-shouting"]
    assert [(each.severity, each.floor) for each in written] == [(Severity.BAD, 0.03)]
    others = [each for each in with_rule.findings if each.kind != "minds-shouting"]
    assert [each.kind for each in others] == [each.kind for each in without.findings]


def test_a_flag_that_weakens_makes_its_finding_a_warning() -> None:
    report = shouted(0.5, 0.3)
    flagged = evolve(report, measures=(*report.measures[:-1], evolve(report.measures[-1], flags=("half-loud",))))
    (found,) = [each for each in with_findings(flagged).findings if each.kind == "minds-shouting"]
    assert found.severity is Severity.WARNING
    assert "half-loud" in found.sentence


def test_what_is_not_shown_is_not_written() -> None:
    assert "minds-shouting" not in {each.kind for each in with_findings(shouted(0.97, 0.9)).findings}


class Many(Rule):
    """States a thousand hypotheses, none of which it can reject."""

    def hypotheses(self, design: Design) -> list[Chain]:
        (place,) = design.wholes("excess-disagreement")[:1] or design.wholes("as-expected")[:1]
        return [(Hypothesis(place=evolve(place, test=str(number))),) for number in range(1000)]

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        return PValue(p=1.0)

    def claims(self, now: Situation) -> list[Claim]:
        return []


class Growing(Rule):
    """Gives the second hypothesis of a chain more weight than the first."""

    def hypotheses(self, design: Design) -> list[Chain]:
        (place,) = design.wholes("as-expected")[:1]
        return [(Hypothesis(place=place, weight=0.5), Hypothesis(place=place, weight=1.0))]

    def claims(self, now: Situation) -> list[Claim]:
        return []


class Undeclared(Rule):
    """Writes a kind that it does not declare."""

    def claims(self, now: Situation) -> list[Claim]:
        measure = now.measures("as-expected")[0]
        return [Claim(kind="other", severity=Severity.BAD, statement="Fails", measure=measure)]


class Broken(Rule):
    """Raises."""

    def claims(self, now: Situation) -> list[Claim]:
        raise RuntimeError("boom")


def and_rule(rule: type[Rule]) -> Plugins:
    plugins = without_shout()
    spec = RuleSpec(name="extra", summary="", kinds=(KindSpec(name="extra"),), factory=rule)
    entry: Entry[Any] = Entry(spec=spec, distribution="acme-jrh", version="1", plugin="acme")
    return evolve(plugins, findings=Registry("rule", [*plugins.findings, entry]))


def moved(p: float) -> RunReport:
    report = sample_report()
    place = {"judge": report.judges[0], "task": report.tasks[0].task.name, "test": "format", "n_items": 60}
    ends = Interval(low=0.05, high=0.35)
    excess = Measure(name="excess-disagreement", estimate=0.2, interval=ends, unit="difference", n_trials=60, **place)
    own = Measure(name="excess-disagreement-p", estimate=p, unit="p-value", n_trials=60, **place)
    return evolve(report, measures=(excess, own, *report.measures))


@pytest.mark.parametrize(("p", "claimed"), [(0.039, True), (0.041, False)])
def test_a_thousand_hypotheses_of_another_distribution_cost_a_fifth_of_the_level(p: float, claimed: bool) -> None:
    """One hypothesis of jrh weighs 1, theirs together 0.25: it is rejected where p is at most 0.05 / 1.25."""
    alone, among = (with_findings(moved(p), plugins=each) for each in (without_shout(), and_rule(Many)))
    assert alone.family is not None
    assert among.family is not None
    assert (alone.family.tests, among.family.tests) == (1, 1 + 1000 * len(among.judges))
    assert "moves-more-than-reruns" in {each.kind for each in alone.findings}
    assert ("moves-more-than-reruns" in {each.kind for each in among.findings}) == claimed


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Growing, "the weights 0.5, 1 grow along a chain"),
        (Undeclared, "it writes 'other', which its declaration does not list under kinds"),
        (Broken, "boom"),
    ],
)
def test_a_rule_that_is_wrong_is_named_and_the_others_still_speak(rule: type[Rule], why: str) -> None:
    found, alone = (with_findings(moved(0.0001), plugins=each) for each in (and_rule(rule), without_shout()))
    assert found.findings == alone.findings
    (note,) = found.warnings[len(alone.warnings) :]
    assert note.startswith("rule 'acme-jrh/extra' failed, and says nothing: ")
    assert why in note


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_the_number_of_tests_does_not_depend_on_verdicts(missing: float) -> None:
    first, *others = (
        with_findings(report).family
        for report in (measure_sample(0), measure_sample(0, permuted=True), measure_sample(0, missing=missing))
    )
    assert first is not None
    for other in others:
        assert other is not None
        assert (other.tests, other.equivalences) == (first.tests, first.equivalences)


class Unestimable(Rule):
    """States a hypothesis about a measure that is not there."""

    def hypotheses(self, design: Design) -> list[Chain]:
        (place,) = design.wholes("as-expected")[:1]
        return [(Hypothesis(place=evolve(place, name="never-measured")),)]

    def claims(self, now: Situation) -> list[Claim]:
        return []


def test_what_cannot_be_estimated_stays_counted() -> None:
    alone, among = (with_findings(sample_report(), plugins=each) for each in (without_shout(), and_rule(Unestimable)))
    assert alone.family is not None
    assert among.family is not None
    assert among.family.tests == alone.family.tests + len(among.judges)
    assert among.family.claimed == alone.family.claimed


@pytest.mark.parametrize("place", ["comparing", "gating"])
def test_compare_and_gate_correct_for_several_tests_with_the_family_of_reports_alone(place: str) -> None:
    own = {"holm", "chained_holm", "benjamini_hochberg", "bonferroni"}
    used: set[str] = set()
    for path in (Path(__file__).resolve().parents[1] / "core/measuring/src/jrh_measuring" / place).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            used |= {getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "name", "")}
    assert used & own == set()
    assert used & {"PageFamily", "first_level"}
