"""Hold what an estimator returns."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Estimate:
    """An estimate, its interval, and the data behind both."""

    value: float | None
    """The point estimate; None where it is undefined; `flags` says why."""
    low: float | None = None
    """Lower end of the interval, in the unit of the value; None where there is no interval."""
    high: float | None = None
    """Upper end of the interval."""
    method: str = ""
    """The interval's estimator, such as `clopper-pearson`; empty without an interval."""
    n: float = 0.0
    """Observations, or their total weight."""
    clusters: int = 0
    """Distinct clusters: the unit of analysis."""
    flags: tuple[str, ...] = ()
    """`empty`: nothing was observed; `degenerate`: the formula divides by zero on these data."""


def enclose(
    value: float, low: float, high: float, *, method: str, n: float, clusters: int, flags: tuple[str, ...] = ()
) -> Estimate:
    """Return an estimate whose interval contains it, whatever an approximation or a rounding made of its ends."""
    # Not an error: at a proportion of 1, for one, the upper end may be 1 less one rounding.
    return Estimate(
        value=value, low=min(low, value), high=max(high, value), method=method, n=n, clusters=clusters, flags=flags
    )
