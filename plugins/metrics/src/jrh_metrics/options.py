"""Options of the metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import attrs
from attrs import field, frozen
from attrs.validators import ge, gt, in_, instance_of, le, lt, optional
from jrh_measuring import BreakdownOptions, Factor, MetricOptions

_ALL: Final = "also compute measures that no report shows"


@frozen(kw_only=True)
class RateOptions(BreakdownOptions):
    """Options of the rates that are broken down by default."""

    by: tuple[Factor, ...] = field(
        default=("variant", "strength"),
        validator=attrs.fields(BreakdownOptions).by.validator,
        metadata=attrs.fields(BreakdownOptions).by.metadata,
    )


@frozen(kw_only=True)
class FullOptions(BreakdownOptions):
    """Options of metrics with additional measures."""

    all: bool = field(default=False, validator=instance_of(bool), metadata={"help": _ALL})


@frozen(kw_only=True)
class ConfusionOptions(MetricOptions):
    """Options of the confusion matrices."""

    all: bool = field(
        default=False,
        validator=instance_of(bool),
        metadata={"help": "also for unordered scales, which no report shows"},
    )


@frozen(kw_only=True)
class ErrorRateOptions(BreakdownOptions):
    """Options of the false positive and false negative rate."""

    positive: str = field(
        default="",
        validator=instance_of(str),
        metadata={"help": "label that counts as positive; default: that of the task's scale, or the first of two"},
    )


@frozen(kw_only=True)
class PanelTestOptions(MetricOptions):
    """Options of the panels of every test."""

    positive: str = field(
        default="",
        validator=instance_of(str),
        metadata={"help": "label of the error rates; default: that of the task's scale, or the first of two"},
    )


@frozen(kw_only=True)
class CovariateOptions(MetricOptions):
    """Options of the effects of covariates."""

    few_of_level: int = field(
        default=5,
        validator=ge(1),
        metadata={"help": "levels of a text column with fewer items than this are merged"},
    )


@frozen(kw_only=True)
class PrevalenceOptions(MetricOptions):
    """Options of the corrected prevalence."""

    positive: str = field(
        default="",
        validator=instance_of(str),
        metadata={"help": "label whose share is estimated; default: that of the task's scale, or the first of two"},
    )
    tuned: bool = field(
        default=True,
        validator=instance_of(bool),
        metadata={"help": "weight the judge's verdicts to minimise the variance of the prediction-powered estimate"},
    )


@frozen(kw_only=True)
class ValidityOptions(MetricOptions):
    """Options of the failure rate among valid cases."""

    reviews: Path = field(
        default=Path("reviews.csv"),
        validator=instance_of(Path),
        metadata={"help": "csv table with the columns `case_id` and `valid` (yes or no), relative to the suite"},
    )


@frozen(kw_only=True)
class EquivalenceOptions(BreakdownOptions):
    """Options of the tests of equivalence."""

    margin: float | None = field(
        default=None,
        validator=optional([gt(0.0), lt(1.0)]),
        metadata={
            "help": "largest change that counts as equivalent; declare it before seeing results. Default: the suite's "
            "`findings: {margin: 0.05}`"
        },
    )
    alpha: float = field(
        default=0.05,
        validator=[gt(0.0), lt(0.5)],
        metadata={"help": "error rate of each of the two one-sided tests"},
    )


@frozen(kw_only=True)
class HarnessOptions(BreakdownOptions):
    """Options of the estimator of the Judge Reliability Harness, named as there."""

    bootstrap_size: float = field(
        default=1.0,
        validator=[gt(0.0), le(1.0)],
        metadata={"help": "rows of each bootstrap sample, as a share of all"},
    )
    bootstrap_repetitions: int = field(
        default=10,
        validator=ge(1),
        metadata={"help": "bootstrap samples; more samples shrink the interval"},
    )


@frozen(kw_only=True)
class JudgeSenseOptions(BreakdownOptions):
    """Options of JudgeSense's estimators."""

    resamples: int = field(
        default=1000,
        validator=ge(1),
        metadata={"help": "bootstrap samples of pairs"},
    )


@frozen(kw_only=True)
class GeneralizabilityOptions(MetricOptions):
    """Options of the variance components."""

    wished_dependability: float = field(
        default=0.8,
        validator=[gt(0.0), lt(1.0)],
        metadata={"help": "dependability that the cheapest design must reach"},
    )
    wished_error: float | None = field(
        default=None,
        validator=optional(gt(0.0)),
        metadata={"help": "maximum standard error of an item's mean score; replaces the dependability as the target"},
    )


@frozen(kw_only=True)
class CeilingOptions(MetricOptions):
    """Options of the human ceiling."""

    margin: float = field(
        default=0.1,
        validator=[gt(0.0), lt(1.0)],
        metadata={
            "help": "a judge agrees as well as people do if its kappa with them is lower than theirs by less than "
            "this; with two equally common labels, 0.1 is a share of 0.05. Declare it before seeing results"
        },
    )


@frozen(kw_only=True)
class CalibrationOptions(MetricOptions):
    """Options of the calibration measures."""

    bins: int = field(
        default=10, validator=[ge(1), le(100)], metadata={"help": "number of bins of the reliability curve"}
    )
    binning: Literal["width", "mass"] = field(
        default="width",
        validator=in_(("width", "mass")),
        metadata={"help": "bins of equal width, or of about equal numbers of verdicts"},
    )
