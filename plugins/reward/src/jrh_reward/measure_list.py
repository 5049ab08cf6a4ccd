"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "score-quality": (
        MeasureInfo(
            name="auc",
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
            name="score-shift",
            formula="mean of (score under the test - mean reference score of the item) / standard deviation of "
            "the judge's reference scores",
            unit="standard deviations",
            better="zero",
            interval="cluster-robust",
            source="jrh",
        ),
        MeasureInfo(
            name="score-shift-p",
            formula="sign flips by cluster; null hypothesis: scores under the test are centred on those of the "
            "reference",
            unit="p-value",
            source="Good (2005)",
        ),
        MeasureInfo(
            name="auc-finding",
            formula="finding: whether `auc` differs from 0.5",
            better="higher",
            flags=("finding",),
            source="jrh",
        ),
        MeasureInfo(
            name="score-shift-finding",
            formula="finding: the test moves scores, adjusted by Holm over the report",
            unit="standard deviations",
            better="zero",
            flags=("finding",),
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
