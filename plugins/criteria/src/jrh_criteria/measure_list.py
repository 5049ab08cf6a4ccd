"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "criteria-score": (
        MeasureInfo(
            name="weighted-score",
            formula="sum of weight x credit / sum of positive weights of the criteria that apply; mean over responses",
            unit="score",
            interval="`cluster-robust-wilson`",
        ),
        MeasureInfo(
            name="score-error",
            formula="mean of abs(weighted score of the verdicts - that of the gold labels)",
            unit="score",
            better="lower",
            interval="`cluster-robust-wilson`",
        ),
        MeasureInfo(
            name="score-bias",
            formula="mean of (weighted score of the verdicts - that of the gold labels)",
            unit="score",
            better="zero",
            interval="`cluster-robust-wilson`",
        ),
        MeasureInfo(
            name="score-concordance",
            formula="concordance correlation of the two scores",
            unit="coefficient",
            better="higher",
            interval="`jackknife-fisher-z`",
            flags=("degenerate",),
            source="Lin (1989)",
        ),
        MeasureInfo(
            name="score-icc",
            formula="ICC(2,1) of the two scores",
            unit="coefficient",
            better="higher",
            interval="`modified-large-sample`; on few levels `jackknife-mover`",
            flags=("degenerate", "few-levels", "no-interval"),
            source="Shrout and Fleiss (1979)",
        ),
        MeasureInfo(
            name="not-applicable-rate",
            formula="share of verdicts that say that a criterion does not apply",
            rate=True,
        ),
        MeasureInfo(
            name="not-applicable-effect",
            formula="weighted score with criteria that do not apply left out, minus that with them counted as unmet",
            unit="score",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
        MeasureInfo(
            name="not-applicable-as-met",
            formula="share of criteria that the judge calls met, among those that do not apply",
            better="lower",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="holistic-correlation",
            formula="Spearman correlation of the weighted scores with the verdicts on whole responses",
            unit="coefficient",
            better="higher",
            interval="`jackknife-fisher-z`",
            flags=("degenerate", "no-interval"),
            source="Spearman (1904)",
        ),
    ),
    "rubric-effect": (
        MeasureInfo(
            name="rubric-effect",
            formula="share of verdicts that change under another rubric, minus the reference's rerun noise",
            unit="difference",
            better="higher",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
        MeasureInfo(
            name="halo-effect",
            formula="share of verdicts on the other criteria that change when one criterion's evidence is cut, minus "
            "the reference's rerun noise",
            unit="difference",
            better="lower",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
    ),
    "criteria-place": (
        MeasureInfo(
            name="late-accuracy-change",
            formula="gold agreement of criteria late in a call minus that of the same criteria early in it",
            unit="difference",
            better="zero",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
