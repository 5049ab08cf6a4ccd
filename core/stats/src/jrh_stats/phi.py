"""Estimate the phi coefficient of two yes-or-no variables, also where one of the four cells is empty."""

from __future__ import annotations

from collections.abc import Callable
from math import atanh, exp, inf, log, tanh
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import cluster_sums
from jrh_stats.degrees import FEW_CLUSTERS, FEW_EVENTS
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import t_quantile, z_quantile

EXPECTED_JOINT: Final = 5.0
"""Cochran's rule: below so many expected joint events the likelihood of a 2x2 table is not yet close to its limit."""
_CELLS: Final = 4
_NOISE: Final = 1e-12
_CLOSE: Final = 1e-7
_STEPS: Final = 60
_EDGE: Final = 1 - 1e-9


def phi_coefficient(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95
) -> Estimate:
    """Estimate the phi coefficient of two yes-or-no variables: Pearson's correlation of the two.

    With the cells p11, p10, p01, p00 and the margins a and b, phi = (p11 - a b) / sqrt(a (1 - a) b (1 - b)). Where both
    events are rare and never occur together, phi is close to 0, and so is its standard error: a symmetric interval
    excludes all positive correlations because of a cell that was expected to be empty. The interval used here is that
    of the profile likelihood: all values r for which

        2 / deff (log L - max over a, b of log L(a, b | phi = r)) <= t^2

    deff is the design effect of clusters: the cluster-robust variance of phi, relative to that of independent pairs.
    Where every pair is its own cluster it is 1 and t is the normal quantile. Otherwise t has the degrees of freedom of
    the ratio of the two variances, to first order (`docs/derivations.md` derives them).

    Source: profile likelihood intervals: Venzon and Moolgavkar (1988), Applied Statistics 37:87-94 (not consulted);
    design effect: Kish (1965), Survey Sampling; the rule of five: Cochran (1954), Biometrics 10:417-451.

    Args:
        first: 0 or 1, shape (n,).
        second: 0 or 1, shape (n,).
        clusters: cluster of every pair, whole numbers >= 0, shape (n,); None: every pair is its own.
        level: coverage.

    Returns:
        The estimate, method `profile-likelihood`. Flags: `empty` without pairs; `degenerate` where one side is
        constant; `no-interval` from one cluster; `few-events` with an effective number of clusters below 30, or if
        fewer than five joint events are expected under independence in the effective number of pairs, of the rarer
        outcomes of both sides.

    Raises:
        ValueError: the shapes differ, a value is not 0 or 1, or the level is not between 0 and 1.
    """
    z_quantile(level)
    x, y, of = _read_pairs(first, second, clusters)
    n = len(x)
    if not n:
        return Estimate(value=None, flags=("empty",))
    units = len(np.unique(of))
    cells = np.bincount((2 * x + y).astype(np.int64), minlength=_CELLS)
    table = _Table(*map(float, cells[::-1]))
    a, b = (table.n11 + table.n10) / n, (table.n11 + table.n01) / n
    if min(a * (1 - a), b * (1 - b)) <= _NOISE:
        return Estimate(value=None, n=n, clusters=units, flags=("degenerate",))
    value = float(np.clip(table.phi, -1.0, 1.0))
    if units == 1:
        return Estimate(value=value, n=n, clusters=1, flags=("no-interval",))
    design, degrees = _design(x, y, of, value) if units < n else (1.0, inf)
    cut = design * t_quantile(level, degrees) ** 2
    # Expected joint events of the rarer outcomes, in the effective number of pairs (Cochran's rule of five).
    joint = n / design * min(a, 1 - a) * min(b, 1 - b)
    # Of clusters that differ much in size the large ones decide (Kish 1965): 40 of 1 or 20 pairs are worth 22.
    effective = n**2 / float(np.square(np.bincount(of)).sum())
    return enclose(
        value,
        _end(table, value, -_EDGE, cut),
        _end(table, value, _EDGE, cut),
        method="profile-likelihood",
        n=n,
        clusters=units,
        flags=(FEW_EVENTS,) if joint < EXPECTED_JOINT or effective < FEW_CLUSTERS else (),
    )


@frozen
class _Table:
    """The counts of a 2x2 table."""

    n11: float
    n10: float
    n01: float
    n00: float

    @property
    def phi(self) -> float:
        """Return the coefficient; the margins are not empty."""
        rows = (self.n11 + self.n10) * (self.n01 + self.n00)
        columns = (self.n11 + self.n01) * (self.n10 + self.n00)
        return float((self.n11 * self.n00 - self.n10 * self.n01) / (rows * columns) ** 0.5)

    @property
    def likelihood(self) -> float:
        """Return the greatest log likelihood of all tables."""
        counts = (self.n11, self.n10, self.n01, self.n00)
        return sum(count * log(count / sum(counts)) for count in counts if count > 0)


def _design(first: Floats, second: Floats, of: Codes, phi: float) -> tuple[float, float]:
    """Return the design effect of phi and its degrees of freedom, from the influence of every pair on phi."""
    x, y = ((part - part.mean()) / part.std() for part in (first, second))
    influence = x * y - phi * (np.square(x) + np.square(y)) / 2
    # Phi is 1 or -1 whatever is left out; how clusters repeat each other then shows in either side alone.
    if float(np.square(influence).sum()) <= _NOISE * len(x):  # both sides are equal, or opposite, everywhere
        influence = x
    sums = cluster_sums(of, influence, np.square(influence))
    robust, independent = np.square(sums[:, 0]), sums[:, 1]
    units = len(sums)
    design = float(robust.sum() / independent.sum()) * units / (units - 1)
    if design <= _NOISE:
        return 1.0, float(units - 1)
    errors = robust / robust.mean() - independent / independent.mean()
    spread = float(np.square(errors).mean())
    degrees = 2 * (units - 1) / spread if spread > _NOISE else inf
    # Pairs of a cluster that seem to repel each other are taken as independent: chance does that as well.
    return max(design, 1.0), max(degrees, 1.0)


def _end(table: _Table, value: float, edge: float, cut: float) -> float:
    """Return the correlation between the estimate and an edge at which the deviance reaches `cut`."""
    from scipy.optimize import brentq

    # The estimate is that end of the scale already.
    if abs(value) >= _EDGE and value * edge > 0:
        return value
    top, start, reach = table.likelihood, _start(table), cut**0.5

    def beyond(z: float) -> float:
        # The root of the deviance is nearly a straight line in Fisher's z, so that few steps find the end.
        # Neighbouring correlations have neighbouring margins: each search starts where the last one ended.
        nonlocal start
        likelihood, start = _profile(table, tanh(z), start)
        return float(max(2 * (top - likelihood), 0.0) ** 0.5 - reach)

    here, there = (atanh(max(min(place, _EDGE), -_EDGE)) for place in (value, edge))
    if beyond(there) <= 0:
        return edge
    return tanh(float(brentq(beyond, here, there, xtol=_CLOSE)))


def _start(table: _Table) -> tuple[float, float]:
    n = table.n11 + table.n10 + table.n01 + table.n00
    a, b = (table.n11 + table.n10) / n, (table.n11 + table.n01) / n
    odds = (a / (1 - a), b / (1 - b))
    return float((odds[0] * odds[1]) ** 0.5), float((odds[0] / odds[1]) ** 0.5)


def _profile(table: _Table, phi: float, start: tuple[float, float]) -> tuple[float, tuple[float, float]]:
    """Maximise the log likelihood at a given phi, over m and r; return it with the place.

    With m the geometric mean of the odds of both margins and r the root of their ratio, the cells are m (m + phi),
    m (r - phi), m (1 / r - phi) and 1 + phi m, each divided by (1 + m r) (1 + m / r). So all tables with that phi are a
    rectangle in m and r, whose edges are the tables with an empty cell: Newton's method in the logarithms, kept inside.
    """
    # Just inside the rectangle: on its edge a cell is 0, and so is its likelihood if it was observed.
    slack = 1e-10
    least_m, most_m = max(-phi, 1e-12) + slack * (phi < 0), 1 / max(-phi, 1e-12) - slack * (phi < 0)
    least_r, most_r = max(phi, 1e-12) + slack * (phi > 0), 1 / max(phi, 1e-12) - slack * (phi > 0)

    def inside(u: float, v: float) -> tuple[float, float]:
        return min(max(u, log(least_m)), log(most_m)), min(max(v, log(least_r)), log(most_r))

    u, v = inside(log(start[0]), log(start[1]))
    best = _likelihood(table, phi, u, v)
    for _ in range(_STEPS):
        du, dv = _newton(table, phi, (u, v), inside)
        step = 1.0
        # Newton's step may overshoot; it is halved until the likelihood does not fall.
        while True:
            there = inside(u + step * du, v + step * dv)
            likelihood = _likelihood(table, phi, *there)
            if likelihood >= best or step < _CLOSE:
                break
            step /= 2
        gained = likelihood - best
        if gained > 0:
            (u, v), best = there, likelihood
        if gained < _CLOSE:
            break
    return best, (exp(u), exp(v))


def _likelihood(table: _Table, phi: float, u: float, v: float) -> float:
    m, r = exp(u), exp(v)
    below = (1 + m * r) * (1 + m / r)
    cells = (m * (m + phi), m * (r - phi), m * (1 / r - phi), 1 + phi * m)
    counts = (table.n11, table.n10, table.n01, table.n00)
    return sum(count * log(max(cell, 1e-300) / below) for count, cell in zip(counts, cells, strict=True) if count > 0)


def _newton(
    table: _Table, phi: float, at: tuple[float, float], inside: Callable[[float, float], tuple[float, float]]
) -> tuple[float, float]:
    """Return Newton's step; a coordinate that would leave the rectangle stays, and the other moves alone."""
    m, r = exp(at[0]), exp(at[1])
    n = table.n11 + table.n10 + table.n01 + table.n00
    a, b = m * r / (1 + m * r), m / (r + m)
    u_slope = n - table.n00 + table.n11 * m / (m + phi) + table.n00 * phi * m / (1 + phi * m) - n * (a + b)
    v_slope = table.n10 * r / (r - phi) - table.n01 / (1 - phi * r) - n * (a - b)
    bend = n * (a * (1 - a) + b * (1 - b))
    uu = bend - phi * m * (table.n11 / (m + phi) ** 2 + table.n00 / (1 + phi * m) ** 2)
    vv = bend + phi * r * (table.n10 / (r - phi) ** 2 + table.n01 / (1 - phi * r) ** 2)
    uv = n * (a * (1 - a) - b * (1 - b))
    # Where the surface bends the wrong way the step goes uphill all the same.
    uu, vv = (part if part > _NOISE else bend for part in (uu, vv))
    free_u, free_v = (
        inside(at[0] + 1e-9 * u_slope, at[1])[0] != at[0],
        inside(at[0], at[1] + 1e-9 * v_slope)[1] != at[1],
    )
    determinant = uu * vv - uv**2
    if free_u and free_v and determinant > _NOISE * uu * vv:
        return (u_slope * vv - v_slope * uv) / determinant, (v_slope * uu - u_slope * uv) / determinant
    return u_slope / uu if free_u else 0.0, v_slope / vv if free_v else 0.0


def _read_pairs(first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None) -> tuple[Floats, Floats, Codes]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    of = np.arange(len(x)) if clusters is None else np.asarray(clusters, dtype=np.int64)
    if x.shape != y.shape or x.shape != of.shape or x.ndim != 1:
        raise ValueError("both sides and the clusters must be arrays of equal length")
    if not np.all((x == 0) | (x == 1)) or not np.all((y == 0) | (y == 1)):
        raise ValueError("events must be 0 or 1; leave out pairs without both")
    return x, y, of
