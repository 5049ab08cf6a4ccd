"""The metric `transitivity`: preferences that run in a circle, against chance and against what noise makes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
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
from jrh_consistency.preferences import FIRST, SECOND, Judged, Pair, Shares, counted_note, preferences_by_task

NOTHING: Final = "no three responses to one request were compared with each other"


@frozen(kw_only=True, eq=False)
class Triples:
    """The triples of one judge and task; arrays of shape (n,)."""

    clusters: NDArray[np.int64]
    cycle: Floats
    """Probability that three verdicts, one per pair, form a cycle."""
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
    no cycle. `cycle-noise` is the most that a judge with a fixed order would have that contradicts itself as often on a
    repeat and on the other option order, d (1 - d) with d that share. `cycle-excess` is the difference: systematic
    cycles. Coin tosses without ties give a quarter (Kendall and Babington Smith 1940, Biometrika 31:324-345).

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
            rows.append((judged.preferences[around[0]].cluster, _cycle(first, second, across), noise))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return Triples(
        clusters=columns[0].astype(np.int64),
        cycle=columns[1],
        noise=columns[2],
        missing=missing,
    )


def _cycle(first: Shares, second: Shares, across: Shares) -> float:
    """Return the probability that three verdicts, one per pair, form a cycle."""
    return first[FIRST] * second[FIRST] * across[SECOND] + first[SECOND] * second[SECOND] * across[FIRST]


def _measures(builder: MeasureBuilder, judged: Judged, triples: Triples) -> Iterator[Measure]:
    basis, number = Basis(judged.cell, judged.cell.rows, judged.usable), len(triples.cycle)
    note = counted_note("triples", number, triples.missing, lacking="on a pair", nothing=NOTHING)
    sums = triples.sums(triples.cycle)
    share = clustered_mean(sums[:, 0], sums[:, 1], bounds=(0.0, 1.0), level=builder.context.level)
    total, every = float(triples.cycle.sum().round(12)), number + triples.missing
    # Triples without a verdict on a pair may all be cycles, or none of them.
    bounds = (total / every, (total + triples.missing) / every) if every else None
    # Position bias alone makes circles where every pair is shown in one order.
    flags = () if judged.crossed else (ONE_ORDER,)
    yield builder.measure("cycle-share", basis, share, bounds=bounds, note=note, flags=flags)
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
