"""What a check found: coverage, bias, false alarms, power, each with the error of the simulation itself."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

import numpy as np
from attrs import frozen
from jrh.stats import wilson
from numpy.typing import NDArray

LEVEL: Final = 0.95
"""Coverage that intervals claim."""
LOWEST: Final = 0.93
"""Coverage that passes; more than `HIGHEST` is wide, which is no mistake."""
HIGHEST: Final = 0.97
ALPHA: Final = 0.05
MOST_ALARMS: Final = 0.06
"""False-alarm rate that passes."""
SURE: Final = 0.999
"""A check fails only where the simulation is as sure as that: there are many checks."""
_SIGMAS: Final = 4.0
BIAS: Final = 0.25
"""Bias that passes, in standard deviations of the estimator: it costs an interval less than 1 % of coverage."""
EXCUSES: Final = frozenset({"few-items", "few-clusters", "few-labels", "few-missing", "reference-floor"})
"""Flags by which a measure says itself that its interval may be too short."""


class Verdict(Enum):
    """How a check ended."""

    OK = "ok"
    WIDE = "wide"
    """The interval covers more often than it says."""
    FLAGGED = "flagged"
    """The interval is too short, and the measure says so."""
    FAIL = "FAIL"
    ABSENT = "not there"
    """The metric, or a component of the run, is not installed, or does not yield the measure."""


@frozen(kw_only=True)
class Study:
    """One drawn study: what was estimated in it."""

    value: float | None
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()


@frozen(kw_only=True)
class Finding:
    """One row of the table."""

    where: str
    name: str
    kind: str
    """`interval`, `false alarms`, `power` or `run`."""
    planted: float | None
    estimated: float | None
    rate: float | None
    """Coverage, false-alarm rate or power."""
    rate_low: float | None
    """Monte-Carlo interval of the rate, at 95 %."""
    rate_high: float | None
    studies: int
    verdict: Verdict
    reason: str = ""


def absent(where: str, name: str, kind: str, reason: str = "") -> Finding:
    """Return the row of a measure that is not there."""
    return Finding(
        where=where,
        name=name,
        kind=kind,
        planted=None,
        estimated=None,
        rate=None,
        rate_low=None,
        rate_high=None,
        studies=0,
        verdict=Verdict.ABSENT,
        reason=reason,
    )


def judge_interval(where: str, name: str, planted: float, studies: Sequence[Study], *, biased: bool = False) -> Finding:
    """Compare the estimates of many studies with the planted value.

    A check fails where the coverage is below 93 % for sure, the estimates are biased for sure, or most studies have no
    estimate.
    """
    usable = [
        study for study in studies if study.value is not None and study.low is not None and study.high is not None
    ]
    if len(usable) <= len(studies) / 2:
        return _row(where, name, planted, None, (0, 0), len(studies), Verdict.FAIL, "no estimate in most studies")
    values = np.array([study.value for study in usable], dtype=np.float64)
    hits = sum(_covers(study, planted) for study in usable)
    verdict, reason = _judged(values, hits, planted, biased=biased)
    if verdict is Verdict.FAIL and _excused(usable):
        verdict = Verdict.FLAGGED
    return _row(where, name, planted, float(values.mean()), (hits, len(usable)), len(studies), verdict, reason)


def _covers(study: Study, planted: float) -> bool:
    low, high = float(study.low or 0.0), float(study.high or 0.0)
    return low - 1e-9 <= planted <= high + 1e-9


def _judged(values: NDArray[np.float64], hits: int, planted: float, *, biased: bool) -> tuple[Verdict, str]:
    low, high = _monte_carlo(hits, len(values), SURE)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    bias = abs(float(values.mean()) - planted)
    if high < LOWEST:
        return Verdict.FAIL, f"the interval covers too rarely: at most {high:.1%}"
    if not biased and bias > BIAS * deviation + _SIGMAS * deviation / len(values) ** 0.5 + 1e-9:
        return Verdict.FAIL, f"the estimate is off by {bias:.4f}"
    return (Verdict.WIDE, "") if low > HIGHEST else (Verdict.OK, "")


def _excused(studies: Sequence[Study]) -> bool:
    flagged = sum(bool(EXCUSES & set(study.flags)) for study in studies)
    return flagged > len(studies) / 2


def judge_alarms(where: str, name: str, alarms: Sequence[bool], least_power: float | None) -> Finding:
    """Compare the share of alarms with the false-alarm rate a test promises, or the power it should have."""
    hits, n = sum(alarms), len(alarms)
    low, high = _monte_carlo(hits, n, SURE)
    if least_power is None:
        verdict = Verdict.FAIL if low > MOST_ALARMS else Verdict.OK
        reason = f"false alarms in at least {low:.1%}" if verdict is Verdict.FAIL else ""
        return _row(where, name, ALPHA, None, (hits, n), n, verdict, reason, kind="false alarms")
    verdict = Verdict.FAIL if high < least_power else Verdict.OK
    reason = f"power at most {high:.1%}" if verdict is Verdict.FAIL else ""
    return _row(where, name, least_power, None, (hits, n), n, verdict, reason, kind="power")


def _monte_carlo(hits: int, n: int, level: float) -> tuple[float, float]:
    low, high = wilson(hits, n, level=level)
    return float(low), float(high)


def _row(
    where: str,
    name: str,
    planted: float,
    estimated: float | None,
    rate: tuple[int, int],
    studies: int,
    verdict: Verdict,
    reason: str,
    *,
    kind: str = "interval",
) -> Finding:
    hits, n = rate
    low, high = _monte_carlo(hits, n, LEVEL) if n else (None, None)
    return Finding(
        where=where,
        name=name,
        kind=kind,
        planted=planted,
        estimated=estimated,
        rate=hits / n if n else None,
        rate_low=low,
        rate_high=high,
        studies=studies,
        verdict=verdict,
        reason=reason,
    )
