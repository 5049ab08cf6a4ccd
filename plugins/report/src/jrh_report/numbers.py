"""How numbers are written: the same everywhere, and never rounded to a claim they do not support."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from jrh import Measure

_VAST: Final = 1e9
"""From here on a number is written with its power of ten."""
_CENTS: Final = 0.0001
"""The smallest amount that is written."""


def number(value: float, digits: int, *, proportion: bool = True) -> str:
    """Write a number; a proportion that would round to 0 or 1 without being it is `<0.01` or `>0.99`.

    A vast one is `4.31e+50`: such ends of intervals say that next to nothing is known.
    """
    if abs(value) >= _VAST:
        return f"{value:.{digits}e}"
    step = 10.0**-digits
    if proportion and 0 < value < step / 2:
        return f"<{step:.{digits}f}"
    if proportion and 1 - step / 2 <= value < 1:
        return f">{1 - step:.{digits}f}"
    text = f"{value:.{digits}f}"
    return text[1:] if float(text) == 0 and text.startswith("-") else text


def estimable(measure: Measure) -> bool:
    """Tell whether the measure has an estimate that is a number."""
    return measure.estimate is not None and math.isfinite(measure.estimate)


def estimate(measure: Measure, digits: int) -> str:
    """Write the estimate, or `not estimable` and the flag that says why."""
    if measure.estimate is None or not math.isfinite(measure.estimate):
        reasons = [flag for flag in measure.flags if flag in ("degenerate", "all-missing", "one-item")]
        return f"not estimable ({', '.join(reasons)})" if reasons else "not estimable"
    return number(measure.estimate, digits, proportion=is_proportion(measure))


def interval(measure: Measure, digits: int) -> str:
    """Write the interval as `[low, high]`; empty where there is none."""
    found = measure.interval
    if found is None or not estimable(measure):
        return ""
    ends = (number(end, digits, proportion=is_proportion(measure)) for end in (found.low, found.high))
    return f"[{', '.join(ends)}]"


def bounds(measure: Measure, digits: int) -> str:
    """Write the best and worst case as `low to high`; empty where there are none."""
    if measure.bounds is None:
        return ""
    return " to ".join(number(end, digits, proportion=is_proportion(measure)) for end in measure.bounds)


def sizes(measure: Measure, separator: str = ", ") -> str:
    """Write what the estimate rests on: `n=60, 2 missing`."""
    missing = sum(measure.missing.values())
    return f"n={measure.n_trials}" + (f"{separator}{missing} missing" if missing else "")


def whole(measure: Measure, digits: int) -> str:
    """Write a measure on one line: `0.93 [0.88, 0.96] n=60, 2 missing`."""
    return " ".join(part for part in (estimate(measure, digits), interval(measure, digits), sizes(measure)) if part)


def counts(found: Mapping[str, int]) -> str:
    """Write counts by name, most frequent first: `timeout 2, refused 1`."""
    return ", ".join(f"{name} {count}" for name, count in sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def is_proportion(measure: Measure) -> bool:
    """Tell whether the measure's unit is a proportion."""
    return measure.unit == "proportion"


def dollars(cost: float, unknown: int, replies: int) -> str:
    """Write a cost; replies of unknown price are never counted as free."""
    if unknown and unknown >= replies:
        return "unknown"
    known = _known(cost)
    return f"at least {known} ({unknown} of unknown price)" if unknown else known


def _known(cost: float) -> str:
    if 0 < cost < _CENTS:
        return f"<${_CENTS}"
    return f"${cost:,.4f}" if cost else "$0"


def tokens(count: int, unknown: int, replies: int) -> str:
    """Write a token count; replies without a count are said."""
    if unknown and unknown >= replies:
        return "unknown"
    return f"at least {count:,}" if unknown else f"{count:,}"
