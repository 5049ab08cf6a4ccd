"""The family of tests behind the claims of a report or of a comparison."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import ceil, inf
from typing import Final, TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import gt, lt
from jrh.values import ClaimFamily
from jrh_stats import benjamini_hochberg, chained_holm

Key: TypeAlias = tuple[str, Hashable]
"""The rule, and what it tests."""
_SLACK: Final = 1e-12


@frozen(kw_only=True)
class PValue:
    """The result of one test."""

    p: float = field(validator=[gt(-inf), lt(inf)])
    """The p-value; 1 where nothing can be estimated."""
    least: float = 0.0
    """The smallest p-value that the test could have given; 0: not known."""
    opens: tuple[float, float] | None = None
    """The p-value and the least one with which a chain is tested here, where these are not its own."""


@frozen(kw_only=True)
class Test:
    """A hypothesis of the family, with the result of its test."""

    __test__ = False

    key: Key
    weight: float = 1.0
    result: PValue


def first_level(alpha: float, tests: int) -> float:
    """Return the level at which each of so many hypotheses of equal weight is tested first: alpha w / W.

    A gate tests at no other: the limits that it prints are those that decide.
    """
    return alpha / max(tests, 1)


@frozen(kw_only=True, eq=False)
class PageFamily:
    """All hypotheses that the claims of one report or comparison test, judged together."""

    alpha: float
    claimed: frozenset[Hashable]
    """The hypotheses that are rejected."""
    tests: int
    comparisons: int
    """What Bonferroni's correction would divide by for a hypothesis of weight 1: the weights of all chains that begin
    with a test which could reject at all."""
    p: Mapping[Hashable, float] = Factory(dict)
    """The p-value of every hypothesis, not adjusted."""
    equivalent: frozenset[Hashable] = frozenset()
    """Hypotheses of a change of the margin or more that are rejected."""
    equivalences: Mapping[Hashable, float] = Factory(dict)
    """The p-value of every such hypothesis, not adjusted."""
    shares: Mapping[Hashable, float] = Factory(dict)
    """The share of every such hypothesis in the weight of all."""

    @classmethod
    def of(cls, chains: Iterable[Sequence[Test]], level: float, equivalences: Sequence[Test] = ()) -> PageFamily:
        """Reject hypotheses, the probability of any false rejection being at most 1 - level (`chained_holm`).

        Claims of equivalence control the false discovery rate at 1 - level (Benjamini and Hochberg): at most that share
        of them is expected to be false. Where all tests lie at the margin any claim is false, so that this bounds the
        probability of any. Holm's bound would leave nothing to claim: 60 items without a change have p = 0.046.
        """
        alpha = 1 - level
        # Weighted (Genovese, Roeder and Wasserman 2006, Biometrika 93:509-524): p / w, the weights having the mean 1.
        total = sum(test.weight for test in equivalences)
        shares: dict[Hashable, float] = {test.key: test.weight / total for test in equivalences}
        scaled = [min(test.result.p / (shares[test.key] * len(equivalences)), 1.0) for test in equivalences]
        adjusted = benjamini_hochberg(scaled)
        families = [chain for chain in chains if chain]
        # A chain may be opened by another test that implies its first hypothesis (`PValue.opens`).
        opened = [[test.result.opens or (test.result.p, test.result.least) for test in chain] for chain in families]
        rejected = chained_holm(
            [[p for p, _ in chain] for chain in opened],
            [[least for _, least in chain] for chain in opened],
            [[test.weight for test in chain] for chain in families],
            alpha=alpha,
        )
        return cls(
            alpha=alpha,
            # Where accuracy changes, verdicts change. But nothing is claimed that the interval shown with it denies.
            claimed=frozenset(
                test.key
                for chain, number in zip(families, rejected, strict=True)
                for test in chain[:number]
                if test.result.p <= alpha + _SLACK
            ),
            tests=sum(len(chain) for chain in families),
            comparisons=max(ceil(sum(chain[0].weight for chain in families if chain[0].result.least <= alpha)), 1),
            p={test.key: test.result.p for chain in families for test in chain},
            equivalent=frozenset(
                test.key for test, p in zip(equivalences, adjusted, strict=True) if p <= alpha + _SLACK
            ),
            equivalences={test.key: test.result.p for test in equivalences},
            shares=shares,
        )

    def equivalent_alone(self, key: Hashable) -> bool:
        """Tell whether an equivalence that is not claimed would be if it were the only one tested."""
        return key not in self.equivalent and self.equivalences.get(key, 1.0) <= self.alpha

    def equivalence_level(self, key: Hashable) -> float:
        """Return the p-value at which an equivalence is claimed once the others keep theirs: alpha k w / W.

        Benjamini and Hochberg's level of rank k, where k counts it and all that would be claimed on their own; w is its
        weight and W that of all.
        """
        others_claimed = sum(p <= self.alpha for other, p in self.equivalences.items() if other != key)
        return self.alpha * (1 + others_claimed) * self.shares.get(key, 1 / max(len(self.equivalences), 1))

    def alone(self, key: Hashable) -> bool:
        """Tell whether a hypothesis that is not rejected would be if it were the only one tested."""
        # Readers see an interval that excludes the null value: the sentence has to say why nothing is claimed.
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
