"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from jrh.plugins import MeasureInfo
from jrh_measuring import describe_coefficient, describe_difference, describe_p_value, describe_share

_OF_PAIRS: Final = "P(two templates give the same verdict on an item), over pairs of templates; "
_KAPPA: Final = partial(describe_coefficient, source="Cohen (1960)", interval="`jackknife-wilson`")


def _between_templates(suffix: str, labels: str) -> tuple[MeasureInfo, ...]:
    source = "JudgeSense: judge sensitivity score"
    return (
        describe_share(f"jss{suffix}", _OF_PAIRS + labels, better="higher", source=source),
        describe_share(f"template-flip-rate{suffix}", f"1 - `jss{suffix}`", better="lower"),
        _KAPPA(f"template-kappa{suffix}", "Cohen's kappa of the two verdicts, over the same pairs"),
    )


MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "template-sensitivity": (
        *_between_templates("", "declared polarity undone"),
        *_between_templates("-raw", "with the labels as given"),
        describe_difference(
            "jss-correction",
            "`jss` minus `jss-raw`: what undoing declared polarity changes",
            better="",
            interval="cluster-robust",
            source="jrh",
        ),
        describe_share(
            "jss-with-excluded",
            "`jss` if pairs without two verdicts count as different",
            better="higher",
            source="jrh",
        ),
        describe_share("excluded-pairs", "share of pairs without two verdicts", better="lower", source="jrh"),
        describe_p_value(
            "template-kappa-p",
            "permutation test that kappa is not below 0, where its interval lies below 0",
            source="Good (2005)",
        ),
    ),
    "polarity": (
        describe_share(
            "inversion-helps",
            "share of items, of those where it matters, on which inverting the verdict under a `template` brings it "
            "closer to those under the others",
            better="lower",
            source="jrh",
        ),
        describe_p_value("inversion-helps-p", "exact sign test that the share is not above 0.5"),
    ),
    "flipped-by-every-judge": (
        describe_share(
            "flipped-by-every-judge",
            "share of items and pairs of templates that every judge flips",
            better="lower",
            source="jrh",
        ),
        describe_share("flipped-by", "share of items and pairs that exactly this many `judges` flip", source="jrh"),
        describe_share(
            "flipping-judges", "mean share of judges that flip a `pair` of templates", better="lower", source="jrh"
        ),
    ),
    "pairwise-agreement": (
        describe_share(
            "pairwise-agreement", "P(two judges give the same verdict on the same question)", better="higher"
        ),
        _KAPPA("pairwise-kappa", "Cohen's kappa of the two judges' verdicts"),
    ),
}
"""Metric -> its measures."""
