"""Fit crossed random effects with one mean by restricted maximum likelihood."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from attrs import frozen

from jrh_stats.arrays import Floats
from jrh_stats.design import Design

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Let BLAS use one thread inside of the block.

    For matrices of some hundred rows more threads take five times the processor time, and the last digits of a result
    depend on their number, that is on the machine. SciPy's own BLAS has to be loaded before.
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1, user_api="blas")
    return limited


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401 - loads the library that is to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_BOUNDARY: Final = 1e-8
"""Variance ratios below this count as 0."""
_LARGEST: Final = 1e8
"""Variance ratios go no higher: beyond, nothing is left for the residual, and the equations lose their last digits."""


@frozen(kw_only=True, eq=False)
class _Fit:
    """The likelihood's parts at one set of variance ratios."""

    deviance: float
    gradient: Floats
    residual: float
    """The residual variance."""
    projected: Floats
    """Z' P Z in units of the residual variance, shape (random effects, random effects)."""


def reml_components(design: Design, start: Floats) -> tuple[Floats, Floats]:
    """Maximise the restricted likelihood.

    The likelihood is written in the variance ratios g_u = sigma_u^2 / sigma_e^2, with the residual variance profiled
    out. With H = I + sum_u g_u Z_u Z_u', -2 log L = log|H| + log(1'H^-1 1) + (n - 1) log(y'Py). Only sums over random
    effects are formed, never a matrix of observations.

    Args:
        design: the data.
        start: starting values of the components, the residual last, none negative.

    Returns:
        The components and their standard errors, the residual last; an error is 0 for a component on the boundary.
    """
    from scipy.optimize import minimize

    if design.squares <= 0:
        return np.zeros(len(start)), np.zeros(len(start))
    problem = _Problem(design)
    floor = max(float(start[-1]), 0.01 * design.variance, 1e-300)
    ratios = np.maximum(start[:-1] / floor, 0.01)

    def objective(roots: Floats) -> tuple[float, Floats]:
        fit = problem.fit(np.square(roots))
        return fit.deviance, fit.gradient * 2 * roots

    limit = float(np.sqrt(_LARGEST))
    with one_thread():
        found = minimize(
            objective,
            np.sqrt(np.minimum(ratios, _LARGEST)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-limit, limit)] * len(ratios),
            options={"ftol": 1e-13, "gtol": 1e-7},
        )
        ratios = np.square(found.x)
        ratios = np.where(ratios < _BOUNDARY, 0.0, ratios)
        fit = problem.fit(ratios)
    variances = np.append(ratios, 1.0) * fit.residual
    return variances, _standard_errors(problem, fit, variances)


class _Problem:
    """Cross products of the random effects with each other, the mean, and the scores."""

    def __init__(self, design: Design) -> None:
        self.n = design.n
        self.sizes = np.array(design.sizes)
        self.owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        total = int(self.sizes.sum())
        offsets = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        places = np.stack([codes + offset for codes, offset in zip(design.effect_codes, offsets, strict=True)])
        self.zz = np.zeros((total, total))
        for one in places:
            for other in places:
                np.add.at(self.zz, (one, other), design.counts)
        self.zx = np.bincount(places.ravel(), weights=np.tile(design.counts, len(places)), minlength=total)
        self.zy = np.bincount(places.ravel(), weights=np.tile(design.sums, len(places)), minlength=total)
        self.xy, self.yy = float(design.sums.sum()), design.squares

    def fit(self, ratios: Floats) -> _Fit:
        """Evaluate the likelihood and its gradient."""
        from scipy.linalg import cho_factor, cho_solve

        scale = np.sqrt(ratios)[self.owner]
        inner = scale[:, None] * self.zz * scale
        inner[np.diag_indices_from(inner)] += 1.0
        factor = cho_factor(inner, lower=True, check_finite=False)
        right = scale[:, None] * np.column_stack([self.zz, self.zx, self.zy])
        solved = cho_solve(factor, right, check_finite=False)
        # Products with H^-1 = I - Z S A^-1 S Z', where A is `inner` and S the scale.
        products = np.column_stack([self.zz, self.zx, self.zy]) - (self.zz * scale) @ solved
        zz, zx, zy = products[:, :-2], products[:, -2], products[:, -1]
        # Positive in theory; rounding can make it negative if a variance is far larger than the residual's.
        xx = max(self.n - float((scale * self.zx) @ solved[:, -2]), 1e-12 * self.n)
        xy = self.xy - float((scale * self.zx) @ solved[:, -1])
        yy = self.yy - float((scale * self.zy) @ solved[:, -1])
        left = max(yy - xy * xy / xx, 1e-300)
        residual = left / (self.n - 1)
        projected = zz - np.outer(zx, zx) / xx
        pull = zy - zx * xy / xx
        traces = np.bincount(self.owner, weights=np.diag(projected), minlength=len(self.sizes))
        pulls = np.bincount(self.owner, weights=np.square(pull), minlength=len(self.sizes))
        log_determinant = 2 * float(np.log(np.diag(factor[0])).sum())
        return _Fit(
            deviance=log_determinant + float(np.log(xx)) + (self.n - 1) * float(np.log(left)),
            gradient=traces - pulls / residual,
            residual=residual,
            projected=projected,
        )


def _standard_errors(problem: _Problem, fit: _Fit, variances: Floats) -> Floats:
    """Invert the expected information of the components that are not on the boundary.

    The information is tr(P V_i P V_j) / 2. What involves the residual follows from P V P = P and tr(P V) = n - 1.
    """
    effects = len(problem.sizes)
    squared = np.square(fit.projected) / fit.residual**2
    starts = np.concatenate([[0], np.cumsum(problem.sizes)[:-1]])
    inner = np.add.reduceat(np.add.reduceat(squared, starts, axis=0), starts, axis=1)
    traces = np.add.reduceat(np.diag(fit.projected), starts) / fit.residual
    information = np.zeros((effects + 1, effects + 1))
    information[:-1, :-1] = inner
    information[:-1, -1] = (traces - inner @ variances[:-1]) / variances[-1]
    information[-1, :-1] = information[:-1, -1]
    trace = (problem.n - 1 - traces @ variances[:-1]) / variances[-1]
    information[-1, -1] = (trace - information[-1, :-1] @ variances[:-1]) / variances[-1]
    inside = np.flatnonzero(variances > 0)
    errors = np.zeros(effects + 1)
    covariance = np.linalg.pinv(information[np.ix_(inside, inside)] / 2)
    errors[inside] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return errors


def satterthwaite(value: float, error: float, level: float) -> tuple[float, float]:
    """Compute Satterthwaite's interval of a variance from its standard error.

    v = 2 (value / error)^2 degrees of freedom; the ends are v value / chi^2.

    Source: Satterthwaite (1946), Biometrics Bulletin 2:110-114.
    """
    from scipy.special import chdtri

    degrees = max(2 * (value / error) ** 2, 1e-3)
    low = degrees * value / float(chdtri(degrees, (1 - level) / 2))
    with np.errstate(divide="ignore"):
        high = degrees * value / max(float(chdtri(degrees, (1 + level) / 2)), 1e-300)
    return min(low, value), max(high, value)
