"""Declare the metrics."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from jrh import MetricSpec, hookimpl
from jrh.plugins import FlagSpec, KindSpec, RuleScope, RuleSpec, SectionSpec
from jrh.values import FlagEffect, RunFinished
from jrh_measuring import read_metrics

from jrh_metrics.flag_list import EXPLAINING, FORBIDDING

JRH_API_VERSION = 2

_SLIGHT = 0.2
"""Agreement of a kappa below it is slight (Landis and Koch 1977)."""


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_metrics")


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flags of these metrics."""
    for name, meaning in FORBIDDING.items():
        yield FlagSpec(name=name, meaning=meaning, effect=FlagEffect.FORBIDS)
    for name, meaning in EXPLAINING.items():
        yield FlagSpec(name=name, meaning=meaning)


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules: accuracy, changes, reruns, verdicts, grading, people, covariates."""
    yield RuleSpec(
        name="headline",
        summary="agreement with gold beyond chance, or verdicts as expected without gold labels",
        reads=("gold-kappa", "gold-accuracy", "as-expected", "people-kappa", "rerun-disagreement"),
        kinds=(
            KindSpec(name="gold-agreement", order=0, floored=True, floor=_SLIGHT),
            KindSpec(name="below-chance", order=0, silences=("no-agreement", "trivial-accuracy")),
            KindSpec(name="as-expected", order=0),
            KindSpec(name="trivial-accuracy", order=5, floored=True),
        ),
        factory="jrh_metrics.rules.headline:GoldAgreement",
    )
    yield RuleSpec(
        name="no-agreement",
        summary="hardly any agreement with gold beyond chance, and constant verdicts",
        reads=("gold-kappa", "gold-accuracy", "people-kappa"),
        kinds=(
            KindSpec(name="constant-verdicts", order=0, silences=("trivial-accuracy",)),
            # Whatever is shown of so small a kappa is no merit, and explains a low accuracy.
            KindSpec(
                name="no-agreement",
                order=0,
                floored=True,
                floor=_SLIGHT,
                silences=("gold-agreement", "trivial-accuracy"),
            ),
        ),
        factory="jrh_metrics.rules.headline:NoAgreement",
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
            KindSpec(name="moves-more-than-reruns", order=50, floored=True, silences=("robust",)),
            KindSpec(
                name="accuracy-change",
                order=60,
                floored=True,
                # A drop of accuracy explains the changes that were missed: both would count one defect twice.
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
        reads=("covariate-effect", "covariate-reverse", "peer-covariate-effect", "peer-covariate-reverse"),
        kinds=(KindSpec(name="covariate-effect", order=80, floored=True),),
        factory="jrh_metrics.rules.covariates:CovariateEffects",
    )
    yield RuleSpec(
        name="served-models",
        summary="whether several models answered a judge under one name",
        scope=RuleScope.DATA,
        kinds=(KindSpec(name="served-model", order=15),),
        factory="jrh_metrics.this_run:ServedModels",
    )


@hookimpl
def jrh_run_finished(event: RunFinished) -> None:
    """Write down how long the stages of the run took."""
    # By its name, like a factory: no work is imported while plugins load.
    import_module("jrh_metrics.this_run").add_process(event)


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the sections."""
    yield SectionSpec(
        name="answer",
        summary="which judge, good enough for what, what fails, what it costs, what next: a row per judge and task",
        title="Which judge, for what",
        reads=("gold-kappa", "gold-accuracy", "as-expected", "mean-over-tests", "rerun-disagreement"),
        factory="jrh_metrics.answer_table:AnswerTable",
        order=-10,
    )
    yield SectionSpec(
        name="this-run",
        summary="replies that another run paid for, and the models that providers say they served",
        title="This run",
        factory="jrh_metrics.this_run:ThisRun",
        order=-5,
    )
    yield SectionSpec(
        name="judges-by-tests",
        summary="whether verdicts are right in each test, and how they move: heat maps and intervals",
        title="Judges by tests",
        reads=(
            *("gold-accuracy", "as-expected", "agreement", "excess-disagreement", "flip-rate"),
            *("rerun-disagreement", "jss", "self-kappa", "majority-accuracy"),
        ),
        factory="jrh_metrics.judges_by_tests:JudgesByTests",
        kinds=("jrh_measuring:HeatPart",),
        order=0,
    )
    yield SectionSpec(
        name="gold-levels",
        summary="agreement with the gold levels of ordinal scales",
        title="Ordinal scales",
        reads=(
            *("gold-kappa", "pearson", "spearman"),
            *("mean-absolute-error", "root-mean-squared-error", "bias"),
        ),
        factory="jrh_metrics.sections:gold_levels",
        order=20,
    )
    yield SectionSpec(
        name="confusion",
        summary="confusion matrices",
        title="Confusion matrices",
        reads=("confusion",),
        factory="jrh_metrics.sections:Confusion",
        kinds=("jrh_measuring:MatrixPart",),
    )
    yield SectionSpec(
        name="stated-probabilities",
        summary="whether the probabilities that judges state are those of being right",
        title="Stated probabilities",
        reads=("brier", "calibration-error", "reliability"),
        factory="jrh_metrics.sections:StatedProbabilities",
        kinds=("jrh_measuring:CurvePart",),
        order=60,
    )
    yield SectionSpec(
        name="cost-of-accuracy",
        summary="price and accuracy of each judge, and the Pareto frontier",
        title="Cost and reliability",
        reads=("gold-accuracy", "as-expected"),
        factory="jrh_metrics.judges_by_tests:CostOfAccuracy",
        kinds=("jrh_measuring:CurvePart",),
        order=80,
    )
    yield SectionSpec(
        name="cost-by-test",
        summary="what verdicts and points of accuracy cost in every test, and over all tests",
        title="Cost in every test",
        reads=("gold-accuracy", "as-expected", "mean-over-tests"),
        factory="jrh_metrics.judges_by_tests:cost_by_test",
        order=81,
    )
    yield SectionSpec(
        name="cost-over-tasks",
        summary="accuracy and cost of each judge over all tasks, and the Pareto frontier",
        title="All tasks together",
        reads=("mean-over-tests",),
        factory="jrh_metrics.judges_by_tests:TasksTogether",
        kinds=("jrh_measuring:CurvePart",),
        order=82,
    )
    yield SectionSpec(
        name="differences",
        summary="accuracy of a test, task or variant less that of another, and agreement of named variants",
        title="Differences between tests and tasks",
        reads=("accuracy-between-tests", "accuracy-between-tasks", "pair-agreement", "pair-accuracy-difference"),
        factory="jrh_metrics.sections:differences",
    )
    yield SectionSpec(
        name="binary-levels",
        summary="ordinal verdicts made binary at a stated level",
        title="Levels made binary",
        reads=("binary-accuracy", "binary-false-positive-rate", "binary-false-negative-rate", "binary-flip-rate"),
        factory="jrh_metrics.sections:binary_levels",
    )
    yield SectionSpec(
        name="people",
        summary="agreement of judges with people, and of people with each other",
        title="People and judges",
        reads=("judge-people-kappa", "people-kappa", "people-kappa-difference"),
        factory="jrh_metrics.sections:people",
    )
    yield SectionSpec(
        name="beyond-chance",
        summary="kappa with the gold labels",
        title="Agreement with gold beyond chance",
        reads=("gold-kappa",),
        factory="jrh_metrics.sections:beyond_chance",
    )
    yield SectionSpec(
        name="false-verdicts",
        summary="false positives and false negatives",
        title="False positives and false negatives",
        reads=("false-positive-rate", "false-negative-rate", "gold-accuracy", "as-expected"),
        factory="jrh_metrics.sections:FalseVerdicts",
    )
    yield SectionSpec(
        name="variance",
        summary="variance components of verdicts, and the reliability they leave",
        title="Sources of variance",
        reads=("variance", "generalizability", "dependability", "cheapest-design"),
        factory="jrh_metrics.sections:variance",
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
            *("krippendorff-alpha", "icc-2-1"),
            *("panel-accuracy", "best-trio", "panel-mean-absolute-error", "effective-judges", "error-correlation"),
        ),
        factory="jrh_metrics.panel_section:panel",
    )
    yield SectionSpec(
        name="over-tests",
        summary="means and spreads over tests and judges, and panels test by test",
        title="Judges over tests, and panels",
        reads=(
            *("mean-over-tests", "mean-over-judges", "gold-accuracy", "as-expected"),
            *("majority-accuracy", "majority-false-positive-rate", "majority-false-negative-rate"),
            *("trio-accuracy", "trio-false-positive-rate", "trio-false-negative-rate"),
        ),
        factory="jrh_metrics.panel_section:over_tests",
    )
    yield SectionSpec(
        name="as-published",
        summary="agreement between templates by the estimator of JudgeSense, and by that of jrh",
        title="JudgeSense's estimator",
        reads=("compat-judgesense-jss", "compat-judgesense-kappa", "jss", "template-kappa"),
        factory="jrh_metrics.sections:as_published",
    )
