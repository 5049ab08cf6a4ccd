"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo
from jrh_measuring import describe_coefficient, describe_difference, describe_p_value, describe_share

from jrh_reward.options import AUC, SHIFT

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
            interval="cluster-robust",
            source="jrh",
        ),
        describe_p_value(
            f"{SHIFT}-p",
            "sign flips by cluster; null hypothesis: scores under the test are centred on those of the reference",
            source="Good (2005)",
        ),
    ),
}
"""Metric -> its measures."""
