"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from typing import Final

from jrh.plugins import Role
from jrh_measuring import describe_coefficient, describe_difference, describe_rate

HALO: Final = "halo-effect"
LATE: Final = "late-accuracy-change"
PLACES_EXCHANGED: Final = (
    "exchange of verdicts early and late in the call, by cluster; null hypothesis: both agree with gold equally often"
)
_BY_SIZE: Final = "`modified-large-sample`; on few levels `jackknife-mover`"
SCORE: Final = (
    describe_difference(
        "weighted-score",
        "sum of weight x credit / sum of positive weights of the criteria that apply; mean over responses",
        unit="score",
        better="",
        role=Role.SCORE.value,
    ),
    describe_difference(
        "score-error",
        "mean of abs(weighted score of the verdicts - that of the gold labels)",
        unit="score",
        better="lower",
        role=Role.SCORE_ERROR.value,
    ),
    describe_difference(
        "score-bias",
        "mean of (weighted score of the verdicts - that of the gold labels)",
        unit="score",
        on_request=True,
    ),
    describe_coefficient(
        "score-icc",
        "ICC(2,1) of the two scores",
        "Shrout and Fleiss (1979)",
        interval=_BY_SIZE,
        flags=("degenerate", "few-levels", "no-interval"),
        on_request=True,
    ),
    describe_rate(
        "not-applicable-rate",
        "share of verdicts that say that a criterion does not apply",
        better="",
        flags=(),
        on_request=True,
    ),
    describe_difference(
        "not-applicable-effect",
        "weighted score with criteria that do not apply left out, minus that with them counted as unmet",
        unit="score",
        better="",
        source="jrh",
        on_request=True,
    ),
    describe_rate(
        "not-applicable-as-met",
        "share of criteria that the judge calls met, among those that do not apply",
        flags=(),
        source="jrh",
    ),
    describe_coefficient(
        "holistic-correlation",
        "Spearman correlation of the weighted scores with the verdicts on whole responses",
        "Spearman (1904)",
        flags=("degenerate", "no-interval"),
        on_request=True,
    ),
)
EFFECT: Final = (
    describe_difference(
        "rubric-effect",
        "share of verdicts that change under another rubric, minus the reference's rerun noise",
        better="higher",
        source="jrh",
    ),
    describe_difference(
        HALO,
        "share of verdicts on the other criteria that change when one criterion's evidence is cut, minus the "
        "reference's rerun noise, over items that were asked twice or more",
        better="lower",
        flags=("reference-floor", "few-clusters"),
        source="jrh",
        tested=True,
    ),
)
PLACE: Final = (
    describe_difference(
        LATE,
        "gold agreement of criteria late in a call minus that of the same criteria early in it",
        interval="excludes 0 exactly where p < 0.05 (`exchange-wilson`)",
        source="jrh; test: Good (2005)",
        tested=True,
    ),
)
