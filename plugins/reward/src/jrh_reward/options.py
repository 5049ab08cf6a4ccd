"""Define the options of the judges."""

from __future__ import annotations

import math
from enum import Enum
from typing import Final

from attrs import frozen
from attrs.validators import ge, gt, min_len, optional
from jrh import JrhError
from jrh.plugins import option
from jrh_authoring import Bounds, OwnEndpoint, OwnFunction

AUC: Final = "auc"
SHIFT: Final = "score-shift"
"""Measures that rules read."""


class Probability(Enum):
    """How a score becomes a probability."""

    NONE = "none"
    """It does not: calibration is not measured."""
    SCORE = "score"
    """It is the probability of the positive label."""
    LOGISTIC = "logistic"
    """The logistic function of the score minus the threshold; of a pair, of the difference (Bradley and Terry)."""


@frozen(kw_only=True)
class Decision:
    """How a score becomes a label, a level or a preference."""

    thresholds: tuple[float, ...] = option(
        "lowest score of the positive label, or of each level but the lowest; default: 0 (0.5 with "
        "`probability: score`), or half-way between the levels",
        default=(),
    )
    margin: float = option(
        "comparisons: a difference up to this is a tie, or `abstained` on a scale without one", ge(0.0), default=0.0
    )
    probability: Probability = option(
        "what probability the score states: `none`, `score` itself, or its `logistic` function",
        default=Probability.NONE,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse thresholds that do not rise."""
        # YAML has .inf and .nan, and a threshold of either kind would decide nothing.
        if not all(map(math.isfinite, self.thresholds)) or list(self.thresholds) != sorted(set(self.thresholds)):
            raise JrhError("thresholds: each must be a finite number greater than the one before")
        if not math.isfinite(self.margin):
            raise JrhError("margin: must be a finite number")


_HELP = "how a score becomes a label: `thresholds`, `margin`, `probability`"


@frozen(kw_only=True)
class ScoreFunctionOptions(OwnFunction):
    """Options of `score-function`: the callable that scores."""

    decide: Decision = option(_HELP, default=Decision())


@frozen(kw_only=True)
class ScoreHttpOptions(OwnEndpoint):
    """Options of `score-http`: the endpoint that scores."""

    decide: Decision = option(_HELP, default=Decision())


class Shown(Enum):
    """How request and response are put before a classifier."""

    PAIR = "pair"
    """As the two texts of the tokenizer."""
    CHAT = "chat"
    """As a user's and an assistant's message in the tokenizer's chat template."""


@frozen(kw_only=True)
class ClassifierOptions(Bounds):
    """Options of `score-classifier`: the model and how texts are shown to it."""

    model: str = option("a directory relative to the suite, or the name of a model", min_len(1))
    output: int | None = option(
        "which output is the score, from 0; default: the only one, or of two the second minus the first",
        optional(ge(0)),
        default=None,
    )
    shown: Shown = option("request and response as a `pair` of texts, or as `chat`", default=Shown.PAIR)
    longest: int | None = option(
        "maximum number of tokens; a longer text is `context_overflow`, never cut; default: the model's own",
        optional(gt(0)),
        default=None,
    )
    concurrency: int = option("questions asked at the same time", gt(0), default=1)
    decide: Decision = option(_HELP, default=Decision())
