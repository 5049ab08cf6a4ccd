"""Estimate how many errors, or how large ones, it takes until a rater notices them."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.estimate import Estimate, enclose

_METHOD: Final = "percentile bootstrap of clusters"
_HALF: Final = 0.5
_PLACES: Final = 61
_SLOPES: Final = np.geomspace(0.25, 16.0, 13)
_LAPSES: Final = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.3])
_ZOOMS: Final = 5
_LEAST: Final = 1e-6
_AT_ONCE: Final = 64
_DIMENSIONS: Final = 2


@frozen(kw_only=True)
class PsychometricCurve:
    """The share of errors that is noticed, by their number or size."""

    threshold: Estimate
    """Dose at which half are noticed; flags `below` and `above`: outside of the doses asked, no number is given."""
    slope: Estimate
    """Change of the log odds of noticing where the dose doubles."""
    lapse: Estimate
    """Share that is missed however large the dose."""
    place: float
    """Log2 of the dose at which the logistic function is one half: the threshold if there are no lapses."""
    guess: float
    """Share that seems to be noticed without any error."""

    def at(self, doses: ArrayLike) -> Floats:
        """Return the fitted share noticed at doses above 0, guesses included."""
        from jrh_stats.special import expit

        slope, lapse = self.slope.value or 0.0, self.lapse.value or 0.0
        odds = slope * (np.log2(np.asarray(doses, dtype=np.float64)) - self.place)
        shares: Floats = self.guess + (1 - self.guess) * (1 - lapse) * expit(odds)
        return shares


def psychometric_curve(
    noticed: ArrayLike,
    asked: ArrayLike,
    doses: ArrayLike,
    *,
    guess: float = 0.0,
    lapse: float | None = None,
    level: float = 0.95,
    resamples: int = 999,
    seed: int = 0,
) -> PsychometricCurve | None:
    """Fit a logistic psychometric function with lapses by maximum likelihood.

        P(dose) = guess + (1 - guess) (1 - lapse) / (1 + exp(-slope (log2 dose - a)))

    The threshold is the dose at which half are noticed beyond guesses: (1 - lapse) F = 1/2. The fit is a search over a
    grid of a, slope (0.25 to 16) and lapse (0 to 0.3) that is refined around its best point: it cannot diverge where
    all small doses are missed and all large ones noticed. Intervals resample clusters and fit again on the coarse grid.

    Formula: Wichmann and Hill (2001), Perception & Psychophysics 63; lapse and guess rates there. Not consulted.

    Args:
        noticed: sum of what is noticed, by cluster and dose, shape (clusters, doses).
        asked: number of verdicts, the same shape; 0 where there is none.
        doses: above 0, rising, shape (doses,).
        guess: share that seems to be noticed without any error.
        lapse: the lapse rate, if it is known; None: estimated.
        level: coverage of the intervals.
        resamples: bootstrap draws.
        seed: of the draws.

    Returns:
        None with fewer than two doses.

    Raises:
        ValueError: the shapes do not fit, or the doses are not above 0 and rising.
    """
    top, bottom, dose = (np.asarray(column, dtype=np.float64) for column in (noticed, asked, doses))
    if top.ndim != _DIMENSIONS or top.shape != bottom.shape or dose.shape != top.shape[1:]:
        raise ValueError("noticed and asked must have the shape (clusters, doses), and doses one number per dose")
    if (dose <= 0).any() or (np.diff(dose) <= 0).any():
        raise ValueError("doses must be above 0 and in rising order")
    there = bottom.sum(axis=0) > 0
    top, bottom, x = top[:, there], bottom[:, there], np.log2(dose[there])
    if len(x) < _DIMENSIONS:
        return None
    lapses = _LAPSES if lapse is None else np.array([lapse])
    draws = np.random.default_rng(seed)
    # Two doublings beyond the doses asked, so that a threshold outside of them is found there and flagged.
    grid = _grid(np.linspace(x[0] - 2, x[-1] + 2, _PLACES), _SLOPES, lapses)
    pooled = (top.sum(axis=0)[None], bottom.sum(axis=0)[None])
    best = _refine(grid[_fit(*pooled, x, grid, guess)[0]], *pooled, x, guess, fixed=lapse is not None)
    weights = draws.multinomial(len(top), np.full(len(top), 1 / len(top)), size=resamples).astype(np.float64)
    fits = grid[_fit(weights @ top, weights @ bottom, x, grid, guess)]
    counts = {"n": float(bottom.sum()), "clusters": int(np.count_nonzero(bottom.sum(axis=1)))}
    return PsychometricCurve(
        threshold=_threshold(best, fits, x, level, counts),
        slope=_interval(best[1], fits[:, 1], level, counts),
        lapse=_interval(best[2], fits[:, 2], level, counts),
        place=float(best[0]),
        guess=guess,
    )


def _grid(places: Floats, slopes: Floats, lapses: Floats) -> Floats:
    return np.stack(np.meshgrid(places, slopes, lapses, indexing="ij"), axis=-1).reshape(-1, 3)


def _fit(top: Floats, bottom: Floats, x: Floats, grid: Floats, guess: float) -> Codes:
    """Return the point of the grid with the largest likelihood for every row of sums."""
    from jrh_stats.special import expit

    share = guess + (1 - guess) * (1 - grid[:, 2:]) * expit(grid[:, 1:2] * (x - grid[:, :1]))
    # A dose that is surely noticed would make one miss impossible, and the likelihood of all data 0.
    share = np.clip(share, _LEAST, 1 - _LEAST)
    yes, no = np.log(share).T, np.log1p(-share).T
    parts = [
        np.argmax(top[at : at + _AT_ONCE] @ yes + (bottom - top)[at : at + _AT_ONCE] @ no, axis=1)
        for at in range(0, len(top), _AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _refine(best: Floats, top: Floats, bottom: Floats, x: Floats, guess: float, *, fixed: bool) -> Floats:
    """Search again around the best point, each time within a third of the range."""
    # The distances of the coarse grid: places over the doses and two doublings on either side, 12 steps over six
    # doublings of the slope, and at most 0.1 between lapses.
    steps = np.array([(x[-1] - x[0] + 4) / (_PLACES - 1), 2 ** (6 / 12), 0.1])
    for zoom in range(_ZOOMS):
        scale = 3.0**-zoom
        places = best[0] + steps[0] * scale * np.linspace(-1, 1, 9)
        slopes = np.clip(best[1] * steps[1] ** (scale * np.linspace(-1, 1, 9)), _SLOPES[0], _SLOPES[-1])
        lapses = np.clip(best[2] + steps[2] * scale * np.linspace(-1, 1, 9), 0.0, _LAPSES[-1])
        grid = _grid(places, slopes, best[2:] if fixed else lapses)
        best = grid[_fit(top, bottom, x, grid, guess)[0]]
    return best


def _threshold(best: Floats, fits: Floats, x: Floats, level: float, counts: dict[str, float]) -> Estimate:
    """Return the dose at which half are noticed; outside of the doses asked there is only a flag."""
    ends = np.array([x[0], x[-1]])
    # A draw may place its threshold far outside: an interval ends at doses that were asked.
    value, drawn = _halves(best[None])[0], np.clip(_halves(fits), *ends)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    flag = "below" if value < ends[0] else "above" if value > ends[1] else ""
    if flag:
        return Estimate(value=None, flags=(flag,), n=counts["n"], clusters=int(counts["clusters"]))
    return enclose(
        float(2**value), float(2**low), float(2**high), method=_METHOD, n=counts["n"], clusters=int(counts["clusters"])
    )


def _halves(fits: Floats) -> Floats:
    from jrh_stats.special import logit

    thresholds: Floats = fits[:, 0] + logit(_HALF / (1 - fits[:, 2])) / fits[:, 1]
    return thresholds


def _interval(value: float, drawn: Floats, level: float, counts: dict[str, float]) -> Estimate:
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return enclose(
        float(value), float(low), float(high), method=_METHOD, n=counts["n"], clusters=int(counts["clusters"])
    )
