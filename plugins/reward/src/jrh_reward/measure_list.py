"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

from jrh_reward.options import AUC, SHIFT

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "score-quality": (
        MeasureInfo(
            name=AUC,
            formula="P(score of a right positive > that of a right negative), ties count half",
            better="higher",
            interval="jackknife over clusters",
            source="Hanley and McNeil (1982); clusters: Obuchowski (1997)",
        ),
        MeasureInfo(
            name="score-tau-b",
            formula="Kendall's tau-b of scores and right levels",
            unit="coefficient",
            better="higher",
            interval="`jackknife-fisher-z`",
            flags=("degenerate", "no-interval", "conservative"),
            source="Kendall (1945)",
        ),
        MeasureInfo(
            name=SHIFT,
            formula="mean of (score under the test - mean reference score of the item) / standard deviation of "
            "the judge's reference scores",
            unit="standard deviations",
            better="zero",
            interval="cluster-robust",
            source="jrh",
        ),
        MeasureInfo(
            name=f"{SHIFT}-p",
            formula="sign flips by cluster; null hypothesis: scores under the test are centred on those of the "
            "reference",
            unit="p-value",
            source="Good (2005)",
        ),
    ),
}
"""Metric -> its measures."""
