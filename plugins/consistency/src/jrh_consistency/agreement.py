"""The metrics that hold two ways of asking about the same responses against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import ClassVar, Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Basis, Cell, Floats, MeasureBuilder, MetricOptions
from jrh_stats import Estimate, cluster_sums, clustered_mean
from numpy.typing import NDArray

from jrh_consistency.naming import Kind
from jrh_consistency.preferences import FIRST, SECOND, Judged, Pair, counted_note, preferences_by_task

COMPARED: Final = "compared-with"
"""Level that names the other task."""
NOTHING: Final = "no pair of responses was judged in both tasks"
_DECIDED: Final = "no pair is decided in both tasks"


@frozen(kw_only=True, eq=False)
class Both:
    """The pairs that two tasks judge; arrays of shape (n,)."""

    clusters: NDArray[np.int64]
    agree: Floats
    """Probability that a verdict of each prefers the same response."""
    conflict: Floats
    noise: Floats
    """How often two verdicts of one task contradict each other (`Preference.opposition`), shape (2, n)."""
    weight: Floats
    """1, but for choices from a list: the share of the verdicts on the list that say anything about the pair."""
    missing: int
    """Pairs that both tasks ask about and one of them has no verdict on."""

    def sums(self, *columns: Floats) -> Floats:
        """Return weighted sums per cluster, and last the weights, shape (clusters, columns + 1)."""
        return cluster_sums(self.clusters, *(column * self.weight for column in columns), self.weight).round(12)


@frozen(kw_only=True, eq=False)
class _Comparison:
    first: Judged
    second: Judged
    both: Both
    cell: Cell

    @property
    def noisy(self) -> bool:
        """Return whether noise is known in both tasks."""
        return self.first.noise is not None and self.second.noise is not None


@frozen
class _Agreement:
    """Measure how often two ways of asking prefer the same response.

    A pair counts as decided where neither way calls it a tie. `NAME` is the share of agreement among decided pairs,
    0.5 by chance; `NAME-conflict` is a share of all pairs. Both are shares of two single verdicts, one of each way:
    unbiased for any number of repeats. `NAME-excess` is the share of conflicts less e1 + e2 - 2 e1 e2, the most that
    two noisy readings of one order would have that contradict their own repeats in shares e1 and e2 of a pair.
    """

    options: MetricOptions
    name: ClassVar[str]
    kinds: ClassVar[tuple[frozenset[Kind], frozenset[Kind]]]
    """What the first of two tasks asks about a set of responses, and what the second."""

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every two tasks about the same sets."""
        builder = MeasureBuilder.of(records, context, self.options)
        for comparison in self._comparisons(preferences_by_task(builder)):
            if comparison.both.missing or len(comparison.both.agree):
                yield from _measures(builder, self.name, comparison)

    def _comparisons(self, judged: Sequence[Judged]) -> Iterator[_Comparison]:
        for second, first in product(judged, judged):
            one_judge = first.cell.judge == second.cell.judge
            if one_judge and first.kind in self.kinds[0] and second.kind in self.kinds[1]:
                cell = second.cell.part({COMPARED: first.cell.task})
                yield _Comparison(first=first, second=second, both=both_of(first, second), cell=cell)


class PointwisePairwise(_Agreement):
    """Compare scores with comparisons of the same responses."""

    name = "pointwise-pairwise"
    kinds = frozenset({Kind.SCORES}), frozenset({Kind.PAIRS})


class ListwisePairwise(_Agreement):
    """Compare rankings, and choices of the best of a list, with comparisons of the same responses."""

    name = "listwise-pairwise"
    kinds = frozenset({Kind.RANKINGS, Kind.CHOICES}), frozenset({Kind.PAIRS})


class ScoreRanking(_Agreement):
    """Compare scores with rankings, and with choices of the best of a list."""

    name = "score-ranking"
    kinds = frozenset({Kind.SCORES}), frozenset({Kind.RANKINGS, Kind.CHOICES})


def both_of(first: Judged, second: Judged) -> Both:
    """Join what two tasks prefer, pair by pair."""
    shared = [pair for pair in first.preferences if pair in second.preferences]
    usable = [pair for pair in shared if all(judged.preferences[pair].shares is not None for judged in (first, second))]
    one_way, other_way = (_shares(judged, usable) for judged in (first, second))
    return Both(
        clusters=np.array([second.preferences[pair].cluster for pair in usable], dtype=np.int64),
        agree=one_way[FIRST] * other_way[FIRST] + one_way[SECOND] * other_way[SECOND],
        conflict=one_way[FIRST] * other_way[SECOND] + one_way[SECOND] * other_way[FIRST],
        noise=np.array([[judged.opposition_of(pair) for pair in usable] for judged in (first, second)]),
        weight=np.array([first.preferences[pair].weight * second.preferences[pair].weight for pair in usable]),
        missing=len(shared) - len(usable),
    )


def _shares(judged: Judged, pairs: Sequence[Pair]) -> Floats:
    return np.array([judged.preferences[pair].shares for pair in pairs]).reshape(-1, 3).T


def _measures(builder: MeasureBuilder, name: str, comparison: _Comparison) -> Iterator[Measure]:
    both = comparison.both
    number = len(both.agree)
    note = counted_note("pairs", number, both.missing, lacking="in one of the tasks", nothing=NOTHING)
    # The sum of agreement and conflict is the weight of the decided pairs.
    sums = both.sums(both.agree, both.conflict)
    decided = sums[:, 0] + sums[:, 1]
    agreement = builder.proportion(sums[:, 0], decided)
    yield _put(builder, name, comparison, agreement, note if decided.any() or not number else _DECIDED)
    share = clustered_mean(sums[:, 1], sums[:, 2], bounds=(0.0, 1.0), level=builder.context.level)
    yield _put(builder, f"{name}-conflict", comparison, share, note)
    reason = note if comparison.noisy or not number else "a question was asked only once, so the noise is unknown"
    yield _put(builder, f"{name}-excess", comparison, _excess(builder, comparison), reason, unit="difference")


def _excess(builder: MeasureBuilder, comparison: _Comparison) -> Estimate:
    """Estimate the share of conflicts less the most that noise explains, e1 + e2 - 2 e1 e2 of every pair.

    Without ties: two readings of one order that are right with probabilities (1 + x) / 2 and (1 + y) / 2 contradict
    each other in (1 - xy) / 2, and themselves in e1 = (1 - x^2) / 2 and e2 = (1 - y^2) / 2. As x and y are at most 1,
    xy is at least x^2 y^2 = (1 - 2 e1) (1 - 2 e2). With ties see `TIED`; a test looks at a grid of all four numbers.
    Repeats of the two tasks are independent, so that the product of their estimates is unbiased pair by pair.
    """
    if not len(comparison.both.agree) or not comparison.noisy:
        return Estimate(value=None)
    first, second = comparison.both.noise
    sums = comparison.both.sums(comparison.both.conflict - first - second + 2 * first * second)
    # Without noise to subtract, the excess is a share.
    bounds = (0.0, 1.0) if comparison.first.steady and comparison.second.steady else (-1.0, 1.0)
    return clustered_mean(sums[:, 0], sums[:, 1], bounds=bounds, level=builder.context.level)


def _put(
    builder: MeasureBuilder, name: str, comparison: _Comparison, found: Estimate, note: str, unit: str = "proportion"
) -> Measure:
    """Put a measure of two tasks together: clusters and flags are those of the second, trials those of both.

    Each task names its clusters by its own items, so that the clusters of both would count every request twice.
    """
    first, second = comparison.first, comparison.second
    basis = Basis(comparison.cell, second.cell.rows, second.usable)
    measured = builder.measure(name, basis, found, unit=unit, note=note)
    missing = Counter(measured.missing)
    missing.update(builder.count_missing(first.cell.rows, first.usable))
    return evolve(
        measured,
        n_trials=measured.n_trials + len(first.usable),
        n_items=measured.n_items + builder.items(first.usable),
        missing=dict(sorted(missing.items())),
    )
