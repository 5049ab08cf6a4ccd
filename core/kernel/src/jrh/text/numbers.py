"""How numbers are written: the same everywhere, and never rounded to a claim they do not support."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from jrh.values.types import Measure

_VAST: Final = 1e9
"""From here on a number is written with its power of ten."""
_CENTS: Final = 0.0001
"""The smallest amount that is written."""
_SMALLEST_P: Final = 0.001
"""The smallest p-value that is written."""


def format_number(
    value: float, digits: int, *, proportion: bool = True, signed: bool = False, trimmed: bool = False
) -> str:
    """Write a number; what would round to 0, or a share that would round to 1, without being it is `<0.01` or `>0.99`.

    A vast one is `4.31e+50`: such ends of intervals say that next to nothing is known.

    Args:
        value: the number.
        digits: decimals.
        proportion: False for a coefficient, which is rounded to 0 and to 1 like to any other number.
        signed: write the sign of a positive number too, as of a difference.
        trimmed: leave out zeros at the end.
    """
    if abs(value) >= _VAST:
        return f"{value:.{digits}e}"
    step = 10.0**-digits
    if proportion and 0 < abs(value) < step / 2:
        return f"<{step:.{digits}f}" if value > 0 else f">-{step:.{digits}f}"
    if proportion and 1 - step / 2 <= value < 1:
        return f">{1 - step:.{digits}f}"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.rstrip("0").rstrip(".") if trimmed else text


def format_p(value: float | None) -> str:
    """Write a p-value: three decimals, `<0.001` below; `-` where there is none."""
    return "-" if value is None else "<0.001" if value < _SMALLEST_P else f"{value:.3f}"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Write a number with its noun: `1 item`, `1,680 trials`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def is_estimable(measure: Measure) -> bool:
    """Tell whether the measure has an estimate that is a number."""
    return measure.estimate is not None and math.isfinite(measure.estimate)


def format_estimate(measure: Measure, digits: int) -> str:
    """Write the estimate, or `not estimable` and the flag that says why."""
    if measure.estimate is None or not math.isfinite(measure.estimate):
        reasons = [flag for flag in measure.flags if flag in ("degenerate", "all-missing", "one-item")]
        return f"not estimable ({', '.join(reasons)})" if reasons else "not estimable"
    return format_number(measure.estimate, digits, proportion=is_proportion(measure))


def format_interval(measure: Measure, digits: int) -> str:
    """Write the interval as `[low, high]`; empty where there is none."""
    found = measure.interval
    if found is None or not is_estimable(measure):
        return ""
    ends = (format_number(end, digits, proportion=is_proportion(measure)) for end in (found.low, found.high))
    return f"[{', '.join(ends)}]"


def format_bounds(measure: Measure, digits: int) -> str:
    """Write the best and worst case as `low to high`; empty where there are none."""
    if measure.bounds is None:
        return ""
    return " to ".join(format_number(end, digits, proportion=is_proportion(measure)) for end in measure.bounds)


def format_sizes(measure: Measure, separator: str = ", ") -> str:
    """Write what the estimate rests on: `n=60, 2 missing`."""
    missing = sum(measure.missing.values())
    return f"n={measure.n_trials}" + (f"{separator}{missing} missing" if missing else "")


def format_measure(measure: Measure, digits: int) -> str:
    """Write a measure on one line: `0.93 [0.88, 0.96] n=60, 2 missing`."""
    return " ".join(
        part
        for part in (format_estimate(measure, digits), format_interval(measure, digits), format_sizes(measure))
        if part
    )


def format_counts(found: Mapping[str, int]) -> str:
    """Write counts by name, most frequent first and without those of nothing: `timeout 2, refused 1`."""
    ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ordered if count)


def is_proportion(measure: Measure) -> bool:
    """Tell whether the measure's unit is a proportion."""
    return measure.unit == "proportion"


def format_dollars(cost: float, unknown: int = 0, replies: int | None = None) -> str:
    """Write a cost; replies of unknown price are never counted as free.

    Args:
        cost: US dollars of the replies whose price is known.
        unknown: replies of unknown price.
        replies: all of them; where none has a price, the cost is `unknown`.
    """
    if unknown and replies is not None and unknown >= replies:
        return "unknown"
    known = f"<${_CENTS}" if 0 < cost < _CENTS else f"${cost:,.4f}" if cost else "$0"
    return f"at least {known} ({unknown} of unknown price)" if unknown else known


def format_tokens(count: int, unknown: int, replies: int) -> str:
    """Write a token count; replies without a count are said."""
    if unknown and unknown >= replies:
        return "unknown"
    return f"at least {count:,}" if unknown else f"{count:,}"
