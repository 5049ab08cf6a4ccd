"""The family of tests behind the claims of a report, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final, TypeAlias

from attrs import Factory, frozen
from jrh.values.finding import ClaimFamily
from jrh.values.measures import Measure
from jrh_stats import benjamini_hochberg, chained_holm

Key: TypeAlias = tuple[object, ...]
_SLACK: Final = 1e-12


@frozen(kw_only=True, eq=False)
class Hypothesis:
    """That the quantity of a measure has a null value."""

    measure: Measure
    null: float
    p: float
    least: float = 0.0
    """The smallest p-value that the test could have given; 0: not known."""
    weight: float = 1.0
    """Its share of the error rate, relative to others; never larger than that of the one before it in a chain."""
    tested: tuple[float, float] | None = None
    """The p-value and the least one with which the family tests it, where these are not its own."""


@frozen(kw_only=True, eq=False)
class PageFamily:
    """All hypotheses that the claims of one report test, judged together."""

    alpha: float
    claimed: frozenset[Key]
    """The hypotheses that are rejected."""
    tests: int
    comparisons: int
    """What Bonferroni's correction would divide by for a hypothesis of weight 1: the weights of all chains."""
    p: Mapping[Key, float] = Factory(dict)
    """The p-value of every hypothesis, not adjusted."""
    equivalent: frozenset[Key] = frozenset()
    """Hypotheses of a change of the margin or more that are rejected."""
    equivalences: Mapping[Key, float] = Factory(dict)
    """The p-value of every such hypothesis, not adjusted."""

    @classmethod
    def of(
        cls, chains: Iterable[Sequence[Hypothesis]], level: float, equivalences: Sequence[Hypothesis] = ()
    ) -> PageFamily:
        """Reject hypotheses, the probability of any false rejection being at most 1 - level (`chained_holm`).

        Claims of equivalence control the false discovery rate at 1 - level (Benjamini and Hochberg): at most that share
        of them is expected to be false. Where all tests lie at the margin any claim is false, so that this bounds the
        probability of any. Holm's bound would leave nothing to claim: 60 items without a change have p = 0.046.
        """
        alpha = 1 - level
        adjusted = benjamini_hochberg([each.p for each in equivalences])
        found = [chain for chain in chains if chain]
        tested = [[each.tested or (each.p, each.least) for each in chain] for chain in found]
        rejected = chained_holm(
            [[p for p, _ in chain] for chain in tested],
            [[least for _, least in chain] for chain in tested],
            [[each.weight for each in chain] for chain in found],
            alpha=alpha,
        )
        return cls(
            alpha=alpha,
            # Where accuracy changes, verdicts change. But nothing is claimed that the interval shown with it denies.
            claimed=frozenset(
                _key(each.measure, each.null)
                for chain, number in zip(found, rejected, strict=True)
                for each in chain[:number]
                if each.p <= alpha + _SLACK
            ),
            tests=sum(len(chain) for chain in found),
            comparisons=ceil(sum(chain[0].weight for chain in found)),
            p={_key(each.measure, each.null): each.p for chain in found for each in chain},
            equivalent=frozenset(
                _key(each.measure, each.null)
                for each, p in zip(equivalences, adjusted, strict=True)
                if p <= alpha + _SLACK
            ),
            equivalences={_key(each.measure, each.null): each.p for each in equivalences},
        )

    def claims(self, measure: Measure, null: float = 0.0) -> bool:
        """Tell whether the quantity of a measure is shown to differ from a null value."""
        return _key(measure, null) in self.claimed

    def shows_equivalence(self, measure: Measure, margin: float) -> bool:
        """Tell whether a measure is shown to lie within a margin, together with the other claims of equivalence."""
        return _key(measure, margin) in self.equivalent

    def equivalent_alone(self, measure: Measure, margin: float) -> bool:
        """Tell whether an equivalence that is not claimed would be if it were the only one tested."""
        key = _key(measure, margin)
        return key not in self.equivalent and self.equivalences.get(key, 1.0) <= self.alpha

    def equivalence_level(self, measure: Measure, margin: float) -> float:
        """Return the p-value at which an equivalence is claimed once the others keep theirs: alpha k / m.

        Benjamini and Hochberg's level of rank k among m, where k counts it and all that would be claimed on their own.
        """
        key = _key(measure, margin)
        beside = sum(p <= self.alpha for other, p in self.equivalences.items() if other != key)
        return self.alpha * (1 + beside) / max(len(self.equivalences), 1)

    def p_of(self, measure: Measure, null: float = 0.0) -> float | None:
        """Return the p-value of a hypothesis, not adjusted; None where it is not tested."""
        return self.p.get(_key(measure, null))

    def alone(self, measure: Measure, null: float = 0.0) -> bool:
        """Tell whether a hypothesis that is not rejected would be if it were the only one tested."""
        key = _key(measure, null)
        return key not in self.claimed and self.p.get(key, 1.0) <= self.alpha

    @property
    def summary(self) -> ClaimFamily:
        """Return what a report says of the family."""
        return ClaimFamily(
            tests=self.tests,
            claimed=len(self.claimed),
            alpha=round(self.alpha, 12),
            equivalences=len(self.equivalences),
        )


def _key(measure: Measure, null: float) -> Key:
    cell = tuple(sorted(measure.cell.items()))
    return measure.name, measure.judge, measure.task, measure.test, cell, round(null, 12)
