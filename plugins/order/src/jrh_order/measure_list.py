"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo, Role
from jrh_measuring import describe_difference, describe_p_value, describe_share

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "position-bias": (
        describe_share(
            "swap-consistency",
            "share of items whose verdict is the same in both orders; with three options or more, over the "
            "pairs of orders in which every option changes its place",
            better="higher",
        ),
        describe_share(
            "right-in-both-orders",
            "share of labelled items with the gold verdict in every order",
            better="higher",
            source="strict pairwise accuracy",
        ),
        describe_share(
            "*-position-rate",
            "share of verdicts that pick the place (`first`, `second`, ...); every order of an item has equal "
            "weight; chance is 1 / number of options",
        ),
        describe_share("tie-rate", "share of verdicts that are a tie", on_request=True),
        describe_difference(
            "position-bias",
            "share of items where the first place wins in both orders minus the share where the second does; "
            "with three options or more, picks of the first place minus picks of the last",
            interval="excludes 0 exactly where p < 0.05 (`exchange-wilson`)",
            source="McNemar (1947); Good (2005)",
            role=Role.ORDER.value,
        ),
        describe_p_value(
            "position-bias-p",
            "exchange of the places by cluster (McNemar's mid-p if asked once); null hypothesis: no bias",
            source="McNemar (1947); Phipson and Smyth (2010)",
        ),
        describe_difference(
            "position-preference",
            "three options or more: share of picks of a `place` minus the mean of all places",
            interval="for all places at once (Bonferroni)",
            source="jrh",
        ),
        describe_share(
            "gold-agreement-by-order",
            "share of verdicts equal to the gold label, by order",
            better="higher",
            flags=("constant-gold",),
            on_request=True,
        ),
    ),
    "identical-choice": (
        describe_share(
            "identical-*-position-rate",
            "on identical options: share of verdicts that pick the place; every order of an item has equal weight",
        ),
        describe_share(
            "identical-tie-rate",
            "on identical options: share of verdicts that are a tie",
            better="higher",
            on_request=True,
        ),
    ),
}
"""Metric -> its measures."""
