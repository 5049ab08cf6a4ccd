"""One family of tests per report: all rules state their hypotheses, all are decided together, and findings follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar

from attrs import evolve, field, frozen
from jrh import RunReport
from jrh.errors import RAISED
from jrh.plugins import NoOptions, RuleScope, RuleSpec, shipped_distributions
from jrh.plugins.factories import make
from jrh.plugins.registry import Plugins
from jrh.text.redact import error_line
from jrh.values import Finding, FindingSettings, Severity

from jrh_measuring.findings.claims import Claim, Situation, group_claims
from jrh_measuring.findings.data_rules import withdraw_praise
from jrh_measuring.findings.design import Chain, Design, Hypothesis, designs_of
from jrh_measuring.findings.measure_index import MeasureIndex
from jrh_measuring.findings.page_family import PageFamily, Test
from jrh_measuring.findings.record import FindingsRecord, RunFindings, TestedHypothesis, rules_of
from jrh_measuring.installed import installed_plugins

T = TypeVar("T")
_Tested: TypeAlias = tuple[Test, Hypothesis]
_OTHERS: Final = 0.25
"""Weight of the chains of other distributions, relative to those of the distributions that come with jrh."""
NO_SETTINGS: Final = FindingSettings()


def findings_of(
    report: RunReport, settings: FindingSettings = NO_SETTINGS, plugins: Plugins | None = None
) -> tuple[Finding, ...]:
    """Return what a report's measures say, in sentences.

    A pure function of measures, tasks, expectations, counts of cases and the declared rules: an imported log and a run
    with the same records have the same findings.

    Args:
        report: the run; its own findings are not read.
        settings: effect floors and margin.
        plugins: what declares the rules; None: all that is installed.

    Returns:
        Findings about data and tests first, then judge by judge in the suite's order; the worst first.
    """
    return with_findings(report, settings, plugins).findings


def with_findings(
    report: RunReport, settings: FindingSettings = NO_SETTINGS, plugins: Plugins | None = None
) -> RunReport:
    """Return a report with its findings, and with the family of tests that its claims of a difference belong to."""
    return with_found(report, decide(report, settings, installed_plugins() if plugins is None else plugins).found)


def with_found(report: RunReport, found: RunFindings) -> RunReport:
    """Return a report with findings, and with a note per rule that failed."""
    return evolve(report, findings=found.findings, family=found.family).add_notes(found.problems)


def decide(report: RunReport, settings: FindingSettings, plugins: Plugins) -> FindingsRecord:
    """Test all hypotheses of the declared rules as one family; return them with the findings."""
    hypotheses, findings = _Engine.of(report, settings, plugins).decide()
    return FindingsRecord(rules=rules_of(plugins), hypotheses=hypotheses, found=findings)


def measures_by_role(plugins: Plugins | None = None) -> Mapping[str, frozenset[str]]:
    """Return the names of the measures that have a role (`jrh.plugins.Role`), by role.

    Args:
        plugins: what declares them; None: all that is installed.
    """
    roles: dict[str, set[str]] = {}
    for metric in (installed_plugins() if plugins is None else plugins).metrics:
        for info in metric.spec.measures:
            if info.role:
                roles.setdefault(info.role, set()).add(info.name)
    return {role: frozenset(names) for role, names in roles.items()}


@frozen(kw_only=True, eq=False)
class _Engine:
    """The rules of a report, and what went wrong in them."""

    report: RunReport
    rules: Mapping[str, tuple[RuleSpec, Any]]
    """Qualified name -> declaration and rule, in the order of loading."""
    index: MeasureIndex
    designs: list[Design]
    orders: Mapping[str, int]
    """Kind of finding -> its place among findings of one severity."""
    silences: Mapping[str, frozenset[str]]
    doubts: Mapping[str, frozenset[str]]
    problems: dict[str, str] = field(factory=dict)
    """Rule -> what it raised; it says nothing more."""

    @classmethod
    def of(cls, report: RunReport, settings: FindingSettings, plugins: Plugins) -> _Engine:
        """Build the rules."""
        kinds = [kind for entry in plugins.findings for kind in entry.spec.kinds]
        floors = {kind.name: kind.floor for kind in kinds if kind.floor is not None} | dict(settings.floors)
        return cls(
            report=report,
            rules={entry.qualified: (entry.spec, make(entry, NoOptions(), None)) for entry in plugins.findings},
            index=MeasureIndex.of(report.measures),
            designs=designs_of(report, settings, floors, measures_by_role(plugins)),
            orders={kind.name: kind.order for kind in kinds},
            silences={kind.name: frozenset(kind.silences) for kind in kinds},
            doubts=defaultdict(frozenset, {kind.name: frozenset(kind.doubts) for kind in kinds}),
        )

    def decide(self) -> tuple[tuple[TestedHypothesis, ...], RunFindings]:
        """Test all hypotheses as one family, and write the findings."""
        # Hypotheses come from the designs alone: what verdicts show must not choose what is tested.
        situations = [Situation(design=design, index=self.index, flags=self.report.flags) for design in self.designs]
        rules = self._of(RuleScope.JUDGE)
        chains = [chain for situation in situations for name in rules for chain in self._tests(name, situation)]
        # Sorted by rule and place, so that the family does not depend on the order in which plugins are loaded.
        chains = _balance_weights(sorted(chains, key=lambda chain: str(chain[0][0].key)))
        # One family for all judges: the more of them a report has, the more claims it could make by chance.
        family = PageFamily.of(
            [[test for test, stated in chain if not stated.equivalence] for chain in chains],
            self.report.level,
            [test for chain in chains for test, stated in chain if stated.equivalence],
        )
        findings = tuple(self._findings([evolve(situation, family=family) for situation in situations]))
        problems = tuple(f"rule '{name}' failed, and says nothing: {why}" for name, why in self.problems.items())
        return (
            tuple(_record_test(test, stated, family) for chain in chains for test, stated in chain),
            RunFindings(findings=findings, family=family.summary, problems=problems),
        )

    def _of(self, scope: RuleScope) -> list[str]:
        return [name for name, (spec, _) in self.rules.items() if spec.scope is scope and name not in self.problems]

    def _collect(self, name: str, ask: Callable[[], Iterable[T]]) -> list[T]:
        """Return what a rule yields; nothing, and a problem, where it raises or yields an undeclared kind."""
        try:
            return list(ask())
        except RAISED as error:  # a rule of a plugin may fail in any way
            self.problems[name] = error_line(error)
            return []

    def _tests(self, name: str, now: Situation) -> list[list[_Tested]]:
        """Return the chains of a rule: the tests, each with the hypothesis as the rule states it."""
        rule, view = self.rules[name][1], evolve(now, rule=name)

        def test(hypothesis: Hypothesis) -> _Tested:
            result = rule.test(hypothesis, view)
            return Test(key=(name, hypothesis.place), weight=hypothesis.weight, result=result), hypothesis

        def chains() -> Iterator[list[_Tested]]:
            for chain in rule.hypotheses(now.design):
                _check_weights(chain)
                yield [test(hypothesis) for hypothesis in chain]

        return self._collect(name, chains)

    def _claims(self, name: str, now: Situation) -> list[Claim]:
        spec, rule = self.rules[name]
        declared = {kind.name for kind in spec.kinds}

        def claims() -> Iterator[Claim]:
            view = evolve(now, rule=name)
            for claim in rule.claims(view):
                if claim.kind not in declared:
                    raise ValueError(f"it writes '{claim.kind}', which its declaration does not list under kinds")
                yield view.weaken(claim)

        return self._collect(name, claims)

    def _findings(self, situations: Iterable[Situation]) -> Iterator[Finding]:
        about: list[Finding] = []
        for name in self._of(RuleScope.DATA):
            about += self._collect(name, partial(self.rules[name][1].claims, self.report))
        # Findings about data and tests come first: they bear on all judges.
        yield from _worst_first(finding for finding in about if finding.judge not in self.report.judges)
        for situation in situations:
            claims = [claim for name in self._of(RuleScope.JUDGE) for claim in self._claims(name, situation)]
            # A worse finding about the same test says it already: the weaker one would read as a second defect.
            silent = {
                (claim.measure.task, claim.measure.test, kind)
                for claim in claims
                if claim.severity is Severity.BAD
                for kind in self.silences[claim.kind]
            }
            heard = [claim for claim in claims if (claim.measure.task, claim.measure.test, claim.kind) not in silent]
            findings = group_claims(sorted(heard, key=lambda claim: self.orders[claim.kind]))
            of_judge = [finding for finding in about if finding.judge == situation.judge]
            yield from _worst_first((*withdraw_praise(findings, about, self.doubts), *of_judge))


def _worst_first(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: each.severity.rank)


def _check_weights(chain: Chain) -> None:
    # `chained_holm` moves weight down a chain; a later hypothesis with more of it would take it from other chains.
    weights = [hypothesis.weight for hypothesis in chain]
    if any(later > earlier for earlier, later in pairwise(weights)):
        raise ValueError(f"the weights {', '.join(f'{weight:g}' for weight in weights)} grow along a chain")


def _record_test(test: Test, stated: Hypothesis, family: PageFamily) -> TestedHypothesis:
    return TestedHypothesis(
        rule=str(test.key[0]),
        place=stated.place,
        null=float(stated.null),
        side=stated.side,
        weight=float(test.weight),
        p=float(test.result.p),
        equivalence=stated.equivalence,
        rejected=test.key in (family.equivalent if stated.equivalence else family.claimed),
    )


def _balance_weights(chains: list[list[_Tested]]) -> list[list[_Tested]]:
    """Scale the weights of chains of other distributions: together, a quarter of those that come with jrh at most.

    A plugin with many hypotheses then takes at most a fifth of the error rate. Without a hypothesis of jrh
    nothing is scaled.
    """
    shipped = shipped_distributions()
    ours = [chain[0][0].key[0].partition("/")[0] in shipped for chain in chains]
    # Claims of equivalence are a family of their own: they take nothing from this one.
    first = [0.0 if chain[0][1].equivalence else chain[0][0].weight for chain in chains]
    own_weight = sum(weight for weight, mine in zip(first, ours, strict=True) if mine)
    other = sum(weight for weight, mine in zip(first, ours, strict=True) if not mine)
    if not own_weight or other <= own_weight * _OTHERS:
        return chains
    scale = own_weight * _OTHERS / other
    return [
        chain if mine else [(evolve(test, weight=test.weight * scale), stated) for test, stated in chain]
        for chain, mine in zip(chains, ours, strict=True)
    ]
