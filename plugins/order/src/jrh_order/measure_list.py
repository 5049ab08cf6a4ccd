"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "position-bias": (
        MeasureInfo(
            name="swap-consistency",
            formula="share of items whose verdict is the same in both orders; with three options or more, over the "
            "pairs of orders in which every option changes its place",
            better="higher",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="right-in-both-orders",
            formula="share of labelled items with the gold verdict in every order",
            better="higher",
            interval="that of a rate",
            source="strict pairwise accuracy",
        ),
        MeasureInfo(
            name="*-position-rate",
            formula="share of verdicts that pick the place (`first`, `second`, ...); every order of an item has "
            "equal weight; chance is 1 / number of options",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="tie-rate",
            formula="share of verdicts that are a tie",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="position-bias",
            formula="share of items where the first place wins in both orders minus the share where the second "
            "does; with three options or more, picks of the first place minus picks of the last",
            unit="difference",
            better="zero",
            interval="excludes 0 exactly where p < 0.05 (`exchange-wilson`)",
            source="McNemar (1947); Good (2005)",
        ),
        MeasureInfo(
            name="position-bias-p",
            formula="exchange of the places by cluster (McNemar's mid-p if asked once); null hypothesis: no bias",
            unit="p-value",
            source="McNemar (1947); Phipson and Smyth (2010)",
        ),
        MeasureInfo(
            name="position-preference",
            formula="three options or more: share of picks of a `place` minus the mean of all places",
            unit="difference",
            better="zero",
            interval="for all places at once (Bonferroni)",
            source="jrh",
        ),
        MeasureInfo(
            name="gold-agreement-by-order",
            formula="share of verdicts equal to the gold label, by order",
            better="higher",
            interval="that of a rate",
            flags=("constant-gold",),
        ),
    ),
    "identical-choice": (
        MeasureInfo(
            name="identical-*-position-rate",
            formula="on identical options: share of verdicts that pick the place; every order of an item has equal "
            "weight",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="identical-tie-rate",
            formula="on identical options: share of verdicts that are a tie",
            better="higher",
            interval="that of a rate",
        ),
    ),
}
"""Metric -> its measures."""
