"""Define what is estimated from records: measures with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import Factory, frozen


@frozen(kw_only=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    """The estimator, such as `clopper-pearson` or `korn-graubard`."""


@frozen(kw_only=True)
class Curve:
    """How reports plot measures against a level of their cells, and a line that was fitted to them.

    The points are the measures `of` of the same judge, task and test whose cell holds the cell of the measure that
    carries the curve, and the level `over`.
    """

    of: str
    """Name of the measures that are the points."""
    over: str
    """The level of their cells that is the horizontal axis: numbers, written as text."""
    label: str
    """What the horizontal axis shows, with its unit."""
    points: str
    """What the points are."""
    logarithmic: bool = False
    line: tuple[tuple[float, float], ...] = ()
    """The fitted line, from left to right; empty: the points are joined."""
    height: float | None = None
    """Where the measure that carries the curve is drawn if it is a value of the horizontal axis; None: it is not."""


class FlagEffect(Enum):
    """What a flag does to a claim that rests on a flagged measure."""

    NOTHING = "nothing"
    """It explains the number."""
    WEAKENS = "weakens"
    """The claim is made as a warning at most, and names the flag."""
    FORBIDS = "forbids"
    """The interval may cover less than it says: no equivalence is claimed, and no gate rule decided."""


@frozen(kw_only=True)
class Flag:
    """A reason to doubt a number, and what it does to a claim."""

    name: str
    meaning: str
    """What is wrong and how much to care, in one sentence that ends with a full stop."""
    effect: FlagEffect = FlagEffect.NOTHING
    settled_by: tuple[str, ...] = ()
    """Methods of intervals, or their beginnings, that hold in spite of the flag: it forbids nothing there."""

    def forbids(self, interval: Interval | None) -> bool:
        """Return whether the flag forbids a decision by an interval."""
        method = "" if interval is None else interval.method
        # Some methods allow for what the flag warns of, such as exact intervals for few events.
        return self.effect is FlagEffect.FORBIDS and not (self.settled_by and method.startswith(self.settled_by))


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
    observed: Interval | None = None
    """The interval of the verdicts that are there, where `interval` allows for any missing ones; None elsewhere."""
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
    metric: str = ""
    """The suite's name of the metric that built it; jrh writes it."""
    curve: Curve | None = None
    """For reports: a plot of other measures that belong to this one."""
