"""The measure of the metric, and the kinds of finding that the rule makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo
from jrh.values import Severity

AUDIT: Final = "audit"
PROBLEM: Final = "problem"
"""The level of a measure that names the problem."""
NEAR: Final = "near-duplicate-items"
CONCERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "constant-gold": (
        "as-expected",
        "gold-accuracy",
        "gold-kappa",
        "self-kappa",
        "position-bias",
        "gold-agreement-by-order",
    ),
    "lopsided-gold": ("as-expected", "gold-accuracy", "gold-kappa", "self-kappa"),
    "gold-by-position": ("as-expected", "gold-accuracy", "gold-kappa", "gold-agreement-by-order"),
    "gold-by-length": ("as-expected", "gold-accuracy", "gold-kappa"),
    "opposite-polarity": ("jss", "jss-raw", "template-flip-rate", "template-kappa"),
}
"""Problem -> the measures that it makes misleading; of others, all."""
SEVERITIES: Final[Mapping[str, Severity]] = {
    **dict.fromkeys(("lopsided-gold", "small-strata", "few-items"), Severity.INFO),
    **dict.fromkeys(("gold-of-own-family", "responses-of-own-family"), Severity.BAD),
    **dict.fromkeys(
        (
            *("labels-off-scale", "constant-gold", "gold-by-position", "gold-by-length", "opposite-polarity"),
            *("repeated-rows", "duplicate-items", NEAR, "empty-responses", "truncated-responses"),
        ),
        Severity.WARNING,
    ),
}
"""Problem -> how much it matters: `info` limits what can be said, and contradicts nothing."""
MEASURES: Final = (
    MeasureInfo(
        name=AUDIT,
        formula="share of items affected by a problem in the data set; `problem` names it, the note describes it",
        better="lower",
        source="jrh",
    ),
)
