"""The family of tests behind the claims of a report, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import Factory, frozen
from jrh_stats import chained_holm

from jrh.values.finding import ClaimFamily
from jrh.values.measures import Measure

Key: TypeAlias = tuple[object, ...]


@frozen(kw_only=True, eq=False)
class Hypothesis:
    """That the quantity of a measure has a null value."""

    measure: Measure
    null: float
    p: float
    least: float = 0.0
    """The smallest p-value that the test could have given; 0: not known."""


@frozen(kw_only=True, eq=False)
class PageFamily:
    """All hypotheses that the claims of one report test, judged together."""

    alpha: float
    claimed: frozenset[Key]
    """The hypotheses that are rejected."""
    tests: int
    chains: int
    p: Mapping[Key, float] = Factory(dict)
    """The p-value of every hypothesis, not adjusted."""

    @classmethod
    def of(cls, chains: Iterable[Sequence[Hypothesis]], level: float) -> PageFamily:
        """Reject hypotheses, the probability of any false rejection being at most 1 - level (`chained_holm`)."""
        found = [chain for chain in chains if chain]
        alpha = 1 - level
        rejected = chained_holm(
            [[each.p for each in chain] for chain in found],
            [[each.least for each in chain] for chain in found],
            alpha=alpha,
        )
        return cls(
            alpha=alpha,
            claimed=frozenset(
                _key(each.measure, each.null)
                for chain, number in zip(found, rejected, strict=True)
                for each in chain[:number]
            ),
            tests=sum(len(chain) for chain in found),
            chains=len(found),
            p={_key(each.measure, each.null): each.p for chain in found for each in chain},
        )

    def claims(self, measure: Measure, null: float = 0.0) -> bool:
        """Tell whether the quantity of a measure is shown to differ from a null value."""
        return _key(measure, null) in self.claimed

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
        return ClaimFamily(tests=self.tests, claimed=len(self.claimed), alpha=round(self.alpha, 12))


def _key(measure: Measure, null: float) -> Key:
    cell = tuple(sorted(measure.cell.items()))
    return measure.name, measure.judge, measure.task, measure.test, cell, round(null, 12)
