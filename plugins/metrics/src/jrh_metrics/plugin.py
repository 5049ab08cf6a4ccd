"""Declare the metrics."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, hookimpl
from jrh.measuring import BreakdownOptions, MetricOptions

from jrh_metrics.options import (
    CalibrationOptions,
    CeilingOptions,
    ConfusionOptions,
    CovariateOptions,
    EquivalenceOptions,
    ErrorRateOptions,
    FullOptions,
    GeneralizabilityOptions,
    HarnessOptions,
    JudgeSenseOptions,
    PanelTestOptions,
    PrevalenceOptions,
    RateOptions,
    ValidityOptions,
)

JRH_API_VERSION = 1


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
        name="as-expected",
        rates=("as-expected",),
        summary="share of verdicts as expected: the gold label, a stated label, or relative to the reference verdict",
        options=RateOptions,
        factory="jrh_metrics.as_expected:AsExpected",
        instead_of={"accuracy": "meets the test's expectation"},
    )
    yield MetricSpec(
        name="gold-accuracy",
        rates=("gold-accuracy",),
        summary="share of verdicts that equal the gold label, for conditions that do not change it",
        options=BreakdownOptions,
        factory="jrh_metrics.as_expected:GoldAccuracy",
        instead_of={"accuracy": "equal to the gold label"},
    )
    yield MetricSpec(
        name="gain-over-commonest",
        summary="gold accuracy minus the share of the most common gold label, in the reference condition",
        options=MetricOptions,
        factory="jrh_metrics.gain:GainOverCommonest",
    )
    yield MetricSpec(
        name="covariate-effect",
        summary="effect of length, author and named columns on verdicts at equal gold, in the reference condition",
        options=CovariateOptions,
        factory="jrh_metrics.covariates:CovariateEffect",
    )
    yield MetricSpec(
        name="error-rates",
        rates=("false-positive-rate", "false-negative-rate"),
        summary="false positive rate and false negative rate",
        options=ErrorRateOptions,
        factory="jrh_metrics.error_rates:ErrorRates",
    )
    yield MetricSpec(
        name="corrected-prevalence",
        summary="share of positives corrected for the judge's errors, for partly labelled data",
        options=PrevalenceOptions,
        factory="jrh_metrics.prevalence:CorrectedPrevalence",
    )
    yield MetricSpec(
        name="missing",
        rates=("missing",),
        summary="share of trials without a verdict, and why",
        options=BreakdownOptions,
        factory="jrh_metrics.missing:Missing",
    )
    yield MetricSpec(
        name="missing-by-condition",
        summary="test whether the share of missing verdicts depends on the condition",
        options=MetricOptions,
        factory="jrh_metrics.missing_condition:MissingByCondition",
    )


def _agreement() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="agreement",
        rates=("agreement",),
        summary="share of verdicts that equal the same judge's verdict in the reference condition",
        options=BreakdownOptions,
        factory="jrh_metrics.agreement:Agreement",
    )
    yield MetricSpec(
        name="flip-rate",
        rates=("flip-rate",),
        summary="share of verdicts that differ from the same judge's verdict in the reference condition",
        options=RateOptions,
        factory="jrh_metrics.agreement:FlipRate",
    )
    yield MetricSpec(
        name="rerun-disagreement",
        summary="noise floor: share of pairs of repeats of the identical question with different verdicts",
        options=BreakdownOptions,
        factory="jrh_metrics.rerun:RerunDisagreement",
    )
    yield MetricSpec(
        name="noise-excess",
        summary="disagreement with the reference beyond the noise floor",
        options=FullOptions,
        factory="jrh_metrics.excess:NoiseExcess",
    )
    yield MetricSpec(
        name="interaction",
        summary="effect of a chain of perturbations beyond the sum of its parts' effects",
        options=MetricOptions,
        factory="jrh_metrics.interaction:Interaction",
    )
    yield MetricSpec(
        name="kappa",
        summary="Cohen's kappa between the verdicts and those of the reference condition",
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:Kappa",
    )
    yield MetricSpec(
        name="kappa-quadratic",
        summary="quadratically weighted kappa with the reference condition; ordinal scales only",
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:QuadraticKappa",
        default=False,
    )
    yield MetricSpec(
        name="kappa-linear",
        summary="linearly weighted kappa with the reference condition; ordinal scales only",
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:LinearKappa",
        default=False,
    )
    yield MetricSpec(
        name="gold-agreement",
        summary="Cohen's kappa and Matthews correlation (MCC) with the gold labels; unordered scales only",
        options=BreakdownOptions,
        factory="jrh_metrics.gold_agreement:GoldAgreement",
    )
    yield MetricSpec(
        name="people-ceiling",
        summary="kappa of the judge with people beside that of people with each other, where two people labelled items",
        options=CeilingOptions,
        factory="jrh_metrics.ceiling:PeopleCeiling",
    )
    yield MetricSpec(
        name="chance-corrected",
        summary="Gwet's AC1 and PABAK with the reference condition",
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:ChanceCorrected",
        default=False,
    )
    yield MetricSpec(
        name="judge-agreement",
        summary="agreement between judges: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, PABAK, ICC",
        options=MetricOptions,
        factory="jrh_metrics.panel_agreement:JudgeAgreement",
    )


def _ordinal() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="ordinal-errors",
        summary="MAE, RMSE, bias, exact and adjacent accuracy against the right level; ordinal scales only",
        options=FullOptions,
        factory="jrh_metrics.ordinal:OrdinalErrors",
    )
    yield MetricSpec(
        name="ordinal-association",
        summary="CCC, Pearson, Spearman, Kendall's tau-b, quadratic kappa, scale compression; ordinal scales only",
        options=FullOptions,
        factory="jrh_metrics.ordinal:OrdinalAssociation",
    )
    yield MetricSpec(
        name="confusion",
        summary="confusion matrix: rate of each verdict for each right label",
        options=ConfusionOptions,
        factory="jrh_metrics.ordinal:Confusion",
    )


def _comparisons() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="accuracy-change",
        summary="accuracy in a test minus accuracy in the reference condition, on the same items",
        options=FullOptions,
        factory="jrh_metrics.changes:AccuracyChange",
    )
    yield MetricSpec(
        name="accuracy-equivalence",
        summary="equivalence test: is the change of accuracy within the margin?",
        options=EquivalenceOptions,
        factory="jrh_metrics.changes:AccuracyEquivalence",
    )
    yield MetricSpec(
        name="excess-equivalence",
        summary="equivalence test: do verdicts change by no more than the margin beyond reruns?",
        options=EquivalenceOptions,
        factory="jrh_metrics.excess:ExcessEquivalence",
    )
    yield MetricSpec(
        name="judge-comparison",
        summary="accuracy of one judge minus that of another, on the same questions",
        options=MetricOptions,
        factory="jrh_metrics.comparison:JudgeComparison",
        default=False,
    )


def _panels() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="generalizability",
        summary="variance of items, judges, templates, orders, repeats; dependability; the cheapest design",
        options=GeneralizabilityOptions,
        factory="jrh_metrics.generalizability:Generalizability",
        default=False,
    )
    yield MetricSpec(
        name="panel",
        summary="all judges as a panel: accuracy by voting rule and without each judge, error correlation, best trio",
        options=MetricOptions,
        factory="jrh_metrics.panel:Panel",
    )
    yield MetricSpec(
        name="panel-by-test",
        summary="per test and over tests: majority vote, best panel of three, means over tests and over judges",
        options=PanelTestOptions,
        factory="jrh_metrics.panel_by_test:PanelByTest",
        default=False,
    )
    yield MetricSpec(
        name="calibration",
        summary="Brier score, overconfidence, calibration error, reliability curve of judges that state probabilities",
        options=CalibrationOptions,
        factory="jrh_metrics.calibration:Calibration",
    )


def _on_request() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="perturbation-validity",
        summary="failure rate among the valid cases, based on a table of reviewed cases",
        options=ValidityOptions,
        factory="jrh_metrics.validity:PerturbationValidity",
        default=False,
    )
    yield MetricSpec(
        name="compat-jrh",
        summary="accuracy as the Judge Reliability Harness computes it",
        options=HarnessOptions,
        factory="jrh_metrics.compat:CompatHarness",
        default=False,
    )
    yield MetricSpec(
        name="compat-judgesense",
        summary="score and kappa as JudgeSense computes them",
        options=JudgeSenseOptions,
        factory="jrh_metrics.compat:CompatJudgeSense",
        default=False,
    )
