"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo
from jrh_measuring import describe_coefficient, describe_difference, describe_share

from jrh_reward.options import AUC, SHIFT

EXCHANGED: Final = (
    "scores of an item dealt again to both sides, and sides exchanged by cluster (the larger p-value); "
    "null hypothesis: scores under the test are distributed as those of the reference"
)
MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "score-quality": (
        describe_share(
            AUC,
            "P(score of a right positive > that of a right negative), ties count half",
            better="higher",
            interval="jackknife over clusters",
            source="Hanley and McNeil (1982); clusters: Obuchowski (1997)",
        ),
        describe_coefficient(
            "score-tau-b",
            "Kendall's tau-b of scores and right levels",
            interval="`jackknife-fisher-z`",
            flags=("degenerate", "no-interval", "conservative"),
            source="Kendall (1945)",
        ),
        describe_difference(
            SHIFT,
            "mean of (score under the test - mean reference score of the item) / standard deviation of "
            "the judge's reference scores",
            unit="standard deviations",
            interval="excludes 0 exactly where p < 0.05 (`exchange-wilson`)",
            source="jrh; test: Good (2005), Chung and Romano (2013)",
            tested=True,
        ),
    ),
}
"""Metric -> its measures."""
