"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "template-sensitivity": (
        MeasureInfo(
            name="jss",
            formula="P(two templates give the same verdict on an item), over pairs of templates; declared "
            "polarity undone",
            better="higher",
            interval="that of a rate",
            source="JudgeSense: judge sensitivity score",
        ),
        MeasureInfo(
            name="template-flip-rate",
            formula="1 - `jss`",
            better="lower",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="template-kappa",
            formula="Cohen's kappa of the two verdicts, over the same pairs",
            unit="coefficient",
            better="higher",
            interval="`jackknife-wilson`",
            flags=("degenerate",),
            source="Cohen (1960)",
        ),
        MeasureInfo(
            name="jss-raw",
            formula="P(two templates give the same verdict on an item), over pairs of templates; with the labels "
            "as given",
            better="higher",
            interval="that of a rate",
            source="JudgeSense: judge sensitivity score",
        ),
        MeasureInfo(
            name="template-flip-rate-raw",
            formula="1 - `jss-raw`",
            better="lower",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="template-kappa-raw",
            formula="Cohen's kappa of the two verdicts, over the same pairs",
            unit="coefficient",
            better="higher",
            interval="`jackknife-wilson`",
            flags=("degenerate",),
            source="Cohen (1960)",
        ),
        MeasureInfo(
            name="jss-correction",
            formula="`jss` minus `jss-raw`: what undoing declared polarity changes",
            unit="difference",
            interval="cluster-robust",
            source="jrh",
        ),
        MeasureInfo(
            name="jss-with-excluded",
            formula="`jss` if pairs without two verdicts count as different",
            better="higher",
            interval="that of a rate",
            source="jrh",
        ),
        MeasureInfo(
            name="excluded-pairs",
            formula="share of pairs without two verdicts",
            better="lower",
            interval="that of a rate",
            source="jrh",
        ),
        MeasureInfo(
            name="negative-kappa",
            formula="finding: `template-kappa` is shown to be below 0",
            unit="coefficient",
            better="higher",
            flags=("finding", "degenerate"),
            source="jrh",
        ),
    ),
    "polarity": (
        MeasureInfo(
            name="undeclared-polarity",
            formula="finding: most judges read a template with the opposite of its declared polarity",
            flags=("finding",),
            source="jrh",
        ),
        MeasureInfo(
            name="polarity-blindness",
            formula="finding: this judge overlooks that a template asks for the opposite",
            flags=("finding",),
            source="jrh",
        ),
    ),
    "flipped-by-every-judge": (
        MeasureInfo(
            name="flipped-by-every-judge",
            formula="share of items and pairs of templates that every judge flips",
            better="lower",
            interval="that of a rate",
            source="jrh",
        ),
        MeasureInfo(
            name="flipped-by",
            formula="share of items and pairs that exactly this many `judges` flip",
            interval="that of a rate",
            source="jrh",
        ),
        MeasureInfo(
            name="flipping-judges",
            formula="mean share of judges that flip a `pair` of templates",
            better="lower",
            interval="that of a rate",
            source="jrh",
        ),
    ),
    "pairwise-agreement": (
        MeasureInfo(
            name="pairwise-agreement",
            formula="P(two judges give the same verdict on the same question)",
            better="higher",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="pairwise-kappa",
            formula="Cohen's kappa of the two judges' verdicts",
            unit="coefficient",
            better="higher",
            interval="`jackknife-wilson`",
            flags=("degenerate",),
            source="Cohen (1960)",
        ),
    ),
}
"""Metric -> its measures."""
