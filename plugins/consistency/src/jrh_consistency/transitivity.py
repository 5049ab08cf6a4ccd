"""The metric `transitivity`: preferences that run in a circle, against chance and against what noise makes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from math import fsum
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import Basis, Floats, MeasureBuilder, MetricOptions
from jrh_stats import Estimate, cluster_sums, clustered_mean
from numpy.typing import NDArray

from jrh_consistency.measure_list import ONE_ORDER
from jrh_consistency.naming import Kind
from jrh_consistency.preferences import FIRST, NEITHER, SECOND, Judged, Pair, Shares, counted_note, preferences_by_task

NOTHING: Final = "no three responses to one request were compared with each other"
_CHANCE: Final = 0.25
"""Share of cyclic triples in a random tournament (Kendall and Babington Smith 1940, Biometrika 31:324-345)."""


@frozen(kw_only=True, eq=False)
class Triples:
    """The triples of one judge and task; arrays of shape (n,)."""

    clusters: NDArray[np.int64]
    cycle: Floats
    """Probability that three verdicts, one per pair, form a cycle."""
    conflict: Floats
    """Probability that they fit no order because of a tie, such as a > b, b > c, a = c."""
    strict: Floats
    """Probability that none of them is a tie."""
    noise: Floats
    """How often two verdicts on a pair differ, mean of the three pairs."""
    missing: int
    """Triples that lack a verdict on a pair."""

    def sums(self, values: Floats) -> Floats:
        """Return sums of values and numbers of triples per cluster, shape (clusters, 2)."""
        # Rounded, so that the order of the triples does not show in the last digit.
        return cluster_sums(self.clusters, values.round(12), np.ones(len(values)))


@frozen
class Transitivity:
    """Measure cycles of preferences: the judge prefers a to b, b to c, and c to a.

    `cycle-share` is the share of triples that form a cycle if each pair is asked once; it is unbiased whatever the
    number of repeats, as the verdicts on three pairs are independent. A tie is no preference, so a triple with one is
    no cycle; `tie-conflict-share` counts triples that fit no order because of ties. `cycle-chance` is what coin tosses
    with as many ties would give: a quarter without ties. `cycle-noise` is the most that a judge with a fixed order
    would have that contradicts itself as often on a repeat and on the other option order, d (1 - d) with d that share.
    `cycle-excess` is the difference: systematic cycles.

    Derivation. With x, y, z twice the probability of a win less one around the triple, a cycle has the probability
    (1 + xy + yz + zx) / 4. If an order exists and sizes of preference do not depend on the place in it, its mean is
    (1 - m^2) / 4 with m the mean size; d = (1 - mean square) / 2 and m is at least the mean square, so it is at most
    d (1 - d). With the same size everywhere it is d / 2. Preferences that grow with the distance make it smaller.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every task with pairs of responses."""
        builder = MeasureBuilder.of(records, context, self.options)
        for judged in preferences_by_task(builder):
            if judged.kind is Kind.PAIRS:
                yield from _measures(builder, judged, triples_of(judged))


def triples_of(judged: Judged) -> Triples:
    """Put the pairs of every set together to triples; only those are planned whose three pairs were asked about."""
    rows, missing = [], 0
    sets: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for name, *pair in judged.preferences:
        sets[name].add((pair[0], pair[1]))
    for name, pairs in sets.items():
        members = sorted({member for pair in pairs for member in pair})
        for a, b, c in combinations(members, 3):
            # Not planned, which is not the same as missing.
            if not ({(a, b), (b, c), (a, c)} <= pairs):
                continue
            around: tuple[Pair, Pair, Pair] = ((name, a, b), (name, b, c), (name, a, c))
            shares = [share for pair in around if (share := judged.preferences[pair].shares) is not None]
            if len(shares) < len(around):
                missing += 1
                continue
            first, second, across = shares
            noise = fsum(judged.noise_of(pair) for pair in around) / len(around)
            cluster = judged.preferences[around[0]].cluster
            rows.append((cluster, *_patterns(first, second, across), noise))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    return Triples(
        clusters=columns[0].astype(np.int64),
        cycle=columns[1],
        conflict=columns[2],
        strict=columns[3],
        noise=columns[4],
        missing=missing,
    )


def _weak_orders() -> Iterator[tuple[int, int, int]]:
    """Yield the outcomes of the pairs (1, 2), (2, 3), (1, 3) that fit an order with ties: 13 of 27."""
    for a, b, c in product(range(3), repeat=3):
        # A lower place is better.
        signs = [int(np.sign(after - before)) for before, after in ((a, b), (b, c), (a, c))]
        first, second, across = (NEITHER - sign for sign in signs)
        yield first, second, across


_FITTING: Final = tuple(sorted(set(_weak_orders())))


def _patterns(first: Shares, second: Shares, across: Shares) -> tuple[float, float, float]:
    """Return the probabilities of a cycle, of a conflict of ties, and of no tie."""
    cycle = first[FIRST] * second[FIRST] * across[SECOND] + first[SECOND] * second[SECOND] * across[FIRST]
    # Without ties, which is the usual case, no weak orders have to be summed.
    if not (first[NEITHER] or second[NEITHER] or across[NEITHER]):
        return cycle, 0.0, 1.0
    fitting = fsum(first[ab] * second[bc] * across[ac] for ab, bc, ac in _FITTING)
    strict = (1 - first[NEITHER]) * (1 - second[NEITHER]) * (1 - across[NEITHER])
    # Sums of floats may exceed 1 in the last digit.
    return cycle, max(1 - fitting - cycle, 0.0), strict


def _measures(builder: MeasureBuilder, judged: Judged, triples: Triples) -> Iterator[Measure]:
    basis, number = Basis(judged.cell, judged.cell.rows, judged.usable), len(triples.cycle)
    note = counted_note("triples", number, triples.missing, lacking="on a pair", nothing=NOTHING)
    for name, values in (("cycle-share", triples.cycle), ("tie-conflict-share", triples.conflict)):
        sums = triples.sums(values)
        share = clustered_mean(sums[:, 0], sums[:, 1], bounds=(0.0, 1.0), level=builder.context.level)
        total, every = float(values.sum().round(12)), number + triples.missing
        # Triples without a verdict on a pair may all be cycles, or none of them.
        bounds = (total / every, (total + triples.missing) / every) if every else None
        # Position bias alone makes circles where every pair is shown in one order.
        flags = () if judged.crossed or name != "cycle-share" else (ONE_ORDER,)
        yield builder.measure(name, basis, share, bounds=bounds, note=note, flags=flags)
    chance = float(triples.strict.mean() * _CHANCE) if number else None
    yield builder.measure("cycle-chance", basis, Estimate(value=chance), note=note)
    known = number > 0 and judged.noise is not None
    mean = float(triples.noise.mean().round(12)) if known else 0.0
    reason = note if known or not number else "no question was asked twice, so the noise is unknown"
    noise = Estimate(value=mean * (1 - mean) if known else None)
    yield builder.measure("cycle-noise", basis, noise, note=reason)
    excess = _excess(builder, judged, triples)
    yield builder.measure("cycle-excess", basis, excess, unit="difference", note=reason)


def _excess(builder: MeasureBuilder, judged: Judged, triples: Triples) -> Estimate:
    """Estimate cycle share - d (1 - d) with the delta method: per cluster the sum of its linear part."""
    if not len(triples.cycle) or judged.noise is None:
        return Estimate(value=None)
    mean = float(triples.noise.mean())
    sums = triples.sums(triples.cycle - (1 - 2 * mean) * triples.noise - mean**2)
    # A judge that never contradicts itself has no noise to subtract: the excess is a share.
    least = 0.0 if judged.steady else -1.0
    return clustered_mean(sums[:, 0], sums[:, 1], bounds=(least, 1.0), level=builder.context.level)
