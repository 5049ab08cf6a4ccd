"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from jrh.plugins import MeasureInfo
from jrh_measuring import describe_coefficient, describe_difference, describe_p_value, describe_share

_OF_PAIRS: Final = "P(two templates give the same verdict on an item), over pairs of templates; "
_JUDGESENSE: Final = "JudgeSense: judge sensitivity score"
_KAPPA: Final = partial(describe_coefficient, source="Cohen (1960)", interval="`jackknife-wilson`")


MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "template-sensitivity": (
        describe_share("jss", f"{_OF_PAIRS}declared polarity undone", better="higher", source=_JUDGESENSE),
        describe_share("template-flip-rate", "1 - `jss`", better="lower"),
        _KAPPA("template-kappa", "Cohen's kappa of the two verdicts, over the same pairs"),
        describe_share("jss-raw", f"{_OF_PAIRS}with the labels as given", better="higher", source=_JUDGESENSE),
        describe_difference(
            "jss-correction",
            "`jss` minus `jss-raw`: what undoing declared polarity changes",
            better="",
            interval="cluster-robust",
            source="jrh",
            on_request=True,
        ),
        describe_share(
            "jss-with-excluded",
            "with `all`: `jss` if pairs without two verdicts count as different",
            better="higher",
            source="jrh",
            on_request=True,
        ),
        describe_share(
            "excluded-pairs", "share of pairs without two verdicts", better="lower", source="jrh", on_request=True
        ),
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
        describe_share(
            "flipped-by", "share of items and pairs that exactly this many `judges` flip", source="jrh", on_request=True
        ),
        describe_share(
            "flipping-judges",
            "mean share of judges that flip a `pair` of templates",
            better="lower",
            source="jrh",
            on_request=True,
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
