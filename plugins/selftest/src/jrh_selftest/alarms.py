"""Check the tests of `jrh_stats` with and without an effect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jrh_stats import Significance, equivalence, mcnemar_exact, sign_flip_test

from jrh_selftest.checks import ArrayAlarm

_ALPHA = 0.05


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
    only_first, only_second, _ = rng.multinomial(100, [first, second, 1 - first - second])
    return _alarm(mcnemar_exact(int(only_first), int(only_second)))


def _signs(rng: np.random.Generator, mean: float) -> bool:
    return _alarm(sign_flip_test(rng.standard_normal(40) + mean, resamples=400, seed=int(rng.integers(2**31))))


def _alarm(found: Significance) -> bool:
    return found.p is not None and found.p <= _ALPHA


def _equivalent(rng: np.random.Generator, difference: float) -> bool:
    # Differences of scores from 0 to 1; clipping is more than four standard deviations away.
    scores = np.clip(difference + 0.2 * rng.standard_normal(60), -1, 1)
    return equivalence(scores, np.ones(60), margin=0.1).answer.value == "equivalent"
