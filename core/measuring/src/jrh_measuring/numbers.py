"""Format numbers consistently, and never round them to a stronger claim (0.999 is not shown as 1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jrh import Interval, Measure, RunReport, Status
from jrh.text import count_noun

P_VALUE: Final = "p-value"
"""Unit of a measure that is a p-value."""
_DIFFERENCES: Final = ("difference", "difference in levels")
"""Units of differences, which are written with their sign."""
_VAST: Final = 1e9
"""Numbers from here on are written in scientific notation."""
_MORE: Final = 3
"""Further digits that a number may take to show that it is not 0."""
_SMALLEST_P: Final = 0.001
"""Smaller p-values are written as `<`."""
_STATUSES: Final = frozenset(status.value for status in Status)


def format_number(
    value: float,
    digits: int,
    *,
    proportion: bool = True,
    signed: bool = False,
    trimmed: bool = False,
    nonzero: bool | None = None,
) -> str:
    """Format a number; a share that would round to 0 is `<0.01`, one that would round to 1 is `>0.99`.

    A vast one is `4.31e+50`: such ends of intervals say that next to nothing is known.

    Args:
        value: the number.
        digits: decimals.
        proportion: False for a coefficient, which may round to 0 and 1.
        signed: also write the sign of positive numbers, as for differences.
        trimmed: drop trailing zeros.
        nonzero: never write a number that is not 0 as 0; by default so for proportions. A proportion is `<0.01`, any
            other number gets more decimals, since `>-0.01` puzzles readers.
    """
    if abs(value) >= _VAST:
        return f"{value:.{digits}e}"
    nonzero = proportion if nonzero is None else nonzero
    if nonzero and not proportion and value:
        # `>-0.01` is precise and puzzles readers: a coefficient shows its first digit that is not 0.
        digits = next((more for more in range(digits, digits + _MORE) if float(f"{value:.{more}f}")), digits + _MORE)
    step = 10.0**-digits
    if nonzero and float(f"{value:.{digits}f}") == 0 != value:
        return f"<{step:.{digits}f}" if value > 0 else f">-{step:.{digits}f}"
    # 0.999 of the verdicts is not all of them: 1.00 reads as a judge without any error.
    if proportion and 1 - step / 2 <= value < 1:
        return f">{1 - step:.{digits}f}"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if float(text) == 0:  # no -0.00
        text = text.lstrip("+-")
    return text.rstrip("0").rstrip(".") if trimmed else text


def format_p(value: float | None) -> str:
    """Format a p-value: three decimals, `<0.001` below, `-` if there is none."""
    return "-" if value is None else "<0.001" if value < _SMALLEST_P else f"{value:.3f}"


def state_p(value: float | None) -> str:
    """State a p-value: `p = 0.031`, `p < 0.001`, `-` if there is none."""
    return "-" if value is None else f"p = {format_p(value)}".replace("= <", "< ")


def format_items(measure: Measure) -> str:
    """Write what a measure rests on: `60 items`, or `60 items in 6 clusters` where items share clusters."""
    items = count_noun(measure.n_items, "item")
    shared = 0 < measure.n_clusters < measure.n_items
    return f"{items} in {count_noun(measure.n_clusters, 'cluster')}" if shared else items


def is_estimable(measure: Measure) -> bool:
    """Return whether the measure has a finite estimate."""
    return measure.estimate is not None and math.isfinite(measure.estimate)


def format_estimate(measure: Measure, digits: int) -> str:
    """Format the estimate: a difference with its sign, a p-value as `p = 0.031`.

    Without an estimate it is `not estimable`, with the flag that says why.
    """
    if measure.estimate is None or not math.isfinite(measure.estimate):
        reasons = [flag for flag in measure.flags if flag in ("degenerate", "all-missing", "one-item")]
        return f"not estimable ({', '.join(reasons)})" if reasons else "not estimable"
    if measure.unit == P_VALUE:
        return state_p(measure.estimate)
    signed = measure.unit in _DIFFERENCES
    return format_number(measure.estimate, digits, proportion=is_proportion(measure), signed=signed)


def format_interval(measure: Measure, digits: int) -> str:
    """Format the interval as `[low, high]`; empty if there is none.

    Where the missing verdicts widen it, both are written: `[0.74, 0.89], missing at worst [0.24, 0.91]`.
    """
    if measure.interval is None or not is_estimable(measure):
        return ""
    ends = (measure.observed or measure.interval, measure.interval)
    observed, interval = (format_ends(each, digits, proportion=is_proportion(measure)) for each in ends)
    return interval if observed == interval else f"{observed}, missing at worst {interval}"


def format_figure(measure: Measure, digits: int) -> str:
    """Format the estimate with its interval: `0.93 [0.88, 0.96]`."""
    return f"{format_estimate(measure, digits)} {format_interval(measure, digits)}".strip()


def format_ends(interval: Interval, digits: int, *, proportion: bool = False) -> str:
    """Format the ends of an interval as `[low, high]`; rounding never makes an interval without 0 seem to contain it.

    Args:
        interval: the interval.
        digits: decimals.
        proportion: whether its ends are proportions.
    """
    # An interval that holds 0 may end in a plain 0; one that does not would seem to hold it.
    nonzero = proportion or interval.low > 0 or interval.high < 0
    low, high = (
        format_number(end, digits, proportion=proportion, nonzero=nonzero) for end in (interval.low, interval.high)
    )
    return f"[{low}, {high}]"


def format_bounds(measure: Measure, digits: int) -> str:
    """Format the worst and best case as `low to high`; empty if there are none."""
    if measure.bounds is None:
        return ""
    return " to ".join(format_number(end, digits, proportion=is_proportion(measure)) for end in measure.bounds)


def format_sizes(measure: Measure, separator: str = ", ") -> str:
    """Format the items behind the estimate, and the verdicts that are missing: `n=60, 2 verdicts missing`."""
    return separator.join(filter(None, (f"n={measure.n_items}", format_missing(measure))))


def format_basis(measure: Measure) -> str:
    """Write what an estimate rests on: `30 items in 6 clusters, 2 verdicts missing`."""
    return ", ".join(filter(None, (format_items(measure), format_missing(measure))))


def format_missing(measure: Measure) -> str:
    """Write how many verdicts an estimate lacks: `2 verdicts missing`; empty if it lacks none."""
    missing = sum(measure.missing.values())
    if not missing or not _STATUSES.isdisjoint(measure.missing):
        return f"{count_noun(missing, 'verdict')} missing" if missing else ""
    # Counted by reasons of the metric's own, such as a rationale that cannot be read: verdicts may be there.
    return f"{missing:,} missing ({', '.join(measure.missing).replace('_', ' ')})"


def format_measure(measure: Measure, digits: int) -> str:
    """Format a measure on one line: `0.93 [0.88, 0.96] n=60, 2 verdicts missing`."""
    parts = (format_estimate(measure, digits), format_interval(measure, digits), format_sizes(measure))
    return " ".join(filter(None, parts))


def format_counts(found: Mapping[str, int]) -> str:
    """Format counts by name, most frequent first, without zeros: `timeout 2, refused 1`."""
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered if count)


def round_up(number: int) -> int:
    """Round a number of items up to two significant digits: a plan is not known any better."""
    step: int = 10 ** max(len(str(number - 1)) - 2, 0)
    return -(-number // step) * step


def is_proportion(measure: Measure) -> bool:
    """Return whether the measure's unit is a proportion."""
    return measure.unit == "proportion"


def format_tokens(count: int, unknown: int, replies: int) -> str:
    """Format a token count; `at least` if some replies have no count."""
    if unknown and unknown >= replies:
        return "unknown"
    return f"at least {count:,}" if unknown else f"{count:,}"


MEASURE_COLUMNS: Final = (
    "measure", "judge", "simulated", "task", "test", "cell", "estimate", "low", "high", "level", "method", "unit",
    "trials", "items", "clusters", "missing", "missing_by_status", "worst", "best", "margin", "flags", "note",
)  # fmt: skip
"""Columns of a table that holds everything a measure rests on."""


def measure_rows(report: RunReport) -> Iterator[dict[str, Any]]:
    """Yield `MEASURE_COLUMNS` of every measure as plain values; what is not known is None, never NaN."""
    for measure in report.measures:
        interval = measure.interval
        ends = (interval.low, interval.high) if interval else (None, None)
        values = (
            *(measure.name, measure.judge, measure.judge in report.simulated, measure.task, measure.test),
            *(_join_pairs(measure.cell), *map(_finite, (measure.estimate, *ends))),
            *((interval.level, interval.method) if interval else (None, "")),
            *(measure.unit, measure.n_trials, measure.n_items, measure.n_clusters),
            *(sum(measure.missing.values()), _join_pairs(measure.missing)),
            *map(_finite, (*(measure.bounds or (None, None)), measure.margin)),
            *(", ".join(measure.flags), measure.note),
        )
        yield dict(zip(MEASURE_COLUMNS, values, strict=True))


def _join_pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items())


def _finite(value: float | None) -> float | None:
    # NaN and infinity are no JSON.
    return value if value is not None and math.isfinite(value) else None
