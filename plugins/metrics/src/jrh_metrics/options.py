"""Options of the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import attrs
from attrs import field, frozen
from attrs.validators import ge, gt, in_, instance_of, le, lt, optional
from jrh import REFERENCE
from jrh.plugins import option
from jrh_measuring import BreakdownOptions, Factor, MetricOptions, PositiveLabelOptions

_ALL: Final = "also compute measures that no report shows"


def _positive_option(label: str) -> Any:
    text = f"{label}; default: that of the task's scale, or the first of two"
    return option(text, instance_of(str), default="")


@frozen(kw_only=True)
class RateOptions(BreakdownOptions):
    """Options of the rates that are broken down by default."""

    by: tuple[Factor, ...] = field(
        default=("variant", "strength"),
        # Only the default differs: check and help text are those of the other breakdowns.
        validator=attrs.fields(BreakdownOptions).by.validator,
        metadata=attrs.fields(BreakdownOptions).by.metadata,
    )


@frozen(kw_only=True)
class FullOptions(BreakdownOptions):
    """Options of metrics with additional measures."""

    all: bool = option(_ALL, instance_of(bool), default=False)


@frozen(kw_only=True)
class ConfusionOptions(MetricOptions):
    """Options of the confusion matrices."""

    all: bool = option("also for unordered scales, which no report shows", instance_of(bool), default=False)


@frozen(kw_only=True)
class ErrorRateOptions(PositiveLabelOptions, BreakdownOptions):
    """Options of the false positive and false negative rate."""

    positive: str = _positive_option("label that counts as positive")


@frozen(kw_only=True)
class LevelOptions(MetricOptions):
    """Options of ordinal results made binary."""

    level: str = option(
        "lowest level that counts as positive, such as `4`; default: the upper half of the scale",
        instance_of(str),
        default="",
    )


@frozen(kw_only=True)
class PairOptions(MetricOptions):
    """Options of the comparison of named variants."""

    pairs: tuple[tuple[str, str], ...] = option(
        'pairs to compare, each side a test or a variant, such as `["format[bullets]", paraphrase]`; '
        "default: all variants of a test",
        default=(),
    )

    def __attrs_post_init__(self) -> None:
        """Reject pairs that share trials."""
        for one, other in self.pairs:
            if one == other or one == other.partition("[")[0] or other == one.partition("[")[0]:
                raise ValueError(f"'pairs': '{one}' and '{other}' share trials; name two variants")

    def named_variants(self) -> Iterator[str]:
        """Yield the sides of the pairs."""
        yield from (side for pair in self.pairs for side in pair)

    def check_suite(self, suite: Any, plugins: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the sides of pairs that are of no test."""
        yield from super().check_suite(suite, plugins)
        known = [REFERENCE, *(use.name for use in suite.tests)]
        for place, pair in enumerate(self.pairs):
            for test in (side.partition("[")[0] for side in pair):
                if test not in known:
                    yield ("pairs", place), f"there is no test '{test}'; the suite has {', '.join(known)}"


@frozen(kw_only=True)
class PanelTestOptions(PositiveLabelOptions, MetricOptions):
    """Options of the panels of every test."""

    positive: str = _positive_option("label of the error rates")


@frozen(kw_only=True)
class CovariateOptions(MetricOptions):
    """Options of the effects of covariates."""

    few_of_level: int = option("levels of a text column with fewer items than this are merged", ge(1), default=5)


@frozen(kw_only=True)
class PrevalenceOptions(PositiveLabelOptions, MetricOptions):
    """Options of the corrected prevalence."""

    positive: str = _positive_option("label whose share is estimated")
    tuned: bool = option(
        "weight the judge's verdicts to minimise the variance of the prediction-powered estimate",
        instance_of(bool),
        default=True,
    )


@frozen(kw_only=True)
class ValidityOptions(MetricOptions):
    """Options of the failure rate among valid cases."""

    reviews: Path = option(
        "csv table with the columns `case_id` and `valid` (yes or no), relative to the suite",
        instance_of(Path),
        default=Path("reviews.csv"),
    )


@frozen(kw_only=True)
class EquivalenceOptions(BreakdownOptions):
    """Options of the tests of equivalence."""

    # None and not a number: the margin of the suite holds for all metrics, unless one states its own.
    margin: float | None = option(
        "largest change that counts as equivalent; declare it before seeing results. Default: the suite's "
        "`findings: {margin: 0.05}`",
        optional([gt(0.0), lt(1.0)]),
        default=None,
    )
    alpha: float = option("error rate of each of the two one-sided tests", gt(0.0), lt(0.5), default=0.05)


@frozen(kw_only=True)
class HarnessOptions(BreakdownOptions):
    """Options of the estimator of the Judge Reliability Harness, named as there."""

    bootstrap_size: float = option("rows of each bootstrap sample, as a share of all", gt(0.0), le(1.0), default=1.0)
    bootstrap_repetitions: int = option("bootstrap samples; more samples shrink the interval", ge(1), default=10)


@frozen(kw_only=True)
class JudgeSenseOptions(BreakdownOptions):
    """Options of JudgeSense's estimators."""

    resamples: int = option("bootstrap samples of pairs", ge(1), default=1000)


@frozen(kw_only=True)
class GeneralizabilityOptions(MetricOptions):
    """Options of the variance components."""

    wished_dependability: float = option(
        "dependability that the cheapest design must reach", gt(0.0), lt(1.0), default=0.8
    )
    wished_error: float | None = option(
        "maximum standard error of an item's mean score; replaces the dependability as the target",
        optional(gt(0.0)),
        default=None,
    )


@frozen(kw_only=True)
class CeilingOptions(MetricOptions):
    """Options of the human ceiling."""

    margin: float = option(
        "a judge agrees as well as people do if its kappa with them is lower than theirs by less than "
        "this; with two equally common labels, 0.1 is a share of 0.05. Declare it before seeing results",
        gt(0.0),
        lt(1.0),
        default=0.1,
    )


@frozen(kw_only=True)
class CalibrationOptions(MetricOptions):
    """Options of the calibration measures."""

    bins: int = option("number of bins of the reliability curve", ge(1), le(100), default=10)
    binning: Literal["width", "mass"] = option(
        "bins of equal width, or of about equal numbers of verdicts", in_(("width", "mass")), default="width"
    )
