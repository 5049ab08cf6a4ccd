"""Judge coverage, one-sided errors, width, bias, false alarms and power, allowing for Monte Carlo error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np
from attrs import evolve, frozen
from jrh_stats import binomial_limits, wilson
from jrh_stats.score_intervals import t_quantile
from numpy.typing import NDArray

from jrh_selftest.findings import Finding, Study, Verdict

LEVEL: Final = 0.95
"""Nominal coverage of the intervals."""
LOWEST: Final = 0.93
HIGHEST: Final = 0.97
"""Coverage from `LOWEST` to `HIGHEST` passes."""
LIMITS: Final = ("clopper-pearson", "korn-graubard")
"""Methods whose ends are one-sided limits: neither may err more often than stated, so that near 0 and 1 both together
cover more."""
ONE_SIDED: Final = 0.035
"""Share of the intervals that may miss the planted value on one side; nominal 0.025."""
WIDEST: Final = 1.15
"""Mean width that passes in designs with repeats, in widths of the narrowest interval."""
ALPHA: Final = 0.05
"""Nominal size of the tests."""
# Standard error of a coverage of 95% from 1,000 studies: 0.7%, a third of the distance to a limit.
MANY: Final = 1000
"""From this many studies on, coverage is judged as counted."""
SURE: Final = 0.98
"""With so many, everything else fails where its Monte Carlo interval at this level is outside: 1% on each side."""
VERY_SURE: Final = 0.999
"""The same with fewer studies, and for biases and sizes; high because there are many checks."""
RARE: Final = 0.1
"""Share of unflagged studies up to which a row is judged by how often a study is wrong without a flag."""
CLOSE: Final = 0.68
"""A row whose Monte Carlo interval at this level touches a limit gets more studies."""
# There are hundreds of rows: at two standard errors, a few percent of them would fail by chance.
_SIGMAS: Final = 4.0
BIAS: Final = 0.25
"""Tolerated bias in standard deviations of the estimator; it costs an interval less than 1% of coverage."""
EXCUSES: Final = frozenset(
    {
        *("few-items", "few-events", "few-clusters", "few-labels", "few-levels", "conservative", "no-interval"),
        *("degenerate", "one-item", "informative-missing", "unstable-choice"),
    }
)
"""Flags with which a measure itself reports that its interval may not cover 95%, or is missing."""


class _Grade(IntEnum):
    FINE = 0
    UNCLEAR = 1
    OUTSIDE = 2


@frozen(kw_only=True)
class _Fault:
    grade: _Grade
    text: str
    close: bool = False
    """More studies may change the grade."""


@frozen(kw_only=True)
class Limits:
    """What a row is judged by, in addition to its coverage."""

    biased: bool = False
    """The estimator is documented as biased."""
    clusters: int | None = None
    """Independent items, where the width is judged."""
    whole: bool = False
    """Whether flags follow from the data and not from the design: then all intervals have to cover, flagged or not."""


def judge_interval(where: str, name: str, planted: float, studies: Sequence[Study], limits: Limits) -> Finding:
    """Compare the estimates of many studies with the planted value.

    Judged are the studies without a flag of `EXCUSES`: coverage within 93 to 97%, at most 3.5% of the intervals wholly
    on either side of the planted value, and in designs with repeats a mean width of at most 1.15 times the narrowest.
    More coverage is no fault where the width is at most that, or the ends are one-sided limits. A study with a flag, or
    without an estimate, tells so itself. A clear bias over all studies is never excused.

    A flag that depends on the data selects studies by chance, and no interval covers as often among those selected (see
    docs/statistics.md). Two verdicts allow for that: `selected` and `too few`. None of them, nor `flagged`, excuses
    intervals that cover too rarely over all studies, where the flag follows from the data (`Limits.whole`).
    """
    sample = _Sample.of(studies)
    values = np.array([study.value for study in sample.usable], dtype=np.float64)
    # Few intervals are a selection of studies, whose estimates say nothing about bias.
    off = _bias(values, planted) if len(sample.usable) > len(studies) / 2 else ""
    faults = [fault for fault in _interval_faults(planted, sample, limits) if fault.grade]
    silent = [study for study in studies if _is_silent(study)]
    if sum(study.value is None for study in studies) > len(studies) / 2:
        # Where most studies have no estimate, it is these that must say why.
        silent = [study for study in studies if study.low is None and not EXCUSES & set(study.flags)]
    own_faults = []
    if off and not limits.biased:
        own_faults.append(_Fault(grade=_Grade.OUTSIDE, text=off))
    if len(silent) > len(studies) / 100:
        share = len(silent) / len(studies)
        own_faults.append(_Fault(grade=_Grade.OUTSIDE, text=f"no interval and no flag in {share:.0%} of the studies"))
    hits = sum(_covers(study, planted) for study in sample.usable)
    flagged = 1 - len(sample.quiet) / max(len(studies), 1)
    verdict, texts = _verdict([*faults, *own_faults]), [fault.text for fault in (*faults, *own_faults)]
    # A bias, or an interval that is missing silently, is no matter of selection and is never excused.
    if verdict in (Verdict.FAIL, Verdict.UNCLEAR) and not own_faults:
        other, excuses = _excuse(planted, sample, limits)
        verdict, texts = (verdict, texts) if other is Verdict.FAIL else (other, [*texts, *excuses])
    texts += [f"{off}, as documented"] if off and limits.biased else []
    outside = not sample.usable or _grade(hits, len(sample.usable), LOWEST, HIGHEST, len(studies)) is _Grade.OUTSIDE
    if verdict is Verdict.OK and outside and flagged:
        verdict = Verdict.FLAGGED
        texts.append(f"{_flags(studies)} in {flagged:.0%}")
    low = _grade(hits, len(sample.usable), LOWEST, 1.0, len(studies)) if limits.whole and sample.usable else _Grade.FINE
    # Flags that follow from the data do not excuse that all intervals together cover too rarely.
    if low and verdict is not Verdict.FAIL:
        verdict = Verdict.FAIL if low is _Grade.OUTSIDE else Verdict.UNCLEAR
        texts.append(f"covers too rarely over all studies: {hits / len(sample.usable):.1%}")
    below, above = _sides(sample.quiet, planted)
    return Finding(
        where=where, name=name, kind="interval", planted=planted, studies=len(studies), verdict=verdict,
        reason="; ".join(texts), **_rates(hits, len(sample.usable)),
        estimated=float(values.mean()) if len(values) else None, nominal=LEVEL, flagged=flagged,
        rate_without_flag=1 - (below + above) / len(sample.quiet) if sample.quiet else None,
        without_flag=len(sample.quiet), too_low=below / len(sample.quiet) if sample.quiet else None,
        too_high=above / len(sample.quiet) if sample.quiet else None, width=_width(sample.usable, limits.clusters),
        width_judged=_judges_width(sample, limits),
    )  # fmt: skip


@frozen(kw_only=True, eq=False)
class _Sample:
    """The studies of a row: those with an interval, and those of them without a flag."""

    usable: Sequence[Study]
    quiet: Sequence[Study]
    """Those that are judged."""
    unflagged: int
    number: int

    @classmethod
    def of(cls, studies: Sequence[Study]) -> _Sample:
        usable = [
            study for study in studies if study.value is not None and study.low is not None and study.high is not None
        ]
        quiet = [study for study in usable if not EXCUSES & set(study.flags)]
        return cls(usable=usable, quiet=quiet, unflagged=len(quiet), number=len(studies))


def _is_silent(study: Study) -> bool:
    """Tell whether a study has an estimate, no interval, and no flag: without an estimate it says that it has none."""
    return study.value is not None and (study.low is None or study.high is None) and not EXCUSES & set(study.flags)


def _excuse(planted: float, sample: _Sample, limits: Limits) -> tuple[Verdict, list[str]]:
    """Judge a row whose unflagged studies are outside the limits, allowing for what the flags select.

    `too few`: at most a tenth of the studies are unflagged, and of all studies at most 5% are wrong without a flag,
    3.5% on a side. `selected`: the intervals of all studies are within the limits, so that without any flag the row
    would pass, and the unflagged ones do not miss in more than 2.5% on both sides: selecting by the estimate moves it
    to one side, whereas intervals that are too short miss on both.
    """
    n = len(sample.quiet)
    sides = _sides(sample.quiet, planted)
    # Of a few percent unflagged studies, the share that misses is mostly chance and selection.
    if n <= RARE * sample.number:
        text = f"wrong without a flag in {sum(sides) / sample.number:.1%} of all studies"
        limits_of = ((sum(sides), 1 - LEVEL), *((side, ONE_SIDED) for side in sides))
        wrong = max(_grade(count, sample.number, 0.0, most, sample.number, counted=False) for count, most in limits_of)
        if wrong is not _Grade.OUTSIDE:
            return (Verdict.FEW if wrong is _Grade.FINE else Verdict.UNCLEAR), [text]
    # The same rules as if there were no flags.
    every = evolve(sample, quiet=sample.usable)
    worst = max((fault.grade for fault in _interval_faults(planted, every, limits)), default=_Grade.FINE)
    side_grades = [_grade(missed, n, 0.0, (1 - LEVEL) / 2, sample.number, counted=n >= MANY) for missed in sides]
    if min(side_grades) is _Grade.OUTSIDE or worst is _Grade.OUTSIDE:
        return Verdict.FAIL, []
    covered = sum(_covers(study, planted) for study in sample.usable) / len(sample.usable)
    return (Verdict.SELECTED if worst is _Grade.FINE else Verdict.UNCLEAR), [f"{covered:.1%} over all studies"]


def verdict_may_change(planted: float, studies: Sequence[Study], limits: Limits) -> bool:
    """Return whether more studies may change how an interval is judged."""
    sample = _Sample.of(studies)
    every = list(_interval_faults(planted, evolve(sample, quiet=sample.usable), limits))
    if not any(fault.close or fault.grade for fault in every):
        return False  # it stays `ok` or `selected`
    return any(fault.close for fault in (*every, *_interval_faults(planted, sample, limits)))


def _interval_faults(planted: float, sample: _Sample, limits: Limits) -> Iterator[_Fault]:
    quiet, studies = sample.quiet, sample.number
    width = _width(sample.usable, limits.clusters)
    if not quiet:
        return
    n = len(quiet)
    below, above = _sides(quiet, planted)
    covered = n - below - above
    # Covering more than stated costs a reader nothing if the interval is not wider than needed.
    limits_alone = all(study.method.startswith(LIMITS) for study in quiet)
    narrow = covered / n > HIGHEST and (limits_alone or (width is not None and width <= WIDEST))
    grade = _Grade.FINE if narrow else _grade(covered, n, LOWEST, HIGHEST, studies)
    close = _touches(covered, n, LOWEST) or (_touches(covered, n, HIGHEST) and not (width and width <= WIDEST))
    word = "rarely" if covered / n < LOWEST else "often"
    yield _Fault(grade=grade, text=f"covers too {word}: {covered / n:.1%} of {n} unflagged", close=close)
    for side, missed in (("below", below), ("above", above)):
        grade = _grade(missed, n, 0.0, ONE_SIDED, studies, counted=False)
        text = f"{missed / n:.1%} of {n} unflagged intervals are {side} the planted value"
        yield _Fault(grade=grade, text=text, close=_touches(missed, n, ONE_SIDED))
    if width is not None and _judges_width(sample, limits):
        error = width / (2 * studies) ** 0.5  # of a standard deviation, the scores being near normal
        close = abs(width - WIDEST) < error
        # Infinitely many degrees of freedom: the normal quantile.
        z = float(t_quantile(SURE if studies >= MANY else VERY_SURE, 1e9))
        unclear = _Grade.UNCLEAR if studies >= MANY else _Grade.FINE
        grade = _Grade.FINE if width <= WIDEST else _Grade.OUTSIDE if width - z * error > WIDEST else unclear
        yield _Fault(grade=grade, text=f"{width:.2f} times as wide as the narrowest", close=close)


def _judges_width(sample: _Sample, limits: Limits) -> bool:
    return bool(limits.clusters) and sample.unflagged > sample.number / 2


def _grade(hits: int, n: int, lowest: float, highest: float, studies: int, *, counted: bool = True) -> _Grade:
    # Rates are ratios of counts: 0.93 itself must not fail by rounding.
    if lowest - 1e-9 <= hits / n <= highest + 1e-9:
        return _Grade.FINE
    low, high = _exact(hits, n, SURE if studies >= MANY else VERY_SURE)
    if low > highest or high < lowest or (counted and n >= MANY):
        return _Grade.OUTSIDE
    return _Grade.UNCLEAR if studies >= MANY else _Grade.FINE


def _exact(hits: int, n: int, level: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval: of few unflagged studies no approximation would do."""
    return binomial_limits(hits, n, alpha=(1 - level) / 2)


def _touches(hits: int, n: int, limit: float) -> bool:
    low, high = _monte_carlo(hits, n, CLOSE)
    return low <= limit <= high


def _verdict(faults: Sequence[_Fault]) -> Verdict:
    worst = max((fault.grade for fault in faults), default=_Grade.FINE)
    return {_Grade.FINE: Verdict.OK, _Grade.UNCLEAR: Verdict.UNCLEAR, _Grade.OUTSIDE: Verdict.FAIL}[worst]


def _covers(study: Study, planted: float) -> bool:
    low, high = float(study.low or 0.0), float(study.high or 0.0)
    # Degenerate intervals, such as [1, 1] where all agree, cover their value in spite of rounding.
    return low - 1e-9 <= planted <= high + 1e-9


def _sides(studies: Sequence[Study], planted: float) -> tuple[int, int]:
    """Return how many intervals are wholly below the planted value, and how many wholly above it."""
    missed = [study for study in studies if not _covers(study, planted)]
    # What misses and is not wholly below is wholly above.
    below = sum(float(study.high or 0.0) < planted for study in missed)
    return below, len(missed) - below


def _bias(values: NDArray[np.float64], planted: float) -> str:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    bias = abs(float(values.mean()) - planted)
    sure = bias > BIAS * deviation + _SIGMAS * deviation / len(values) ** 0.5 + 1e-9
    return f"the estimate is off by {bias:.4f}" if sure else ""


def _width(usable: Sequence[Study], clusters: int | None) -> float | None:
    """Return the mean width divided by that of the narrowest interval, 2 t s.

    s is the standard deviation of the estimates over the studies, which an interval has to estimate from one; t is
    Student's with clusters - 1 degrees of freedom, or normal where there is no number of clusters.
    """
    deviation = float(np.std([float(study.value or 0.0) for study in usable], ddof=1)) if len(usable) > 1 else 0.0
    # Where every study gives the same estimate there is no narrowest interval to compare with.
    if deviation < 1e-12:  # noqa: PLR2004 - identical values
        return None
    quantile = t_quantile(LEVEL, clusters - 1 if clusters and clusters > 1 else 1e9)
    mean = float(np.mean([float(study.high or 0.0) - float(study.low or 0.0) for study in usable]))
    return mean / (2 * quantile * deviation)


def _flags(studies: Sequence[Study]) -> str:
    """Return the flags of `EXCUSES` that most of the flagged studies have."""
    raised = [EXCUSES & set(study.flags) for study in studies]
    names = [name for name in sorted(EXCUSES) if sum(name in flags for flags in raised) > len(studies) / 4]
    return ", ".join(names) or "several flags"


def judge_alarms(
    where: str, name: str, alarms: Sequence[bool], least_power: float | None, limit: float = ALPHA
) -> Finding:
    """Compare the share of alarms with the false-alarm rate a test promises, or the power it should have.

    A size fails where its Monte Carlo interval (99.9%) is above the limit, a power where it is below the least.
    """
    hits, n = sum(alarms), len(alarms)
    low, high = _exact(hits, n, VERY_SURE)
    verdict, reason = Verdict.OK, ""
    if least_power is not None and high < least_power:
        verdict, reason = Verdict.FAIL, f"power at most {high:.1%}"
    elif least_power is None and _exact(hits, n, SURE if n >= MANY else VERY_SURE)[0] > limit:
        verdict = Verdict.FAIL if low > limit else Verdict.UNCLEAR
        reason = f"false alarms in {hits / n:.1%}, limit {limit:.1%}"
    return Finding(
        where=where,
        name=name,
        kind="false alarms" if least_power is None else "power",
        nominal=limit if least_power is None else None,
        least=least_power,
        studies=n,
        verdict=verdict,
        reason=reason,
        **_rates(hits, n),
    )


def surely_right(alarms: Sequence[bool], least_power: float | None, limit: float = ALPHA) -> bool:
    """Tell whether the Monte Carlo interval (99.9%) of a size or power is wholly within the limit."""
    low, high = _exact(sum(alarms), len(alarms), VERY_SURE)
    return high <= limit if least_power is None else low >= least_power


def alarms_may_change(alarms: Sequence[bool], least_power: float | None, limit: float = ALPHA) -> bool:
    """Return whether more studies may change how a size or power is judged."""
    hits, n = sum(alarms), len(alarms)
    low, high = _monte_carlo(hits, n, SURE)
    if least_power is not None:
        return low <= least_power <= high
    # A size that is not above its limit passes, however many studies are drawn.
    return hits / n > limit and _exact(hits, n, VERY_SURE)[0] <= limit


def _monte_carlo(hits: int, n: int, level: float) -> tuple[float, float]:
    low, high = wilson(hits, n, level=level)
    return float(low), float(high)


def _rates(hits: int, n: int) -> dict[str, Any]:
    """Return a rate with its Monte Carlo interval, as fields of a finding."""
    low, high = _monte_carlo(hits, n, LEVEL) if n else (None, None)
    return {"rate": hits / n if n else None, "rate_low": low, "rate_high": high}
