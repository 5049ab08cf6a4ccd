"""Plant studies for estimators and tests that work on arrays instead of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
from jrh_stats import (
    Estimate,
    IccForm,
    Significance,
    brier_score,
    clustered_mean,
    clustered_proportion,
    corrected_failure_rate,
    effective_judges,
    equivalence,
    expected_calibration_error,
    icc,
    mcnemar_exact,
    prediction_powered_mean,
    sign_flip_test,
    variance_components,
)
from numpy.typing import NDArray

from jrh_selftest.checks import ArrayAlarm, ArrayCheck, subtract_truth
from jrh_selftest.judging import ALPHA
from jrh_selftest.ratings import error_checks, rating_checks, trio_checks

_SHARES: Final = {"item": 0.45, "judge": 0.1, "item:judge": 0.2, "residual": 0.25}
"""Planted variances of the normal scores; they sum to 1."""
_CUTS: Final[Mapping[int, tuple[float, ...]]] = {2: (0.5,), 3: (-0.5, 0.7), 5: (-1.0, -0.3, 0.4, 1.1)}
"""Levels of the scale -> thresholds."""
_JUDGES: Final = 5
# Nodes of the Gauss-Legendre rule: the integrand is smooth.
_NODES: Final = 64


def level_checks() -> Iterator[ArrayCheck]:
    """Yield the variance components of scales with 2, 3 and 5 levels, and the ICC of those with 2."""
    for levels in _CUTS:
        draw = partial(_level_components, levels=levels, items=200)
        for name, value in components(levels).items():
            if name != "judge":  # its interval is about the judges that were drawn
                where = f"{levels} levels, 200 items"
                yield ArrayCheck(where=where, name=f"variance of {name}", planted=value, draw=draw)
    for items in (60, 200):
        yield ArrayCheck(
            where=f"2 levels, {items} items",
            name="ICC(2,1)",
            planted=covariance(2, _SHARES["item"]) / variance(2),
            draw=partial(_agreement, items=items),
        )


def components(levels: int) -> Mapping[str, float]:
    """Return the variance components of the cut scores: differences of covariances of scores that share effects."""
    # Two scores that share only the item effect have its share as the correlation of their normal scores.
    item = covariance(levels, _SHARES["item"])
    judge = covariance(levels, _SHARES["judge"])
    cell = covariance(levels, 1 - _SHARES["residual"])
    return {
        "item": item,
        "judge": judge,
        "item:judge": cell - item - judge,
        "residual": variance(levels) - cell,
    }


def covariance(levels: int, correlation: float) -> float:
    """Return the covariance of two cut standard normal scores with a correlation.

    Its derivative in the correlation is the sum of the bivariate normal densities at all pairs of thresholds (Plackett
    1954); it is 0 at 0.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    r = correlation * (nodes + 1) / 2
    cuts = np.array(_CUTS[levels])
    a, b = cuts[:, None, None], cuts[None, :, None]
    density = np.exp(-(a**2 - 2 * r * a * b + b**2) / (2 * (1 - r**2))) / (2 * np.pi * np.sqrt(1 - r**2))
    return float((density.sum(axis=(0, 1)) * weights).sum() * correlation / 2)


def variance(levels: int) -> float:
    """Return the variance of the cut scores."""
    from statistics import NormalDist

    edges = [0.0, *(NormalDist().cdf(cut) for cut in _CUTS[levels]), 1.0]
    shares, codes = np.diff(edges), np.arange(levels)
    return float(shares @ codes**2 - (shares @ codes) ** 2)


def draw_scores(rng: np.random.Generator, *, levels: int, items: int, repeats: int) -> NDArray[np.float64]:
    """Draw cut scores, shape (items, judges, repeats)."""
    shapes = {"item": (items, 1, 1), "judge": (1, _JUDGES, 1), "item:judge": (items, _JUDGES, 1)}
    effects = [np.sqrt(_SHARES[name]) * rng.standard_normal(shape) for name, shape in shapes.items()]
    residual = np.sqrt(_SHARES["residual"]) * rng.standard_normal((items, _JUDGES, repeats))
    # Thresholds on normal scores: levels as ordinal verdicts have them, with components known in closed form.
    return np.asarray(np.digitize(sum(effects, residual), _CUTS[levels]), dtype=np.float64)


def _level_components(rng: np.random.Generator, *, levels: int, items: int) -> Mapping[str, Estimate]:
    scores = draw_scores(rng, levels=levels, items=items, repeats=2)
    return estimate_components(scores, np.ones(scores.size, dtype=bool))


def _agreement(rng: np.random.Generator, *, items: int) -> Estimate:
    return icc(draw_scores(rng, levels=2, items=items, repeats=1)[:, :, 0], "2,1")


def array_alarms() -> Sequence[ArrayAlarm]:
    """Return the tests, each once without an effect and once with one."""
    return (
        ArrayAlarm(name="McNemar", draw=lambda rng: _mcnemar(rng, 0.1, 0.1)),
        ArrayAlarm(name="McNemar, 20% against 5%", draw=lambda rng: _mcnemar(rng, 0.2, 0.05), least_power=0.75),
        ArrayAlarm(name="sign-flip permutation", draw=lambda rng: _signs(rng, 0.0)),
        ArrayAlarm(name="sign-flip, half a deviation", draw=lambda rng: _signs(rng, 0.5), least_power=0.8),
        ArrayAlarm(name="TOST at its margin", draw=lambda rng: _equivalent(rng, 0.1)),
        ArrayAlarm(name="TOST, no difference", draw=lambda rng: _equivalent(rng, 0.0), least_power=0.8),
    )


def _mcnemar(rng: np.random.Generator, first: float, second: float) -> bool:
    # Only the discordant pairs enter the test; their split is what is planted.
    only_first, only_second, _ = rng.multinomial(100, [first, second, 1 - first - second])
    return _alarm(mcnemar_exact(int(only_first), int(only_second)))


def _signs(rng: np.random.Generator, mean: float) -> bool:
    return _alarm(sign_flip_test(rng.standard_normal(40) + mean, resamples=400, seed=int(rng.integers(2**31))))


def _alarm(result: Significance) -> bool:
    return result.p is not None and result.p <= ALPHA


def _equivalent(rng: np.random.Generator, difference: float) -> bool:
    # Differences of scores from 0 to 1; clipping is more than four standard deviations away.
    scores = np.clip(difference + 0.2 * rng.standard_normal(60), -1, 1)
    return equivalence(scores, np.ones(60), margin=0.1).answer.value == "equivalent"


_ITEM, _JUDGE, _BOTH, _REST = 1.0, 0.3, 0.4, 0.5
"""Planted variances."""
_PARTS: Final = {"item": _ITEM, "judge": _JUDGE, "item:judge": _BOTH, "residual": _REST}
_RIGHT: Final = 0.85
_VALID, _FAILS_INVALID = 0.85, 0.7


def array_checks(*, full: bool) -> Iterator[ArrayCheck]:
    """Yield the estimators, each with its planted value; full mode adds designs that are hard for them."""
    yield from rating_checks(full=full)
    yield from _components("arrays", items=30, judges=5)
    yield _icc("2,1", items=40, judges=6)
    yield _effective("arrays", items=60, shared=0.4)
    yield _prediction_powered("arrays", prevalence=0.4, labelled=100)
    yield _failure_rate("arrays", fails=0.2, reviewed=40)
    yield _brier("arrays", items=60, trials=2, stated=(4, 2))
    yield _calibration("arrays", items=200, trials=1)
    if full:
        yield from _hard()


def _hard() -> Iterator[ArrayCheck]:
    yield from _components("12 items, 3 judges", items=12, judges=3)
    # With a sixth of the scores missing: Henderson's method 1.
    incomplete = "12 items, 4 judges, incomplete"
    yield from _components(incomplete, items=12, judges=4, missing=1 / 6, names=("item", "judge"))
    yield _icc("1,1", items=40, judges=6)
    yield _icc("3,1", items=40, judges=6)
    yield _icc("2,k", items=40, judges=6)
    for items, judges in ((10, 3), (40, 2), (120, 2)):
        yield _icc("2,1", items=items, judges=judges, where=f"{items} items, {judges} judges")
    yield _effective("15 items", items=15, shared=0.4)
    yield _effective("judges err alike", items=60, shared=0.9)
    yield _prediction_powered("20 labelled", prevalence=0.4, labelled=20)
    yield _prediction_powered("near zero", prevalence=0.03, labelled=100)
    yield _failure_rate("near zero", fails=0.02, reviewed=40)
    yield _failure_rate("10 reviewed", fails=0.2, reviewed=10)
    yield _brier("12 items, 10 trials", items=12, trials=10, stated=(4, 2))
    yield _brier("near one", items=60, trials=2, stated=(40, 1))
    yield _calibration("12 items, 10 trials", items=12, trials=10)
    for shift in (0.01, 0.03, 0.1):
        yield _overconfidence(f"overconfident by {shift}", items=200, shift=shift)
    yield from level_checks()
    yield from trio_checks()
    yield from error_checks()
    for shape in ("normal", "heavy tails", "skewed"):
        yield _mean(shape, items=100, trials=3)


def _mean(where: str, *, items: int, trials: int) -> ArrayCheck:
    """Return the mean of item effects with normal tails, Student's with 3 degrees of freedom, or the exponential's."""

    def draw(rng: np.random.Generator) -> Estimate:
        effect = {
            "normal": lambda: rng.standard_normal(items),
            "heavy tails": lambda: rng.standard_t(3, items),
            "skewed": lambda: rng.standard_exponential(items) - 1,
        }[where]()
        sums = trials * effect + 0.5 * trials**0.5 * rng.standard_normal(items)
        return clustered_mean(sums, np.full(items, trials))

    return ArrayCheck(where=f"items: {where}", name="mean", planted=0.0, draw=draw, clusters=items)


def _overconfidence(where: str, *, items: int, shift: float) -> ArrayCheck:
    """Return the calibration error of a judge that is right a fixed share less often than it says, in every bin."""

    def draw(rng: np.random.Generator) -> Estimate:
        p = 0.2 + 0.75 * rng.beta(4, 2, items)
        right = (rng.random(items) < p - shift).astype(np.float64)
        return expected_calibration_error(p, right, np.arange(items))

    # Documented as biased: the absolute differences of bins do not average to 0 by chance.
    return ArrayCheck(where=where, name="calibration error", planted=shift, draw=draw, biased=True)


def _components(
    where: str, *, items: int, judges: int, missing: float = 0.0, names: Sequence[str] = tuple(_PARTS)
) -> Iterator[ArrayCheck]:
    draw = partial(_component, items=items, judges=judges, missing=missing)
    for name in names:
        planted = 0.0 if name == "judge" else _PARTS[name]  # see `_component`
        yield ArrayCheck(where=where, name=f"variance of {name}", planted=planted, draw=draw)


def _component(rng: np.random.Generator, *, items: int, judges: int, missing: float) -> Mapping[str, Estimate]:
    """Return the components; that of judges less the variance of the judges drawn, which its interval is about."""
    item = np.sqrt(_ITEM) * rng.standard_normal((items, 1, 1))
    judge = np.sqrt(_JUDGE) * rng.standard_normal((1, judges, 1))
    both = np.sqrt(_BOTH) * rng.standard_normal((items, judges, 1))
    scores = item + judge + both + np.sqrt(_REST) * rng.standard_normal((items, judges, 2))
    named = estimate_components(scores, rng.random(scores.size) >= missing)
    # The interval is about the judges of the study, not about the population they were drawn from.
    return {**named, "variance of judge": subtract_truth(named["variance of judge"], float(judge.var(ddof=1)))}


def estimate_components(scores: NDArray[np.float64], observed: NDArray[np.bool_]) -> Mapping[str, Estimate]:
    """Return the components as estimates: only the raw estimate is unbiased; the interval is the same."""
    item, judge, _ = (place[observed] for place in np.indices(scores.shape).reshape(3, -1))
    components = variance_components(scores.ravel()[observed], {"item": item, "judge": judge})
    return {
        f"variance of {part.name}": Estimate(
            value=part.raw,
            low=part.low,
            high=part.high,
            method="cluster-bootstrap",
            flags=(*components.flags, *part.flags),
        )
        for part in components.components
    }


def _icc(form: IccForm, *, items: int, judges: int, where: str = "arrays") -> ArrayCheck:
    # Shrout and Fleiss (1979): with raters of its own per item, or for absolute agreement, the raters' variance is
    # error.
    error = {"1": _JUDGE + _BOTH, "2": _JUDGE + _BOTH, "3": _BOTH}[form[0]]
    error /= judges if form[2] == "k" else 1

    def draw(rng: np.random.Generator) -> Estimate:
        # In form 1 every item has its own raters.
        level = np.sqrt(_JUDGE) * rng.standard_normal((items if form[0] == "1" else 1, judges))
        ratings = np.sqrt(_ITEM) * rng.standard_normal((items, 1)) + level
        return icc(ratings + np.sqrt(_BOTH) * rng.standard_normal((items, judges)), form)

    return ArrayCheck(where=where, name=f"ICC({form})", planted=_ITEM / (_ITEM + error), draw=draw)


def _effective(where: str, *, items: int, shared: float) -> ArrayCheck:
    def draw(rng: np.random.Generator) -> Estimate:
        noise = np.sqrt(1 - shared) * rng.standard_normal((items, 4))
        return effective_judges(np.sqrt(shared) * rng.standard_normal((items, 1)) + noise)

    # The variance of a mean of four judges with one correlation, as a number of independent ones.
    return ArrayCheck(where=where, name="effective judges", planted=4 / (1 + 3 * shared), draw=draw)


def _prediction_powered(where: str, *, prevalence: float, labelled: int) -> ArrayCheck:
    def draw(rng: np.random.Generator) -> Estimate:
        labels = (rng.random(500 + labelled) < prevalence).astype(np.float64)
        predictions = np.where(rng.random(len(labels)) < _RIGHT, labels, 1 - labels)
        return prediction_powered_mean(labels[:labelled], predictions[:labelled], predictions[labelled:])

    return ArrayCheck(where=where, name="prediction-powered mean", planted=prevalence, draw=draw)


def _failure_rate(where: str, *, fails: float, reviewed: int) -> ArrayCheck:
    def draw(rng: np.random.Generator) -> Estimate:
        valid = rng.random(300) < _VALID
        failing = rng.random(300) < np.where(valid, fails, _FAILS_INVALID)
        # The first ones are a random sample, as the cases are drawn independently.
        failed, passed = np.flatnonzero(failing)[:reviewed], np.flatnonzero(~failing)[:reviewed]
        return corrected_failure_rate(
            clustered_proportion(failing.astype(np.float64), np.ones(300)),
            valid_failures=int(valid[failed].sum()),
            reviewed_failures=len(failed),
            valid_passes=int(valid[passed].sum()),
            reviewed_passes=len(passed),
        )

    return ArrayCheck(where=where, name="corrected failure rate", planted=fails, draw=draw)


def _brier(where: str, *, items: int, trials: int, stated: tuple[int, int]) -> ArrayCheck:
    a, b = stated

    def draw(rng: np.random.Generator) -> Estimate:
        p = rng.beta(a, b, items * trials)
        return brier_score(p, (rng.random(len(p)) < p).astype(np.float64), np.arange(len(p)) // trials)

    # E[p (1 - p)] of a beta distribution.
    return ArrayCheck(where=where, name="Brier score", planted=a * b / ((a + b) * (a + b + 1)), draw=draw)


def _calibration(where: str, *, items: int, trials: int) -> ArrayCheck:
    def draw(rng: np.random.Generator) -> Estimate:
        p = rng.beta(4, 2, items * trials)
        right = (rng.random(len(p)) < p).astype(np.float64)
        return expected_calibration_error(p, right, np.arange(len(p)) // trials)

    return ArrayCheck(where=where, name="calibration error", planted=0.0, draw=draw, biased=True)
