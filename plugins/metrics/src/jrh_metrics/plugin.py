"""Declares the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, cast

from jrh import BuildContext, MetricSpec, hookimpl
from jrh.plugins import Metric

from jrh_metrics.options import (
    CalibrationOptions,
    EquivalenceOptions,
    ErrorRateOptions,
    GeneralizabilityOptions,
    HarnessOptions,
    JudgeSenseOptions,
    MetricOptions,
    PrevalenceOptions,
    ValidityOptions,
)


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics: rates, agreement, ordinal measures, noise, missing verdicts, comparisons."""
    yield from _rates()
    yield from _agreement()
    yield from _ordinal()
    yield from _comparisons()
    yield from _panels()
    yield from _on_request()


def _rates() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="accuracy",
        summary="share of verdicts that are as expected: gold, a stated label, or relative to the reference verdict",
        options=MetricOptions,
        factory=_factory("accuracy", "Accuracy"),
    )
    yield MetricSpec(
        name="gold-accuracy",
        summary="share of verdicts that equal the gold label, where the condition keeps it",
        options=MetricOptions,
        factory=_factory("accuracy", "GoldAccuracy"),
    )
    yield MetricSpec(
        name="error-rates",
        summary="false positive and false negative rate, side by side",
        options=ErrorRateOptions,
        factory=_factory("error_rates", "ErrorRates"),
    )
    yield MetricSpec(
        name="corrected-prevalence",
        summary="share of positives corrected for the judge's errors, where some items are labelled and others not",
        options=PrevalenceOptions,
        factory=_factory("prevalence", "CorrectedPrevalence"),
    )
    yield MetricSpec(
        name="missing",
        summary="share of trials without a verdict, and why",
        options=MetricOptions,
        factory=_factory("missing", "Missing"),
    )
    yield MetricSpec(
        name="missing-by-condition",
        summary="test whether verdicts go missing under some conditions more than under others",
        options=MetricOptions,
        factory=_factory("missing_condition", "MissingByCondition"),
    )


def _agreement() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="agreement",
        summary="share of verdicts that equal the same judge's verdict in the reference condition",
        options=MetricOptions,
        factory=_factory("agreement", "Agreement"),
    )
    yield MetricSpec(
        name="flip-rate",
        summary="share of verdicts that differ from the same judge's verdict in the reference condition",
        options=MetricOptions,
        factory=_factory("agreement", "FlipRate"),
    )
    yield MetricSpec(
        name="rerun-disagreement",
        summary="share of pairs of repeats of the identical question that differ: the noise floor",
        options=MetricOptions,
        factory=_factory("rerun", "RerunDisagreement"),
    )
    yield MetricSpec(
        name="noise-excess",
        summary="disagreement with the reference, the noise floor, and the excess of the one over the other",
        options=MetricOptions,
        factory=_factory("excess", "NoiseExcess"),
    )
    yield MetricSpec(
        name="interaction",
        summary="what a chain of perturbations moves beyond what its parts move one by one",
        options=MetricOptions,
        factory=_factory("interaction", "Interaction"),
    )
    yield MetricSpec(
        name="kappa",
        summary="Cohen's kappa between the verdicts and those of the reference condition",
        options=MetricOptions,
        factory=_factory("kappa", "Kappa"),
    )
    yield MetricSpec(
        name="kappa-quadratic",
        summary="quadratically weighted kappa with the reference condition; ordinal scales only",
        options=MetricOptions,
        factory=_factory("kappa", "QuadraticKappa"),
    )
    yield MetricSpec(
        name="kappa-linear",
        summary="linearly weighted kappa with the reference condition; ordinal scales only",
        options=MetricOptions,
        factory=_factory("kappa", "LinearKappa"),
    )
    yield MetricSpec(
        name="chance-corrected",
        summary="Gwet's AC1 and PABAK with the reference condition",
        options=MetricOptions,
        factory=_factory("kappa", "ChanceCorrected"),
    )
    yield MetricSpec(
        name="judge-agreement",
        summary="agreement between judges: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, PABAK, ICC",
        options=MetricOptions,
        factory=_factory("panel_agreement", "JudgeAgreement"),
    )


def _ordinal() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="ordinal-errors",
        summary="MAE, RMSE, bias, exact and adjacent accuracy against the right level; ordinal scales only",
        options=MetricOptions,
        factory=_factory("ordinal", "OrdinalErrors"),
    )
    yield MetricSpec(
        name="ordinal-association",
        summary="CCC, Pearson, Spearman, Kendall's tau-b, quadratic kappa, scale compression; ordinal scales only",
        options=MetricOptions,
        factory=_factory("ordinal", "OrdinalAssociation"),
    )
    yield MetricSpec(
        name="confusion",
        summary="rate of each verdict where each label is right",
        options=MetricOptions,
        factory=_factory("ordinal", "Confusion"),
    )


def _comparisons() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="accuracy-change",
        summary="accuracy in a test minus accuracy in the reference condition, on the same items",
        options=MetricOptions,
        factory=_factory("changes", "AccuracyChange"),
    )
    yield MetricSpec(
        name="judge-comparison",
        summary="accuracy of one judge minus that of another, on the same questions",
        options=MetricOptions,
        factory=_factory("comparison", "JudgeComparison"),
    )


def _panels() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="generalizability",
        summary="variance of items, judges, templates, orders, repeats; dependability; the cheapest design",
        options=GeneralizabilityOptions,
        factory=_factory("generalizability", "Generalizability"),
    )
    yield MetricSpec(
        name="panel",
        summary="votes of all judges: accuracy by several rules, without each judge, correlated errors, best trio",
        options=MetricOptions,
        factory=_factory("panel", "Panel"),
    )
    yield MetricSpec(
        name="calibration",
        summary="Brier score, calibration error and reliability curve, where judges give probabilities",
        options=CalibrationOptions,
        factory=_factory("calibration", "Calibration"),
    )


def _on_request() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="accuracy-equivalence",
        summary="whether a test changes accuracy by less than a declared margin; runs only where it is named",
        options=EquivalenceOptions,
        factory=_factory("changes", "AccuracyEquivalence"),
        default=False,
    )
    yield MetricSpec(
        name="perturbation-validity",
        summary="failure rate among the valid cases, from a table of reviewed ones; runs only where it is named",
        options=ValidityOptions,
        factory=_factory("validity", "PerturbationValidity"),
        default=False,
    )
    yield MetricSpec(
        name="compat-jrh",
        summary="accuracy as the Judge Reliability Harness computes it; runs only where it is named",
        options=HarnessOptions,
        factory=_factory("compat", "CompatHarness"),
        default=False,
    )
    yield MetricSpec(
        name="compat-judgesense",
        summary="score and kappa as JudgeSense computes them; runs only where it is named",
        options=JudgeSenseOptions,
        factory=_factory("compat", "CompatJudgeSense"),
        default=False,
    )


def _factory(module: str, name: str) -> Callable[[Any, BuildContext], Metric]:
    """Return a factory that imports the work when it is called."""

    def build(options: Any, _context: BuildContext) -> Metric:
        return cast("Metric", getattr(import_module(f"jrh_metrics.{module}"), name)(options))

    return build
