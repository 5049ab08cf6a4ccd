"""One family of tests per report: all rules state their hypotheses, all are decided together, and findings follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar

from attrs import evolve, field, frozen
from jrh.errors import RAISED
from jrh.plugins import NoOptions, RuleScope, RuleSpec
from jrh.plugins.factories import make
from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry, Plugins, shipped_distributions
from jrh.text.redact import error_line
from jrh.values.finding import Finding, FindingSettings, Severity
from jrh.values.report import RunReport

from jrh_measuring.findings.claims import Claim, Situation, grouped, weakened
from jrh_measuring.findings.data_rules import doubted
from jrh_measuring.findings.design import Chain, Design, Hypothesis, designs_of
from jrh_measuring.findings.measure_index import MeasureIndex
from jrh_measuring.findings.page_family import PageFamily, Test
from jrh_measuring.findings.record import FindingsRecord, RunFindings, TestedHypothesis, rules_of

T = TypeVar("T")
_Tested: TypeAlias = tuple[Test, Hypothesis]
_OTHERS: Final = 0.25
"""Weight of the chains of other distributions, relative to those of the distributions that come with jrh."""
NO_SETTINGS: Final = FindingSettings()


@frozen(kw_only=True)
class _Built:
    entry: Entry[RuleSpec]
    rule: Any

    @property
    def name(self) -> str:
        return self.entry.qualified


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
    return with_found(report, decide(report, settings, _installed() if plugins is None else plugins).found)


def with_found(report: RunReport, found: RunFindings) -> RunReport:
    """Return a report with findings, and with a note per rule that failed."""
    return evolve(
        report,
        findings=found.findings,
        family=found.family,
        notes=(*report.notes, *found.problems),
        warnings=(*report.warnings, *found.problems),
    )


def decide(report: RunReport, settings: FindingSettings, plugins: Plugins) -> FindingsRecord:
    """Test all hypotheses of the declared rules as one family; return them with the findings."""
    hypotheses, found = _Engine.of(report, settings, plugins).decided()
    return FindingsRecord(rules=rules_of(plugins), hypotheses=hypotheses, found=found)


@cache
def _installed() -> Plugins:
    return load_plugins().plugins


def measures_by_role(plugins: Plugins | None = None) -> Mapping[str, frozenset[str]]:
    """Return the names of the measures that have a role (`jrh.plugins.Role`), by role.

    Args:
        plugins: what declares them; None: all that is installed.
    """
    roles: dict[str, set[str]] = {}
    for metric in (_installed() if plugins is None else plugins).metrics:
        for info in metric.spec.measures:
            if info.role:
                roles.setdefault(info.role, set()).add(info.name)
    return {role: frozenset(names) for role, names in roles.items()}


@frozen(kw_only=True, eq=False)
class _Engine:
    """The rules of a report, and what went wrong in them."""

    report: RunReport
    rules: list[_Built]
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
            rules=[_Built(entry=entry, rule=make(entry, NoOptions(), None)) for entry in plugins.findings],
            index=MeasureIndex.of(report.measures),
            designs=designs_of(report, settings, floors, measures_by_role(plugins)),
            orders={kind.name: kind.order for kind in kinds},
            silences={kind.name: frozenset(kind.silences) for kind in kinds},
            doubts=defaultdict(frozenset, {kind.name: frozenset(kind.doubts) for kind in kinds}),
        )

    def decided(self) -> tuple[tuple[TestedHypothesis, ...], RunFindings]:
        """Test all hypotheses as one family, and write the findings."""
        situations = [Situation(design=design, index=self.index, flags=self.report.flags) for design in self.designs]
        rules = self._of(RuleScope.JUDGE)
        chains = [chain for now in situations for built in rules for chain in self._tests(built, now)]
        chains = _balanced(sorted(chains, key=lambda chain: str(chain[0][0].key)))
        family = PageFamily.of(
            [[test for test, stated in chain if not stated.equivalence] for chain in chains],
            self.report.level,
            [test for chain in chains for test, stated in chain if stated.equivalence],
        )
        findings = tuple(self._findings([evolve(now, family=family) for now in situations]))
        problems = tuple(f"rule '{name}' failed, and says nothing: {why}" for name, why in self.problems.items())
        return (
            tuple(_decided(test, stated, family) for chain in chains for test, stated in chain),
            RunFindings(findings=findings, family=family.summary, problems=problems),
        )

    def _of(self, scope: RuleScope) -> list[_Built]:
        return [built for built in self.rules if built.entry.spec.scope is scope and built.name not in self.problems]

    def _asked(self, built: _Built, ask: Callable[[], Iterable[T]]) -> list[T]:
        """Return what a rule yields; nothing, and a problem, where it raises or yields an undeclared kind."""
        try:
            return list(ask())
        except RAISED as error:  # a rule of a plugin may fail in any way
            self.problems[built.name] = error_line(error)
            return []

    def _tests(self, built: _Built, now: Situation) -> list[list[_Tested]]:
        """Return the chains of a rule: the tests, each with the hypothesis as the rule states it."""

        def chains() -> Iterator[list[_Tested]]:
            for chain in built.rule.hypotheses(now.design):
                _check_weights(chain)
                yield [
                    (
                        Test(
                            key=(built.name, each.place),
                            weight=each.weight,
                            result=built.rule.test(each, evolve(now, rule=built.name)),
                        ),
                        each,
                    )
                    for each in chain
                ]

        return self._asked(built, chains)

    def _claims(self, built: _Built, now: Situation) -> list[Claim]:
        declared = {kind.name for kind in built.entry.spec.kinds}

        def claims() -> Iterator[Claim]:
            for claim in built.rule.claims(evolve(now, rule=built.name)):
                if claim.kind not in declared:
                    raise ValueError(f"it writes '{claim.kind}', which its declaration does not list under kinds")
                yield weakened(claim, now.flags)

        return self._asked(built, claims)

    def _findings(self, situations: Iterable[Situation]) -> Iterator[Finding]:
        about: list[Finding] = []
        for built in self._of(RuleScope.DATA):
            about += self._asked(built, partial(built.rule.claims, self.report))
        yield from _worst_first(each for each in about if each.judge not in self.report.judges)
        for now in situations:
            claims = [claim for built in self._of(RuleScope.JUDGE) for claim in self._claims(built, now)]
            silent = {
                (claim.measure.task, claim.measure.test, kind)
                for claim in claims
                if claim.severity is Severity.BAD
                for kind in self.silences[claim.kind]
            }
            heard = [each for each in claims if (each.measure.task, each.measure.test, each.kind) not in silent]
            findings = grouped(sorted(heard, key=lambda claim: self.orders[claim.kind]))
            yield from _worst_first(
                (*doubted(findings, about, self.doubts), *(each for each in about if each.judge == now.judge))
            )


def _worst_first(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda each: each.severity.rank)


def _check_weights(chain: Chain) -> None:
    weights = [hypothesis.weight for hypothesis in chain]
    if any(later > earlier for earlier, later in pairwise(weights)):
        raise ValueError(f"the weights {', '.join(f'{weight:g}' for weight in weights)} grow along a chain")


def _decided(test: Test, stated: Hypothesis, family: PageFamily) -> TestedHypothesis:
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


def _balanced(chains: list[list[_Tested]]) -> list[list[_Tested]]:
    """Scale the weights of chains of other distributions: together, a quarter of those that come with jrh at most.

    A plugin with many hypotheses then takes at most a fifth of the error rate. Without a hypothesis of jrh
    nothing is scaled.
    """
    shipped = shipped_distributions()
    ours = [chain[0][0].key[0].partition("/")[0] in shipped for chain in chains]
    first = [0.0 if chain[0][1].equivalence else chain[0][0].weight for chain in chains]
    own = sum(weight for weight, mine in zip(first, ours, strict=True) if mine)
    other = sum(weight for weight, mine in zip(first, ours, strict=True) if not mine)
    if not own or other <= own * _OTHERS:
        return chains
    scale = own * _OTHERS / other
    return [
        chain if mine else [(evolve(test, weight=test.weight * scale), stated) for test, stated in chain]
        for chain, mine in zip(chains, ours, strict=True)
    ]
