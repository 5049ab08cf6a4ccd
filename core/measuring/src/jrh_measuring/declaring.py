"""The usual kinds of measures, for declarations: each function fills in the unit and the interval of its kind."""

from __future__ import annotations

from typing import Any, Final

from jrh.plugins import MeasureInfo

from jrh_measuring.flags import DEGENERATE, SENSITIVE_TO_MISSING

BY_JACKKNIFE: Final = "jackknife over clusters (`jackknife-wilson`)"
"""How the interval of a share-like coefficient is made."""
BY_FISHER_Z: Final = "jackknife over clusters in Fisher's z (`jackknife-fisher-z`)"
"""How the interval of a correlation is made."""
CLUSTER_ROBUST: Final = "cluster-robust, within the bounds (`cluster-robust-wilson`)"
"""How the interval of a mean is made."""
OF_A_RATE: Final = "that of a rate"
"""The interval of a share that is not counted by verdicts."""


def describe_rate(
    name: str,
    formula: str,
    *,
    better: str = "lower",
    flags: tuple[str, ...] = (SENSITIVE_TO_MISSING,),
    **more: Any,
) -> MeasureInfo:
    """Describe a share of verdicts (`MeasureBuilder.rate`)."""
    return MeasureInfo(name=name, formula=formula, better=better, flags=flags, rate=True, **more)


def describe_share(name: str, formula: str, *, interval: str = OF_A_RATE, **more: Any) -> MeasureInfo:
    """Describe another share, such as one of items or of pairs."""
    return MeasureInfo(name=name, formula=formula, interval=interval, **more)


def describe_coefficient(
    name: str,
    formula: str,
    source: str,
    *,
    interval: str = BY_FISHER_Z,
    flags: tuple[str, ...] = (DEGENERATE,),
    better: str = "higher",
) -> MeasureInfo:
    """Describe a correlation, or agreement beyond chance."""
    return MeasureInfo(
        name=name, formula=formula, unit="coefficient", better=better, interval=interval, flags=flags, source=source
    )


def describe_difference(
    name: str,
    formula: str,
    *,
    unit: str = "difference",
    better: str = "zero",
    interval: str = CLUSTER_ROBUST,
    **more: Any,
) -> MeasureInfo:
    """Describe a difference of two shares or levels."""
    return MeasureInfo(name=name, formula=formula, unit=unit, better=better, interval=interval, **more)


def describe_quantity(name: str, formula: str, unit: str, **more: Any) -> MeasureInfo:
    """Describe a measure in a unit of its own."""
    return MeasureInfo(name=name, formula=formula, unit=unit, **more)


def describe_p_value(name: str, formula: str, **more: Any) -> MeasureInfo:
    """Describe a p-value."""
    return MeasureInfo(name=name, formula=formula, unit="p-value", **more)
