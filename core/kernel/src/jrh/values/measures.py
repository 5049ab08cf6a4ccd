"""Define what is estimated from records: measures with their intervals."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen


@frozen(kw_only=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    """The estimator, such as `wilson` or `cluster-bootstrap`."""


@frozen(kw_only=True)
class Measure:
    """An estimate with its interval, sample sizes, missing verdicts and flags."""

    name: str
    judge: str
    task: str = ""
    test: str = ""
    cell: Mapping[str, str] = Factory(dict)
    """Further factor levels, such as variant or stratum; empty for the whole test."""
    estimate: float | None
    """None if it cannot be estimated; `flags` and `note` say why."""
    interval: Interval | None = None
    unit: str = "proportion"
    n_trials: int = 0
    """Number of trials used for the estimate."""
    n_items: int = 0
    """Number of distinct items used for the estimate."""
    n_clusters: int = 0
    """Number of distinct clusters of these items: the unit of analysis."""
    missing: Mapping[str, int] = Factory(dict)
    """Trials of the cell without a usable verdict, by status; `no_reference` if the verdict to compare with is
    missing."""
    bounds: tuple[float, float] | None = None
    """The estimate if all missing verdicts were the worst possible, and if all were the best possible."""
    flags: tuple[str, ...] = ()
    """`degenerate`, `underpowered`, `constant-gold`, `simulated`, `all-missing`, ..."""
    note: str = ""
    margin: float | None = None
    """The margin that an equivalence was tested with; None for other measures."""
