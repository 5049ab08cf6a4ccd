"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "evidence-reach": (
        MeasureInfo(
            name="evidence-follow",
            formula="share of verdicts on texts with the evidence that equal the label it implies; without a stated "
            "label, share that differ from the verdict on the same text without it; by `length` and `depth`",
            better="higher",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="evidence-chance",
            formula="what a judge that never sees the evidence would score",
            rate=True,
            source="jrh",
            on_request=True,
        ),
        MeasureInfo(
            name="evidence-effect",
            formula="`evidence-follow` minus `evidence-chance`, by trial",
            unit="difference",
            better="higher",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
        MeasureInfo(
            name="input-seen", formula="share of the text that jrh sent to the judge", better="higher", source="jrh"
        ),
        MeasureInfo(
            name="reads-first",
            formula="tokens from the start of the text that the judge reads",
            unit="tokens",
            interval="bootstrap of the change point",
            source="Page (1954); Hinkley (1970)",
        ),
        MeasureInfo(
            name="reads-last",
            formula="tokens from the end of the text that the judge reads",
            unit="tokens",
            interval="bootstrap of the change point",
            source="Page (1954); Hinkley (1970)",
        ),
        MeasureInfo(
            name="evidence-position-p",
            formula="exchange of positions within cluster and length; null hypothesis: evidence is followed equally "
            "often at all positions",
            unit="p-value",
            source="Westfall and Young (1993)",
        ),
    ),
    "error-curve": (
        MeasureInfo(
            name="error-noticed",
            formula="P(`y != y0`) by kind (`error`) and number (`errors`) of errors",
            better="higher",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="error-threshold",
            formula="number of errors at which the judge notices half of the texts, on the fitted curve",
            unit="errors",
            better="lower",
            interval="bootstrap by cluster",
            source="Wichmann and Hill (2001)",
        ),
        MeasureInfo(
            name="error-slope",
            formula="slope of the curve at the threshold",
            unit="log odds",
            interval="bootstrap by cluster",
            source="Wichmann and Hill (2001)",
            on_request=True,
        ),
        MeasureInfo(
            name="error-lapse",
            formula="share of texts that the judge misses, however many errors they have",
            better="lower",
            interval="bootstrap by cluster",
            source="Wichmann and Hill (2001)",
            on_request=True,
        ),
        MeasureInfo(
            name="error-falls-p",
            formula="sign flips by cluster; null hypothesis: texts with more errors are never noticed less often",
            unit="p-value",
            on_request=True,
        ),
    ),
}
"""Metric -> its measures."""
