"""Declare the metrics."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, hookimpl
from jrh.plugins import FlagSpec, KindSpec, RuleSpec, SectionSpec
from jrh.values import FlagEffect
from jrh_measuring import BreakdownOptions, MetricOptions

from jrh_metrics.flag_list import EXPLAINING, FORBIDDING
from jrh_metrics.measure_list import MEASURES
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

JRH_API_VERSION = 2


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics: rates, agreement, ordinal measures, noise, missing verdicts, comparisons."""
    yield from _rates()
    yield from _agreement()
    yield from _ordinal()
    yield from _comparisons()
    yield from _panels()
    yield from _on_request()


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flags of these metrics."""
    for name, meaning in FORBIDDING.items():
        yield FlagSpec(name=name, meaning=meaning, effect=FlagEffect.FORBIDS)
    for name, meaning in EXPLAINING.items():
        yield FlagSpec(name=name, meaning=meaning)


def _rates() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="as-expected",
        summary="share of verdicts as expected: the gold label, a stated label, or relative to the reference verdict",
        measures=MEASURES["as-expected"],
        options=RateOptions,
        factory="jrh_metrics.as_expected:AsExpected",
        instead_of={"accuracy": "meets the test's expectation"},
    )
    yield MetricSpec(
        name="gold-accuracy",
        summary="share of verdicts that equal the gold label, for conditions that do not change it",
        measures=MEASURES["gold-accuracy"],
        options=BreakdownOptions,
        factory="jrh_metrics.as_expected:GoldAccuracy",
        instead_of={"accuracy": "equal to the gold label"},
    )
    yield MetricSpec(
        name="gain-over-commonest",
        summary="gold accuracy minus the share of the most common gold label, in the reference condition",
        measures=MEASURES["gain-over-commonest"],
        options=MetricOptions,
        factory="jrh_metrics.gain:GainOverCommonest",
    )
    yield MetricSpec(
        name="covariate-effect",
        summary="effect of length, author and named columns on verdicts at equal gold, in the reference condition",
        measures=MEASURES["covariate-effect"],
        options=CovariateOptions,
        factory="jrh_metrics.covariates:CovariateEffect",
    )
    yield MetricSpec(
        name="error-rates",
        summary="false positive rate and false negative rate",
        measures=MEASURES["error-rates"],
        options=ErrorRateOptions,
        factory="jrh_metrics.error_rates:ErrorRates",
    )
    yield MetricSpec(
        name="corrected-prevalence",
        summary="share of positives corrected for the judge's errors, for partly labelled data",
        measures=MEASURES["corrected-prevalence"],
        options=PrevalenceOptions,
        factory="jrh_metrics.prevalence:CorrectedPrevalence",
    )
    yield MetricSpec(
        name="missing",
        summary="share of trials without a verdict, and why",
        measures=MEASURES["missing"],
        options=BreakdownOptions,
        factory="jrh_metrics.missing:Missing",
    )
    yield MetricSpec(
        name="missing-by-condition",
        summary="test whether the share of missing verdicts depends on the condition",
        measures=MEASURES["missing-by-condition"],
        options=MetricOptions,
        factory="jrh_metrics.missing_condition:MissingByCondition",
    )


def _agreement() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="agreement",
        summary="share of verdicts that equal the same judge's verdict in the reference condition",
        measures=MEASURES["agreement"],
        options=BreakdownOptions,
        factory="jrh_metrics.agreement:Agreement",
    )
    yield MetricSpec(
        name="flip-rate",
        summary="share of verdicts that differ from the same judge's verdict in the reference condition",
        measures=MEASURES["flip-rate"],
        options=RateOptions,
        factory="jrh_metrics.agreement:FlipRate",
    )
    yield MetricSpec(
        name="rerun-disagreement",
        summary="noise floor: share of pairs of repeats of the identical question with different verdicts",
        measures=MEASURES["rerun-disagreement"],
        options=BreakdownOptions,
        factory="jrh_metrics.rerun:RerunDisagreement",
    )
    yield MetricSpec(
        name="noise-excess",
        summary="disagreement with the reference beyond the noise floor",
        measures=MEASURES["noise-excess"],
        options=FullOptions,
        factory="jrh_metrics.excess:NoiseExcess",
    )
    yield MetricSpec(
        name="interaction",
        summary="effect of a chain of perturbations beyond the sum of its parts' effects",
        measures=MEASURES["interaction"],
        options=MetricOptions,
        factory="jrh_metrics.interaction:Interaction",
    )
    yield MetricSpec(
        name="kappa",
        summary="Cohen's kappa between the verdicts and those of the reference condition",
        measures=MEASURES["kappa"],
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:Kappa",
    )
    yield MetricSpec(
        name="kappa-quadratic",
        summary="quadratically weighted kappa with the reference condition; ordinal scales only",
        measures=MEASURES["kappa-quadratic"],
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:QuadraticKappa",
        default=False,
    )
    yield MetricSpec(
        name="kappa-linear",
        summary="linearly weighted kappa with the reference condition; ordinal scales only",
        measures=MEASURES["kappa-linear"],
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:LinearKappa",
        default=False,
    )
    yield MetricSpec(
        name="gold-agreement",
        summary="Cohen's kappa and Matthews correlation (MCC) with the gold labels; unordered scales only",
        measures=MEASURES["gold-agreement"],
        options=BreakdownOptions,
        factory="jrh_metrics.gold_agreement:GoldAgreement",
    )
    yield MetricSpec(
        name="people-ceiling",
        summary="kappa of the judge with people, compared with that of people with each other; items with two labels",
        measures=MEASURES["people-ceiling"],
        options=CeilingOptions,
        factory="jrh_metrics.ceiling:PeopleCeiling",
    )
    yield MetricSpec(
        name="chance-corrected",
        summary="Gwet's AC1 and PABAK with the reference condition",
        measures=MEASURES["chance-corrected"],
        options=BreakdownOptions,
        factory="jrh_metrics.kappa:ChanceCorrected",
        default=False,
    )
    yield MetricSpec(
        name="judge-agreement",
        summary="agreement between judges: Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, PABAK, ICC",
        measures=MEASURES["judge-agreement"],
        options=MetricOptions,
        factory="jrh_metrics.panel_agreement:JudgeAgreement",
    )


def _ordinal() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="ordinal-errors",
        summary="MAE, RMSE, bias, exact and adjacent accuracy against the right level; ordinal scales only",
        measures=MEASURES["ordinal-errors"],
        options=FullOptions,
        factory="jrh_metrics.ordinal:OrdinalErrors",
    )
    yield MetricSpec(
        name="ordinal-association",
        summary="CCC, Pearson, Spearman, Kendall's tau-b, quadratic kappa, scale compression; ordinal scales only",
        measures=MEASURES["ordinal-association"],
        options=FullOptions,
        factory="jrh_metrics.ordinal:OrdinalAssociation",
    )
    yield MetricSpec(
        name="confusion",
        summary="confusion matrix: rate of each verdict for each right label",
        measures=MEASURES["confusion"],
        options=ConfusionOptions,
        factory="jrh_metrics.ordinal:Confusion",
    )


def _comparisons() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="accuracy-change",
        summary="accuracy in a test minus accuracy in the reference condition, on the same items",
        measures=MEASURES["accuracy-change"],
        options=FullOptions,
        factory="jrh_metrics.changes:AccuracyChange",
    )
    yield MetricSpec(
        name="accuracy-equivalence",
        summary="equivalence test: is the change of accuracy within the margin?",
        measures=MEASURES["accuracy-equivalence"],
        options=EquivalenceOptions,
        factory="jrh_metrics.changes:AccuracyEquivalence",
    )
    yield MetricSpec(
        name="excess-equivalence",
        summary="equivalence test: do verdicts change by no more than the margin beyond reruns?",
        measures=MEASURES["excess-equivalence"],
        options=EquivalenceOptions,
        factory="jrh_metrics.excess:ExcessEquivalence",
    )
    yield MetricSpec(
        name="judge-comparison",
        summary="accuracy of one judge minus that of another, on the same questions",
        measures=MEASURES["judge-comparison"],
        options=MetricOptions,
        factory="jrh_metrics.comparison:JudgeComparison",
        default=False,
    )


def _panels() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="generalizability",
        summary="variance of items, judges, templates, orders, repeats; dependability; the cheapest design",
        measures=MEASURES["generalizability"],
        options=GeneralizabilityOptions,
        factory="jrh_metrics.generalizability:Generalizability",
        default=False,
    )
    yield MetricSpec(
        name="panel",
        summary="all judges as a panel: accuracy by voting rule and without each judge, error correlation, best trio",
        measures=MEASURES["panel"],
        options=MetricOptions,
        factory="jrh_metrics.panel:Panel",
    )
    yield MetricSpec(
        name="panel-by-test",
        summary="per test and over tests: majority vote, best panel of three, means over tests and over judges",
        measures=MEASURES["panel-by-test"],
        options=PanelTestOptions,
        factory="jrh_metrics.panel_by_test:PanelByTest",
        default=False,
    )
    yield MetricSpec(
        name="calibration",
        summary="Brier score, overconfidence, calibration error, reliability curve of judges that state probabilities",
        measures=MEASURES["calibration"],
        options=CalibrationOptions,
        factory="jrh_metrics.calibration:Calibration",
    )


def _on_request() -> Iterable[MetricSpec]:
    yield MetricSpec(
        name="perturbation-validity",
        summary="failure rate among the valid cases, based on a table of reviewed cases",
        measures=MEASURES["perturbation-validity"],
        options=ValidityOptions,
        factory="jrh_metrics.validity:PerturbationValidity",
        default=False,
    )
    yield MetricSpec(
        name="compat-jrh",
        summary="accuracy as the Judge Reliability Harness computes it",
        measures=MEASURES["compat-jrh"],
        options=HarnessOptions,
        factory="jrh_metrics.compat:CompatHarness",
        default=False,
    )
    yield MetricSpec(
        name="compat-judgesense",
        summary="score and kappa as JudgeSense computes them",
        measures=MEASURES["compat-judgesense"],
        options=JudgeSenseOptions,
        factory="jrh_metrics.compat:CompatJudgeSense",
        default=False,
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules: accuracy, changes, reruns, verdicts, grading, people, covariates."""
    yield RuleSpec(
        name="trivial-accuracy",
        summary="accuracy against always answering the most common gold label",
        reads=("gain-over-commonest", "gold-accuracy", "as-expected"),
        kinds=(KindSpec(name="trivial-accuracy", order=0, floored=True),),
        factory="jrh_metrics.rules.accuracy:TrivialAccuracy",
    )
    yield RuleSpec(
        name="human-ceiling",
        summary="agreement with people against that of people with each other",
        reads=("people-kappa-difference", "people-kappa", "judge-people-kappa"),
        kinds=(KindSpec(name="human-ceiling", order=10),),
        factory="jrh_metrics.rules.ceiling:HumanCeiling",
    )
    yield RuleSpec(
        name="changes",
        summary="in which tests verdicts and accuracy change, and in which they are shown not to",
        reads=(
            *("excess-disagreement", "excess-equivalence", "accuracy-change", "accuracy-equivalence", "flip-rate"),
            *("as-expected", "rerun-disagreement"),
        ),
        kinds=(
            KindSpec(name="polarity-blindness", order=40),
            KindSpec(name="moves-more-than-reruns", order=50, floored=True, silences=("robust",)),
            KindSpec(
                name="accuracy-change",
                order=60,
                floored=True,
                silences=("misses-changes", "robust", "accuracy-equivalence"),
            ),
            KindSpec(name="misses-changes", order=70, floored=True),
            KindSpec(name="robust", order=200),
            KindSpec(name="accuracy-equivalence", order=210),
            KindSpec(name="no-reruns", order=220),
            KindSpec(name="undecided", order=230),
        ),
        factory="jrh_metrics.rules.changes:Changes",
    )
    yield RuleSpec(
        name="reruns",
        summary="whether identical questions get different verdicts",
        reads=("rerun-disagreement",),
        kinds=(KindSpec(name="unstable-on-reruns", order=130, floored=True),),
        factory="jrh_metrics.rules.changes:Reruns",
    )
    yield RuleSpec(
        name="verdicts",
        summary="too few items, missing verdicts, and what they depend on",
        reads=("missing", "missing-by-*-p", "gold-accuracy", "as-expected", "rerun-disagreement"),
        kinds=(
            KindSpec(name="few-clusters", order=100),
            KindSpec(name="missing-verdicts", order=110, floored=True),
            *(KindSpec(name=f"missing-by-{what}", order=120) for what in ("condition", "label", "error", "confidence")),
        ),
        factory="jrh_metrics.rules.verdicts:Verdicts",
    )
    yield RuleSpec(
        name="grading",
        summary="stated probabilities, grades too high or low, their order and spread, in the reference condition",
        reads=("overconfidence", "scale-compression", "bias", "spearman"),
        kinds=(
            KindSpec(name="miscalibration", order=140, floored=True),
            # A ratio of standard deviations moves more than a share does.
            KindSpec(name="compression", order=150, floored=True, floor=0.1),
            KindSpec(name="grading-bias", order=160, floored=True),
            KindSpec(name="inverted-order", order=170),
        ),
        factory="jrh_metrics.rules.ordinal:Grading",
    )
    yield RuleSpec(
        name="covariates",
        summary="which covariates move verdicts at equal gold",
        reads=("covariate-effect", "covariate-gap", "peer-covariate-effect", "peer-covariate-gap"),
        kinds=(KindSpec(name="covariate-effect", order=80, floored=True),),
        factory="jrh_metrics.rules.covariates:CovariateEffects",
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the sections."""
    yield SectionSpec(
        name="people",
        summary="agreement of judges with people, and of people with each other",
        title="People and judges",
        reads=("judge-people-kappa", "people-kappa", "people-kappa-difference"),
        factory="jrh_metrics.sections:people",
    )
    yield SectionSpec(
        name="beyond-chance",
        summary="kappa and MCC with the gold labels",
        title="Agreement with gold beyond chance",
        reads=("gold-kappa", "gold-kappa-quadratic", "gold-mcc"),
        factory="jrh_metrics.sections:beyond_chance",
    )
    yield SectionSpec(
        name="false-verdicts",
        summary="false positives and false negatives",
        title="False positives and false negatives",
        reads=("false-positive-rate", "false-negative-rate"),
        factory="jrh_metrics.sections:FalseVerdicts",
    )
    yield SectionSpec(
        name="variance",
        summary="variance components of verdicts, and the reliability they leave",
        title="Sources of variance",
        reads=("variance", "generalizability", "dependability", "cheapest-design"),
        factory="jrh_metrics.sections:Variance",
    )
    yield SectionSpec(
        name="interactions",
        summary="effects of chains of perturbations beyond the sum of their parts",
        title="Interactions of perturbations",
        reads=("interaction",),
        factory="jrh_metrics.sections:interactions",
    )
    yield SectionSpec(
        name="panel",
        summary="agreement of the judges, what they decide together, and correlations of their errors",
        title="The judges as a panel",
        reads=(
            *("krippendorff-alpha", "fleiss-kappa", "gwet-ac1", "pabak", "icc-2-1", "icc-2-k"),
            *("panel-accuracy", "best-trio", "panel-mean-absolute-error", "effective-judges", "error-correlation"),
        ),
        factory="jrh_metrics.panel_section:Panel",
    )
