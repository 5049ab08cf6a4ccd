"""What rules work with and return: one judge's situation, claims, and how claims become findings."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import ceil
from typing import Final

from attrs import evolve, frozen
from jrh import REFERENCE, Measure
from jrh.plugins import Role
from jrh.text import count_noun
from jrh.values import Basis, Finding, Flag, FlagEffect, Severity
from jrh_stats import items_to_decide, items_to_rule_out, rare_change_bound

from jrh_measuring.findings.design import Design, Place
from jrh_measuring.findings.measure_index import MeasureIndex
from jrh_measuring.findings.page_family import PageFamily
from jrh_measuring.flags import BOUNDED, FEW_EVENTS, doubtful, unsure
from jrh_measuring.missing_verdicts import complement
from jrh_measuring.numbers import P_VALUE, format_estimate, format_interval, format_items, round_up, state_p

_DIGITS: Final = 2
_NOTHING_VARIED: Final = ("wilson-clusters", "clopper-pearson")
"""Methods of the intervals of 0 where no cluster differs, or their beginnings."""
MOST_ADVISED: Final = 2000
"""Larger numbers of items are not advised: no pilot knows the variance so well."""
_WIDE: Final = 10
_OF_SHARES: Final = ("proportion", "difference")
"""Units of measures in which no item is further than 1 from the mean."""


@frozen(kw_only=True, eq=False)
class Situation:
    """One judge of one report, as a rule sees it: its measures, and what was decided."""

    design: Design
    index: MeasureIndex
    flags: Mapping[str, Flag]
    """The flags that the run declares, by name."""
    rule: str = ""
    """The rule that looks: its hypotheses are its own."""
    family: PageFamily = PageFamily.of((), level=0.95)
    """All hypotheses of the report, those of other judges and rules included."""

    @property
    def judge(self) -> str:
        """Return the judge."""
        return self.design.judge

    @property
    def margin(self) -> float:
        """Return the equivalence margin of the report."""
        return self.design.settings.margin

    def floor_of(self, kind: str) -> float:
        """Return the effect floor of a kind of finding."""
        return self.design.floor_of(kind)

    def measures(self, name: str) -> tuple[Measure, ...]:
        """Return the judge's measures of a name, for whole tests."""
        return tuple(self.index.wholes.get((self.judge, name), ()))

    def parts(self, name: str) -> tuple[Measure, ...]:
        """Return the judge's measures of a name by factor levels."""
        return tuple(self.index.parts.get((self.judge, name), ()))

    def steady(self, name: str) -> tuple[Measure, ...]:
        """Return those of tests in which the verdict of a reliable judge stays the same."""
        return tuple(measure for measure in self.measures(name) if not self.design.moves(measure.task, measure.test))

    def whole(self, name: str, task: str, test: str = REFERENCE) -> Measure | None:
        """Return the judge's measure of a name for a whole test."""
        return self.at(Place(name=name, judge=self.judge, task=task, test=test))

    def of_role(self, role: Role, task: str, test: str = REFERENCE) -> Measure | None:
        """Return the judge's measure with a role for a whole test."""
        named = (self.whole(name, task, test) for name in sorted(self.design.roles.get(role.value, ())))
        return next((measure for measure in named if measure is not None), None)

    def at(self, place: Place) -> Measure | None:
        """Return the measure of a place."""
        return self.index.by_place.get(place)

    def counterpart(self, measure: Measure, name: str) -> Measure | None:
        """Return the measure of another name that is about the same as a measure."""
        return self.at(evolve(Place.of(measure), name=name))

    def reruns_tell(self, task: str, test: str) -> bool:
        """Tell whether reruns tell a change from noise in a test."""
        excess = self.of_role(Role.CHANGE, task, test)
        return excess is not None and excess.estimate is not None

    def claims(self, measure: Measure, null: float = 0.0) -> bool:
        """Tell whether the quantity of a measure is shown to differ from a null value, in the family of the report.

        Never where the missing verdicts could overturn it: an interval that allows for them must exclude the null
        value, too, also if the p-value rests on the verdicts that are there.
        """
        return not self._can_be_overturned(measure, null) and self._key(measure) in self.family.claimed

    def equivalent(self, measure: Measure) -> bool:
        """Tell whether a test of equivalence passed, also in the family of the report; never on a doubtful interval."""
        # Equivalence rests on a narrow interval, and a doubtful one may be too narrow.
        return not self.doubtful(measure) and self.shows_equivalence(measure)

    def shows_equivalence(self, measure: Measure) -> bool:
        """Tell whether a measure is shown to lie within its margin, together with the other claims of equivalence."""
        return self._key(measure) in self.family.equivalent

    def equivalence_level(self, measure: Measure) -> float:
        """Return the p-value at which an equivalence is claimed (`PageFamily.equivalence_level`)."""
        return self.family.equivalence_level(self._key(measure))

    def correction(self, measure: Measure, null: float = 0.0) -> str:
        """Return why a claim is not made although the measure alone would license it; empty where it would not.

        Without it a reader sees an interval that excludes the null value, and a sentence that contradicts it.
        """
        if self._can_be_overturned(measure, null) or not self.family.alone(self._key(measure)):
            return ""
        return f"not significant after correcting for {count_noun(self.family.tests, 'test')}"

    def equivalence_corrected(self, measure: Measure) -> str:
        """Return why an equivalence is not claimed that the measure alone would license; empty where it would not."""
        if self.doubtful(measure) or not self.family.equivalent_alone(self._key(measure)):
            return ""
        claims = count_noun(len(self.family.equivalences), "claim")
        return f"not significant after correcting for {claims} of equivalence"

    def doubtful(self, measure: Measure) -> frozenset[str]:
        """Return the flags of a measure that forbid claims of equivalence."""
        return doubtful(measure, self.flags)

    def within(self, measure: Measure, limit: float) -> bool:
        """Tell whether a measure is shown to lie within ± `limit`, by its interval and among claims of equivalence.

        Never where a flag forbids it. Where nothing varied, the exact bound on what varies in unseen items decides
        (`jrh_stats.rare_change_bound`).
        """
        interval = measure.interval
        if interval is None or max(abs(interval.low), abs(interval.high)) >= limit:
            return False
        # Without a hypothesis in the family nothing is claimed: that many intervals are narrow by chance counts there.
        if not self.shows_equivalence(measure):
            return False
        doubts = self.doubtful(measure)
        if not doubts:
            return True
        # `few-events` doubts the interval's approximation; the exact bound needs none.
        nothing_varied = doubts == {FEW_EVENTS} and measure.estimate == 0.0 and units(measure) > 0
        return nothing_varied and rare_change_bound(0, units(measure)) < limit

    def complement_within(self, measure: Measure, limit: float) -> bool:
        """Tell whether a share of unchanged verdicts is shown to miss 1 by less than `limit`."""
        return measure.estimate is not None and self.within(complement(measure, measure.name), limit)

    def interval_doubts(self, measure: Measure) -> tuple[str, ...]:
        """Return the flags that doubt the interval off which a p-value is read; empty where a test gives one."""
        tested = measure.unit == P_VALUE or self.counterpart(measure, f"{measure.name}-p") is not None
        return () if tested else unsure(measure, self.flags)

    def weaken(self, claim: Claim) -> Claim:
        """Return a claim as the flags of its measure leave it: neither bad nor good where one weakens it.

        Nor where it was tested by an interval that a flag doubts.
        """
        flags, measure = self.flags, claim.measure
        names = [name for name in measure.flags if name in flags and flags[name].effect is FlagEffect.WEAKENS]
        # What is neither bad nor good claims nothing that a flag could forbid.
        claimed = claim.severity in (Severity.BAD, Severity.GOOD, Severity.WARNING)
        names += self.interval_doubts(measure) if claimed and self._key(measure) in self.family.p else ()
        if not names:
            return claim
        # The number stays; that it is bad or good is no longer sure.
        severity = {Severity.BAD: Severity.WARNING, Severity.GOOD: Severity.INFO}.get(claim.severity, claim.severity)
        return evolve(claim, severity=severity, aside=", ".join(filter(None, (claim.aside, *names))))

    def own_p(self, measure: Measure, null: float = 0.0) -> str:
        """Return the p-value where the test rejects the null value and the interval holds it, or the reverse."""
        interval, p = measure.interval, self.family.p.get(self._key(measure))
        if interval is None or p is None:
            return ""
        # An interval and a test that disagree puzzle readers: the p-value shows which of them decided.
        excluded = not interval.low <= null <= interval.high
        return f"decided by {state_p(p)}" if excluded != (p <= self.family.alpha) else ""

    def _key(self, measure: Measure) -> Hashable:
        return self.rule, Place.of(measure)

    @staticmethod
    def _can_be_overturned(measure: Measure, null: float) -> bool:
        interval = measure.interval
        return interval is not None and interval.method.startswith(BOUNDED) and interval.low <= null <= interval.high


@frozen(kw_only=True)
class Advice:
    """How many items, today's included, have 80% power for an effect that was named beforehand."""

    goal: str
    """What takes so many items; where no number of items helps, why."""
    low: int = 0
    """The fewest; 0: no number of items helps."""
    high: int = 0
    """The most."""

    def write(self, unit: str) -> str:
        """Write it as a sentence without its full stop."""
        if not self.low:
            return f"more {unit}s will not help: {self.goal}"
        low, high = round_up(self.low), round_up(self.high)
        if high > MOST_ADVISED and (low >= MOST_ADVISED or high > _WIDE * low):
            return f"{self.goal} may take more than {MOST_ADVISED:,} {unit}s in all"
        # Where hardly anything varies the lower end says nothing.
        number = "up to " if high > _WIDE * low else "" if low == high else f"{low:,} to "
        most = f"more than {MOST_ADVISED:,}" if high > MOST_ADVISED else f"{high:,}"
        return f"{self.goal} takes {number}{most} {unit}s in all"


def items_in_all(advice: str) -> int | None:
    """Return the most items, today's included, that a written advice takes; None: it names no number up to the most."""
    number = re.search(r" takes (?:up to |[\d,]+ to )?([\d,]+) \D+ in all", advice)
    return int(number[1].replace(",", "")) if number else None


@frozen(kw_only=True)
class Claim:
    """What one measure licenses to say; claims with the same statement about a task become one finding."""

    kind: str
    severity: Severity
    statement: str
    measure: Measure
    aside: str = ""
    """What else the figure needs, such as what it was compared with."""
    plain: bool = False
    """The statement says all: no figure."""
    needed: Advice | None = None
    """The items that would decide it; None where it is decided, or nothing is known of them."""
    unit: str = "item"
    """What `needed` counts."""
    kept: bool = False
    """The measure is a share of verdicts that hold: the smaller it is, the larger is the effect."""
    floor: float | None = None
    margin: float | None = None


def group_claims(claims: Iterable[Claim]) -> tuple[Finding, ...]:
    """Put claims with the same statement about the same judge and task together, the largest effect first."""
    groups: dict[tuple[str, str, str, Severity, str], list[Claim]] = {}
    for claim in claims:
        # One sentence about several tests is easier to act on than the same sentence for each.
        key = claim.measure.judge, claim.measure.task, claim.kind, claim.severity, claim.statement
        groups.setdefault(key, []).append(claim)
    return tuple(_build_finding(group) for group in groups.values())


def _build_finding(group: list[Claim]) -> Finding:
    # The first figure is the one that readers take in.
    ordered = sorted(group, key=_effect, reverse=True)
    first = ordered[0]
    basis = tuple(_basis(claim) for claim in ordered)
    return Finding(
        kind=first.kind,
        severity=first.severity,
        judge=first.measure.judge,
        task=first.measure.task,
        tests=tuple(dict.fromkeys(claim.measure.test for claim in ordered if claim.measure.test)),
        statement=first.statement,
        sentence=_sentence(first.statement, basis),
        basis=basis,
        decide=_decide(ordered),
        floor=first.floor,
        margin=first.margin,
    )


def _effect(claim: Claim) -> float:
    estimate = claim.measure.estimate or 0.0
    return 1 - estimate if claim.kept else abs(estimate)


def _basis(claim: Claim) -> Basis:
    measure = claim.measure
    named = Basis(name=measure.name, judge=measure.judge, task=measure.task, test=measure.test, cell=dict(measure.cell))
    if claim.plain:
        return named
    return evolve(
        named,
        value=estimate_text(measure),
        interval=format_interval(measure, _DIGITS),
        aside=claim.aside,
        size=format_items(measure) if measure.n_items else "",
        effect=_effect(claim),
        decide="" if claim.needed is None else claim.needed.write(_unit(claim)),
    )


def estimate_text(measure: Measure) -> str:
    """Write an estimate to two decimals, a difference with its sign."""
    return "not estimable" if measure.estimate is None else format_estimate(measure, _DIGITS)


def units(measure: Measure) -> int:
    """Return the number of independent units that a measure rests on: clusters, and items where they are not known."""
    return measure.n_clusters or measure.n_items


def _sentence(statement: str, basis: Sequence[Basis]) -> str:
    shown = [part for part in basis if part.value]
    figures = "; ".join(part.figure if part.test in ("", REFERENCE) else f"{part.test} {part.figure}" for part in shown)
    return f"{statement}: {figures}." if figures else f"{statement.rstrip('.')}."


def _decide(claims: Sequence[Claim]) -> str:
    """Say what would decide all claims that can be decided."""
    # The widest range of those with the same goal, so that a reader of many tests gets one number.
    ranges: dict[tuple[str, str], Advice] = {}
    for claim in claims:
        if (advice := claim.needed) is not None:
            other = ranges.get(key := (advice.goal, _unit(claim)), advice)
            ranges[key] = evolve(advice, low=min(advice.low, other.low), high=max(advice.high, other.high))
    return "; ".join(advice.write(unit) for (_, unit), advice in ranges.items())


def _unit(claim: Claim) -> str:
    """Return what has to be added: where items form clusters, more of the same clusters decide nothing."""
    measure = claim.measure
    return claim.unit if units(measure) == measure.n_items else "cluster"


def excludes_zero(measure: Measure) -> bool:
    """Tell whether the interval of a difference excludes 0."""
    return measure.interval is not None and not measure.interval.low <= 0 <= measure.interval.high


def margin_of(measure: Measure, usual: float) -> float:
    """Return the margin that an equivalence measure was tested with, otherwise the usual one."""
    return usual if measure.margin is None else measure.margin


def items_needed(measure: Measure, effect: float, comparisons: int = 1) -> Advice | None:
    """Return how many items have 80% power for an effect that was named beforehand; None without an interval.

    From the width of the interval: `jrh_stats.items_to_decide`. Where nothing varied the width says nothing; then it is
    the number of items without a change that rules the effect out: `jrh_stats.items_to_rule_out`. Where the items of
    today have this power already, the true effect may lie between none and the named one, and the advice is about half
    of it. Where missing verdicts alone leave more open than the effect, no number of items helps.

    Args:
        measure: what is undecided.
        effect: the margin, in the unit of the measure: never the observed effect, by which the number means nothing.
        comparisons: hypotheses of equal weight that share the error rate.
    """
    interval, now = measure.interval, units(measure)
    if interval is None or not effect or interval.high <= interval.low or not now:
        return None
    if interval.method.startswith(BOUNDED) and measure.bounds and measure.bounds[1] - measure.bounds[0] >= 2 * effect:
        return Advice(goal=f"missing verdicts alone leave more than ±{effect:.2g} open")
    if measure.estimate == 0.0 and interval.method.startswith(_NOTHING_VARIED):
        return _without_change(measure, effect, (1 - interval.level) / 2 / comparisons)
    while (ends := _range(measure, effect, comparisons))[1] <= now:
        effect /= 2
    return Advice(goal=f"80% power for an effect of {effect:.2g}", low=max(ends[0], now + 1), high=ends[1])


def items_needed_for_equivalence(now: Situation, change: Measure, same: Measure) -> Advice | None:
    """Return how many items show that a change lies within the margin, together with the other claims.

    The level is that of `PageFamily.equivalence_level`. Where nothing changed at all it is the number of unchanged
    items whose exact bound is below the margin, ln(level) / ln(1 - margin): 59 for a margin of 0.05 at 0.05, 94 at
    0.05 / 6. Otherwise it is that of a one-sided z-test with 90% power at a distance of the margin
    (`jrh_stats.items_to_decide`): with no change, both one-sided tests reject with 80%.
    """
    margin, level = margin_of(same, now.margin), now.equivalence_level(same)
    if change.interval is None or same.interval is None or same.interval.high <= same.interval.low or not units(same):
        return None
    if change.estimate == 0.0 and change.interval.method.startswith(_NOTHING_VARIED):
        return _without_change(same, margin, level)
    # The test is one-sided at `level`; the formula takes a two-sided level divided by comparisons.
    comparisons = max((1 - same.interval.level) / 2 / level, 1.0)
    low, high = (max(end, units(same) + 1) for end in _range(same, margin, ceil(comparisons), power=0.9))
    return Advice(goal=f"80% power for equivalence within ±{margin:g}", low=low, high=high)


def _range(measure: Measure, effect: float, comparisons: int, *, power: float = 0.8) -> tuple[int, int]:
    assert measure.interval is not None
    low, high, level = measure.interval.low, measure.interval.high, measure.interval.level
    span = 1.0 if measure.unit in _OF_SHARES else None
    return items_to_decide(
        units(measure), (high - low) / 2, effect, level=level, power=power, comparisons=comparisons, span=span
    )


def _without_change(measure: Measure, effect: float, alpha: float) -> Advice:
    # A change of verdicts above a half is ruled out by no fewer items than a half is.
    needed = max(items_to_rule_out(min(effect, 0.5), alpha=alpha), units(measure) + 1)
    return Advice(goal=f"ruling out {effect:.2g} if none changes", low=needed, high=needed)
