"""Judge coverage, bias, false alarms and power, allowing for the Monte Carlo error of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

import numpy as np
from attrs import frozen
from jrh_stats import wilson
from numpy.typing import NDArray

LEVEL: Final = 0.95
"""Nominal coverage of the intervals."""
LOWEST: Final = 0.93
HIGHEST: Final = 0.97
"""Coverage from `LOWEST` to `HIGHEST` passes."""
ALPHA: Final = 0.05
MOST_ALARMS: Final = 0.06
"""False-alarm rate that passes."""
MANY: Final = 1000
"""From this many studies on, coverage is judged as counted; with 2,000 studies its standard error is 0.5%."""
SURE: Final = 0.999
"""Confidence required to fail a check in all other cases; high because there are many checks."""
_SIGMAS: Final = 4.0
BIAS: Final = 0.25
"""Tolerated bias in standard deviations of the estimator; it costs an interval less than 1% of coverage."""
EXCUSES: Final = frozenset(
    {"few-items", "few-events", "few-clusters", "few-labels", "conservative", "no-interval", "degenerate"}
)
"""Flags with which a measure itself reports that its interval may not cover 95%, or is missing."""


class Verdict(Enum):
    """How a check ended."""

    OK = "ok"
    FLAGGED = "flagged"
    """Coverage is too low or too high, or there is no interval, and the measure flags it in most studies."""
    FAIL = "FAIL"
    ABSENT = "not there"
    """The metric or a component of the run is not installed, or does not yield the measure."""


@frozen(kw_only=True)
class Study:
    """The estimate of one drawn study."""

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
    """95% Monte Carlo interval of the rate."""
    rate_high: float | None
    studies: int
    verdict: Verdict
    flagged: float | None = None
    """Share of the studies in which the measure raised a flag of `EXCUSES`."""
    rate_without_flag: float | None = None
    """Coverage in the other studies; None if there are none."""
    reason: str = ""


def absent(where: str, name: str, kind: str, reason: str = "") -> Finding:
    """Return the row of a missing measure."""
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

    A check fails if the coverage is below 93% or above 97% (with fewer than 1,000 studies: if its whole Monte Carlo
    interval is), if the estimates are clearly biased, or if most studies have no interval. It counts as flagged instead
    if the measure itself flags the problem in most studies; a bias is never excused.
    """
    usable = [
        study for study in studies if study.value is not None and study.low is not None and study.high is not None
    ]
    values = np.array([study.value for study in usable], dtype=np.float64)
    hits = sum(_covers(study, planted) for study in usable)
    share, flags = _flagged(studies)
    off = _bias(values, planted) if len(usable) > len(studies) / 2 else ""
    fault = f"{off}, as documented" if off and biased else off
    verdict = Verdict.FAIL if off and not biased else Verdict.OK
    if verdict is Verdict.OK:
        missed = _misses(hits, len(usable), len(studies))
        if missed:
            verdict = Verdict.FLAGGED if share > 1 / 2 else Verdict.FAIL
            fault = "; ".join(part for part in (fault, missed, f"{flags} in {share:.0%}" if flags else "") if part)
    return _row(
        where,
        name,
        planted,
        float(values.mean()) if len(values) else None,
        (hits, len(usable)),
        len(studies),
        verdict,
        fault,
        flagged=share,
        rate_without_flag=_quiet_rate(usable, planted),
    )


def _covers(study: Study, planted: float) -> bool:
    low, high = float(study.low or 0.0), float(study.high or 0.0)
    return low - 1e-9 <= planted <= high + 1e-9


def _quiet_rate(usable: Sequence[Study], planted: float) -> float | None:
    quiet = [study for study in usable if not EXCUSES & set(study.flags)]
    return sum(_covers(study, planted) for study in quiet) / len(quiet) if quiet else None


def _bias(values: NDArray[np.float64], planted: float) -> str:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    bias = abs(float(values.mean()) - planted)
    sure = bias > BIAS * deviation + _SIGMAS * deviation / len(values) ** 0.5 + 1e-9
    return f"the estimate is off by {bias:.4f}" if sure else ""


def _misses(hits: int, usable: int, studies: int) -> str:
    if usable <= studies / 2:
        return "no interval in most studies"
    if studies >= MANY:
        low = high = hits / usable
        bounds = ("", "")
    else:
        low, high = _monte_carlo(hits, usable, SURE)
        bounds = ("at most ", "at least ")
    if high < LOWEST:
        return f"the interval covers too rarely: {bounds[0]}{high:.1%}"
    return f"the interval covers too often: {bounds[1]}{low:.1%}" if low > HIGHEST else ""


def _flagged(studies: Sequence[Study]) -> tuple[float, str]:
    """Return the share of studies with a flag of `EXCUSES`, and which flags most of them have."""
    raised = [EXCUSES & set(study.flags) for study in studies]
    names = [name for name in sorted(EXCUSES) if sum(name in flags for flags in raised) > len(studies) / 4]
    return sum(bool(flags) for flags in raised) / max(len(studies), 1), ", ".join(names)


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
    flagged: float | None = None,
    rate_without_flag: float | None = None,
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
        flagged=flagged,
        rate_without_flag=rate_without_flag,
        reason=reason,
    )
