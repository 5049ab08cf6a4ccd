"""What the declarations of measures share."""

from __future__ import annotations

from typing import Final

from jrh.plugins import MeasureInfo

JACKKNIFE: Final = "jackknife over clusters (`jackknife-wilson`)"
FISHER: Final = "jackknife over clusters in Fisher's z (`jackknife-fisher-z`)"
ROBUST: Final = "cluster-robust, within the bounds (`cluster-robust-wilson`)"
COHEN: Final = "Cohen (1960); weights: Cohen (1968)"


def coefficient(name: str, formula: str, source: str, interval: str = FISHER, *flags: str) -> MeasureInfo:
    """Describe agreement or correlation beyond chance."""
    return MeasureInfo(
        name=name,
        formula=formula,
        unit="coefficient",
        better="higher",
        interval=interval,
        flags=("degenerate", *flags),
        source=source,
    )


def rate(name: str, formula: str, better: str = "lower", source: str = "", flags: tuple[str, ...] = ()) -> MeasureInfo:
    """Describe a share of verdicts."""
    return MeasureInfo(name=name, formula=formula, better=better, source=source, flags=flags, rate=True)
