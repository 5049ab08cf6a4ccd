"""The metrics and their measures. `docs/measures.md` is generated from them.

In formulas `y` is a verdict, `t` the right label, `y0` a verdict of the same judge on the same item in the reference
condition, P the share of trials, Q the number of labels of the scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jrh import MetricSpec
from jrh.plugins import MeasureInfo, Role
from jrh_measuring import (
    BY_JACKKNIFE,
    CLUSTER_ROBUST,
    OF_A_RATE,
    BreakdownOptions,
    MetricOptions,
    describe_coefficient,
    describe_difference,
    describe_p_value,
    describe_quantity,
    describe_rate,
    describe_share,
)

from jrh_metrics import options as of

_COHEN: Final = "Cohen (1960); weights: Cohen (1968)"
_PPI: Final = "Angelopoulos et al. (2023), prediction-powered inference; tuning: PPI++"
_REFERENCE_FLAGS: Final = ("change-due", "constant-reference", "degenerate", "sensitive-to-missing")
_CORRELATION_FLAGS: Final = ("degenerate", "no-interval")
_SQUARES: Final = "on ordinal scales disagreements are weighted by the square of their steps"
_EXCHANGE: Final = "excludes 0 exactly where p < 0.05 (`exchange-wilson`)"
_JACKKNIFES: Final = f"{BY_JACKKNIFE}, on ordinal scales `jackknife-fisher-z`"
_SLOPES: Final[Mapping[str, Any]] = {
    "unit": "difference or difference in levels",
    "interval": "cluster-robust, Student's t",
}
_HELD_OUT: Final[Mapping[str, Any]] = {"flags": ("unstable-choice",)}


def _metric(
    name: str,
    factory: str,
    options: type,
    summary: str,
    *measures: MeasureInfo,
    default: bool = True,
    instead_of: Mapping[str, str] | None = None,
) -> MetricSpec:
    return MetricSpec(
        name=name,
        summary=summary,
        measures=measures,
        options=options,
        factory=f"jrh_metrics.{factory}",
        default=default,
        instead_of=instead_of or {},
    )


def _error(name: str, formula: str, **more: Any) -> MeasureInfo:
    return describe_quantity(name, formula, "levels", better="lower", interval=CLUSTER_ROBUST, **more)


def _equivalence(name: str, formula: str, *flags: str, **more: Any) -> MeasureInfo:
    results = ("equivalent", "different", "undecided")
    return describe_difference(name, formula, flags=(*results, *flags), tested=True, **more)


def _of_covariates(prefix: str, truth: str) -> Iterator[MeasureInfo]:
    yield describe_difference(
        f"{prefix}covariate-effect",
        f"slope of `y` on a covariate, holding {truth} constant: per standard deviation of a number (of the logarithm "
        "of `length`), or of a level of a text column against all others",
        **_SLOPES,
    )
    yield describe_difference(
        f"{prefix}covariate-reverse",
        f"slope of {truth} on the covariate, holding `y` constant: opposite in sign if the judge favours it",
        **_SLOPES,
    )
    yield describe_p_value(f"{prefix}covariate-effect-p", "cluster-robust t test; null hypothesis: the slope is 0")


METRICS: Final = (
    _metric(
        "as-expected",
        "rates:AsExpected",
        of.RateOptions,
        "share of verdicts as expected: the gold label, a stated label, or relative to the reference verdict",
        describe_rate(
            "as-expected",
            "P(`y` is as expected): `y = t` in the reference condition; the stated label where a case expects "
            "one; `y = y0`, `y != y0`, `y <= y0`, `y >= y0` where it expects the same, a different, no higher "
            "or no lower verdict",
            better="higher",
            flags=("constant-gold", "sensitive-to-missing"),
            source="Ribeiro et al. (2020), CheckList, for the kinds of expectation",
            role=Role.EXPECTATION.value,
        ),
        instead_of={"accuracy": "meets the test's expectation"},
    ),
    _metric(
        "gold-accuracy",
        "rates:GoldAccuracy",
        of.RateOptions,
        "share of verdicts that equal the gold label, for conditions that do not change it",
        describe_rate(
            "gold-accuracy",
            "P(`y = t`), in cases that keep the gold label",
            better="higher",
            flags=("constant-gold", "sensitive-to-missing"),
            role=Role.AGREEMENT.value,
        ),
        instead_of={
            "accuracy": "equal to the gold label",
            "exact-accuracy": "equal to the gold label",
            "gain-over-commonest": "to be held against the share of the most common gold label, which is known",
        },
    ),
    _metric(
        "covariate-effect",
        "covariates:CovariateEffect",
        of.CovariateOptions,
        "effect of length, author and named columns on verdicts at equal gold, in the reference condition",
        *_of_covariates("", "gold labels"),
        *_of_covariates("peer-", "the other judges' mean verdict"),
    ),
    _metric(
        "error-rates",
        "rates:ErrorRates",
        of.ErrorRateOptions,
        "false positive rate and false negative rate",
        describe_rate("false-positive-rate", "P(`y` positive given `t` is not)"),
        describe_rate("false-negative-rate", "P(`y` not positive given `t` is)"),
    ),
    _metric(
        "corrected-prevalence",
        "prevalence:CorrectedPrevalence",
        of.PrevalenceOptions,
        "share of positives corrected for the judge's errors, for partly labelled data",
        describe_share("judged-prevalence", "p = P(`y` positive), the judge's own share", on_request=True),
        describe_share(
            "prevalence-rogan-gladen",
            "(p + q0 - 1) / (q0 + q1 - 1), with specificity q0 and sensitivity q1 on the labelled items",
            interval="Lang and Reiczigel (`lang-reiczigel`)",
            flags=("degenerate", "cut", "few-labels", "conservative"),
            source="Rogan and Gladen (1978); interval: Lang and Reiczigel (2014)",
            on_request=True,
        ),
        describe_share(
            "prevalence-prediction-powered",
            "w mean(unlabelled `y`) + mean(`t` - w `y`) over the labelled items",
            interval="normal, tuned with t (`prediction-powered`, `prediction-powered-tuned`)",
            flags=("cut", "few-labels"),
            source=_PPI,
        ),
        describe_quantity(
            "judged-mean-level",
            "mean level of `y`, in steps above the lowest",
            "levels",
            interval=CLUSTER_ROBUST,
            on_request=True,
        ),
        describe_quantity(
            "mean-level-prediction-powered",
            "w mean(unlabelled level) + mean(level of `t` - w level of `y`)",
            "levels",
            interval="normal, tuned with t (`prediction-powered-tuned`)",
            flags=("few-labels",),
            source=_PPI,
        ),
    ),
    _metric(
        "missing",
        "rates:Missing",
        BreakdownOptions,
        "share of trials without a verdict, and why",
        describe_rate(
            "missing",
            "P(no verdict); the measure's `missing` counts them by status",
            flags=(),
            role=Role.MISSING_SHARE.value,
        ),
    ),
    _metric(
        "missing-by-condition",
        "rates:MissingByCondition",
        MetricOptions,
        "test whether the share of missing verdicts depends on the condition",
        describe_p_value(
            "missing-by-condition-p",
            "Cochran-Mantel-Haenszel test, items as strata; null hypothesis: equal missing rates in all conditions",
            flags=("few-missing",),
            source="Landis, Heyman and Koch (1978)",
        ),
        *(
            describe_p_value(
                f"missing-by-{what}-p",
                f"Mantel's test over clusters; null hypothesis: missing verdicts are unrelated to {meaning}",
                flags=("few-missing",),
                source="Mantel (1963)",
            )
            for what, meaning in (
                ("label", "the gold label"),
                ("error", "whether the judge's other verdicts on the item are right"),
                ("confidence", "the probability that the judge's other verdicts on the item state"),
            )
        ),
    ),
    _metric(
        "agreement",
        "rates:Agreement",
        BreakdownOptions,
        "share of verdicts that equal the same judge's verdict in the reference condition",
        describe_rate(
            "agreement",
            "P(`y = y0`)",
            better="higher",
            flags=("change-due", "sensitive-to-missing"),
            source="JudgeSense calls it the judge sensitivity score (JSS)",
            role=Role.SELF_AGREEMENT.value,
        ),
    ),
    _metric(
        "flip-rate",
        "rates:FlipRate",
        of.RateOptions,
        "share of verdicts that differ from the same judge's verdict in the reference condition",
        describe_rate("flip-rate", "1 - `agreement`", flags=("change-due", "sensitive-to-missing")),
    ),
    _metric(
        "rerun-disagreement",
        "rerun:RerunDisagreement",
        BreakdownOptions,
        "noise floor: share of pairs of repeats of the identical question with different verdicts",
        describe_share(
            "rerun-disagreement",
            "share of pairs of repeats of the identical question with different verdicts: the noise floor",
            better="lower",
            interval=f"{OF_A_RATE}, over pairs",
            source="Simpson (1949); Fleiss (1971)",
            role=Role.NOISE.value,
        ),
    ),
    _metric(
        "noise-excess",
        "excess:NoiseExcess",
        of.FullOptions,
        "disagreement with the reference beyond the noise floor",
        describe_share("disagreement", "P(`y != y0`)", better="lower", interval=CLUSTER_ROBUST, on_request=True),
        describe_share(
            "noise-floor",
            "(P(`y0 != y0'`) + P(`y != y'`)) / 2, over the same items",
            better="lower",
            interval=CLUSTER_ROBUST,
            source="jrh",
            on_request=True,
        ),
        describe_difference(
            "excess-disagreement",
            "`disagreement` minus `noise-floor`, a U-statistic per item",
            better="lower",
            interval=f"{CLUSTER_ROBUST}; above 0 exactly where p < 0.05",
            flags=("reference-floor", "few-clusters", "sensitive-to-missing"),
            source="Rao (1982), Jensen difference; Szekely and Rizzo (2013)",
            role=Role.CHANGE.value,
            tested=True,
        ),
    ),
    _metric(
        "interaction",
        "interaction:Interaction",
        MetricOptions,
        "effect of a chain of perturbations beyond the sum of its parts' effects",
        describe_difference(
            "interaction",
            "D(ab) - D(a) - D(b) + floor: how much a chain moves verdicts beyond the sum of its parts",
            source="jrh",
        ),
    ),
    _metric(
        "self-kappa",
        "kappa:SelfKappa",
        BreakdownOptions,
        "kappa between the verdicts and the same judge's in the reference condition; quadratic on ordinal scales",
        describe_coefficient(
            "self-kappa",
            f"Cohen's kappa of `y` and `y0`, 1 - D_o / D_e; {_SQUARES}",
            _COHEN,
            interval=_JACKKNIFES,
            flags=_REFERENCE_FLAGS,
        ),
        instead_of={
            "kappa": "with the same judge's verdicts in the reference condition",
            "kappa-linear": "quadratic on ordinal scales",
            "kappa-quadratic": "quadratic on ordinal scales",
        },
    ),
    _metric(
        "gold-kappa",
        "kappa:GoldKappa",
        BreakdownOptions,
        "kappa with the gold labels; quadratic on ordinal scales",
        describe_coefficient(
            "gold-kappa",
            f"Cohen's kappa of `y` and `t`; {_SQUARES}: Lin's concordance correlation (CCC)",
            f"{_COHEN}; Lin (1989)",
            interval=_JACKKNIFES,
            flags=_CORRELATION_FLAGS,
        ),
        describe_p_value(
            "gold-kappa-p",
            "permutation test by cluster, in the reference condition; null hypothesis: `y` does not depend on the gold "
            "label",
            source="Good (2005)",
        ),
        instead_of={
            "kappa": "with the gold labels",
            "gold-agreement": "with the gold labels",
            "gold-kappa-quadratic": "quadratic on ordinal scales",
            "gold-mcc": "which MCC follows",
            "concordance": "on ordinal scales equal to CCC",
        },
    ),
    _metric(
        "people-ceiling",
        "ceiling:PeopleCeiling",
        of.CeilingOptions,
        "kappa of the judge with people, compared with that of people with each other; items with two labels",
        describe_coefficient(
            "people-kappa",
            "Conger's kappa of two people, over all who labelled; quadratic weights on ordinal scales",
            "Conger (1980)",
            interval=_JACKKNIFES,
        ),
        describe_coefficient(
            "judge-people-kappa", "the same between one verdict and one person", "Conger (1980)", interval=_JACKKNIFES
        ),
        describe_difference(
            "people-kappa-difference",
            "`judge-people-kappa` minus `people-kappa`",
            better="higher",
            interval="jackknife with t, missing verdicts at their worst (`jackknife-t`)",
            flags=("degenerate",),
            source="question: Calderon, Reichart and Dror (2025)",
        ),
    ),
    _metric(
        "judge-agreement",
        "panel_agreement:JudgeAgreement",
        MetricOptions,
        "agreement between judges: Krippendorff's alpha, Gwet's AC1, ICC",
        describe_coefficient(
            "krippendorff-alpha",
            "1 - D_o / D_e over pairs of judges; ordinal distances on ordinal scales, else nominal",
            "Krippendorff (2011)",
            interval=_JACKKNIFES,
        ),
        describe_coefficient("gwet-ac1", "AC1 of all judges", "Gwet (2008)", interval=BY_JACKKNIFE, on_request=True),
        describe_coefficient(
            "icc-2-1",
            "intraclass correlation ICC(2,1) of one judge's mean levels per item, absolute agreement; of a panel of k: "
            "k r / (1 + (k - 1) r)",
            "Shrout and Fleiss (1979); McGraw and Wong (1996)",
            interval="`modified-large-sample`; on few levels `jackknife-mover`",
            flags=("degenerate", "few-levels"),
        ),
        instead_of={
            "fleiss-kappa": "its measure krippendorff-alpha, which Fleiss' kappa follows",
            "pabak": "its measure gwet-ac1, also beyond chance",
            "icc-2-k": "its measure icc-2-1: k r / (1 + (k - 1) r) of k judges",
        },
    ),
    _metric(
        "ordinal-errors",
        "ordinal:OrdinalErrors",
        of.FullOptions,
        "MAE, RMSE, bias and the share within one level of the right one; ordinal scales only",
        _error("mean-absolute-error", "mean of abs(e), with e = rank `y` - rank `t`", role=Role.DISTANCE.value),
        _error("root-mean-squared-error", "square root of the mean of e^2", on_request=True),
        describe_difference(
            "bias",
            "mean of e; also per gold level",
            unit="difference in levels",
            interval=f"{CLUSTER_ROBUST}, within the upper end of `mean-absolute-error`",
        ),
        describe_rate("adjacent-accuracy", "P(abs(e) <= 1)", better="higher", on_request=True),
        instead_of={"absolute-error": "its measure mean-absolute-error"},
    ),
    _metric(
        "ordinal-association",
        "ordinal:OrdinalAssociation",
        of.FullOptions,
        "Spearman, Pearson, scale compression; ordinal scales only",
        describe_coefficient(
            "pearson", "product-moment correlation of `y` and `t`", "Pearson", flags=_CORRELATION_FLAGS, on_request=True
        ),
        describe_coefficient(
            "spearman", "correlation of the ranks of `y` and `t`", "Spearman (1904)", flags=_CORRELATION_FLAGS
        ),
        describe_quantity(
            "scale-compression",
            "standard deviation of `y` / standard deviation of `t`; below 1 the judge uses less of the scale",
            "ratio",
            interval="jackknife of the logarithm (`jackknife-log`)",
            flags=_CORRELATION_FLAGS,
        ),
        instead_of={"kendall-tau-b": "its measure spearman, which tau-b follows"},
    ),
    _metric(
        "confusion",
        "ordinal:Confusion",
        of.ConfusionOptions,
        "confusion matrix: rate of each verdict for each right label",
        describe_share(
            "confusion",
            "P(`y` = verdict given `t` = label), for each right label and verdict",
            flags=("sensitive-to-missing",),
        ),
        default=False,
    ),
    _metric(
        "accuracy-change",
        "changes:AccuracyChange",
        of.FullOptions,
        "accuracy in a test minus accuracy in the reference condition, on the same items",
        describe_difference(
            "accuracy-change",
            "mean of [`y = t`] minus the mean over the item's reference repeats of [`y0 = t`]",
            interval=_EXCHANGE,
            flags=("sensitive-to-missing",),
            source="Chung and Romano (2013); Phipson and Smyth (2010)",
            tested=True,
        ),
    ),
    _metric(
        "accuracy-equivalence",
        "changes:AccuracyEquivalence",
        of.EquivalenceOptions,
        "equivalence test: is the change of accuracy within the margin?",
        _equivalence(
            "accuracy-equivalence",
            "`accuracy-change`, compared with the margin by two one-sided tests",
            interval="coverage 1 - 2 alpha (`restricted-score`, `exact-changed-clusters`)",
            source="Schuirmann (1987); Tango (1998); Clopper and Pearson (1934)",
        ),
    ),
    _metric(
        "excess-equivalence",
        "excess:ExcessEquivalence",
        of.EquivalenceOptions,
        "equivalence test: do verdicts change by no more than the margin beyond reruns?",
        _equivalence(
            "excess-equivalence",
            "`excess-disagreement`, compared with the margin",
            "reference-floor",
            better="lower",
            interval="coverage 1 - 2 alpha (`cluster-robust-wilson`, `exact-changed-clusters`)",
            source="Schuirmann (1987); bound: Clopper and Pearson (1934)",
        ),
    ),
    _metric(
        "judge-comparison",
        "changes:JudgeComparison",
        MetricOptions,
        "accuracy of one judge minus that of another, on the same questions",
        describe_difference(
            "accuracy-difference",
            "accuracy of a judge minus that of another (`against`), on the questions both answered",
            better="",
            interval=_EXCHANGE,
            source="McNemar (1947) with one question per cluster; Chung and Romano (2013)",
            tested=True,
        ),
        default=False,
    ),
    _metric(
        "generalizability",
        "generalizability:Generalizability",
        of.GeneralizabilityOptions,
        "variance of items, judges, templates, orders, repeats; dependability; the cheapest design",
        describe_quantity(
            "variance",
            "variance component of items, judges, templates, orders, repeats or an interaction",
            "squared score",
            interval="items resampled, judges and templates as they are (`cluster-bootstrap`)",
            flags=("confounded", "no-interval", "few-levels", "negative", "single-level"),
            source="Brennan (2001); Henderson (1953)",
        ),
        *(
            describe_coefficient(
                name,
                f"variance of items / (that + {error} error) of one verdict",
                "Brennan (2001)",
                interval="",
                flags=("negative", "no-interval"),
            )
            for name, error in (("generalizability", "relative"), ("dependability", "absolute"))
        ),
        describe_quantity(
            "cheapest-design",
            "fewest calls per item that reach `wished_dependability` or `wished_error`",
            "calls",
            better="lower",
            flags=("negative", "no-interval"),
            source="jrh",
        ),
        default=False,
    ),
    _metric(
        "panel",
        "panel:Panel",
        MetricOptions,
        "all judges as a panel: accuracy by voting rule and without each judge, error correlation, best trio",
        describe_share(
            "panel-accuracy",
            "P(the panel's verdict = `t`), by majority, by weighted votes (`rule`), or `without` a judge; a "
            "tie is wrong",
            better="higher",
        ),
        _error("panel-mean-absolute-error", "mean distance of the panel's mean or median level (`rule`) from `t`"),
        describe_coefficient(
            "error-correlation",
            "correlation of the errors of two judges",
            "Venzon and Moolgavkar (1988)",
            better="lower",
            interval="`profile-likelihood`; on ordinal scales `jackknife-fisher-z`",
        ),
        describe_quantity(
            "effective-judges",
            "J sum(variances of errors) / variance(sum of errors)",
            "judges",
            better="higher",
            interval="jackknife of the logarithm (`jackknife-log`)",
            source="Kish (1965)",
            on_request=True,
        ),
        describe_share(
            "best-trio",
            "accuracy of the best panel of three, chosen on one half of the items and scored on the other",
            better="higher",
            **_HELD_OUT,
            on_request=True,
        ),
    ),
    _metric(
        "panel-by-test",
        "panel_by_test:PanelByTest",
        of.PanelTestOptions,
        "per test and over tests: majority vote, best panel of three, means over tests and over judges",
        *(
            describe_share(
                f"{panel}-{what}",
                f"{what.replace('-', ' ')} of {who}",
                better="higher" if what == "accuracy" else "lower",
                **more,
            )
            for panel, who, more in (
                ("majority", "all judges by majority; a tie is wrong", {}),
                ("trio", "the best panel of three; `chosen`: held out, or in sample (too good)", _HELD_OUT),
            )
            for what in ("accuracy", "false-positive-rate", "false-negative-rate")
        ),
        *(
            describe_share(
                f"mean-over-{over}",
                f"unweighted mean over {over} of the rates of the main table",
                better="higher",
                interval="that of a rate, with the variance of the mean (`korn-graubard`)",
                flags=("no-interval",),
                source="Cochran (1977)",
            )
            for over in ("tests", "judges")
        ),
        default=False,
    ),
    _metric(
        "test-comparison",
        "differences:TestComparison",
        MetricOptions,
        "accuracy in a test less that in another, and in a task less that in another",
        *(
            describe_difference(
                f"accuracy-between-{what}",
                f"the rate of the main table in {one} less that in another (`against`)",
                interval="that of a rate, with the variance of the mean (`korn-graubard`)",
                flags=("no-interval",),
                source="Cochran (1977)",
            )
            for what, one in (("tests", "a test"), ("tasks", "a task, over the tests that both have"))
        ),
        default=False,
    ),
    _metric(
        "variant-pairs",
        "differences:VariantPairs",
        of.PairOptions,
        "verdicts and accuracy under one named variant against those under another, of any tests",
        describe_rate(
            "pair-agreement",
            "P(`y = y'`), for the verdicts y and y' of an item under two named variants",
            better="higher",
        ),
        describe_difference(
            "pair-accuracy-difference",
            "the rate of the main table under a variant less that under another (`against`)",
            interval="that of a rate, with the variance of the mean (`korn-graubard`)",
            flags=("no-interval",),
            source="Cochran (1977)",
        ),
        default=False,
    ),
    _metric(
        "binary-levels",
        "differences:BinaryLevels",
        of.LevelOptions,
        "ordinal verdicts made binary at a stated level: accuracy, error rates and flips",
        describe_rate("binary-accuracy", "P(`y >= L` exactly where `t >= L`), for the stated level L", better="higher"),
        describe_rate("binary-false-positive-rate", "P(`y >= L`), where `t < L`"),
        describe_rate("binary-false-negative-rate", "P(`y < L`), where `t >= L`"),
        describe_rate("binary-flip-rate", "P(`y >= L` unlike `y0 >= L`)"),
        default=False,
    ),
    _metric(
        "calibration",
        "calibration:Calibration",
        of.CalibrationOptions,
        "Brier score, overconfidence, calibration error, reliability curve of judges that state probabilities",
        describe_quantity(
            "brier",
            "mean of (stated probability - right)^2",
            "squared error",
            better="lower",
            interval="linearised (`linearised-wilson`)",
            source="Brier (1950)",
        ),
        describe_difference("overconfidence", "mean stated probability minus the share right"),
        describe_share(
            "calibration-error",
            "expected calibration error (ECE) without its bias; the note gives the plain estimate",
            better="lower",
            interval="inversion over planted errors (`binomial-inversion`)",
            source="Naeini, Cooper and Hauskrecht (2015); bias: Kumar, Liang and Ma (2019); Roelofs et al. (2022)",
        ),
        describe_p_value(
            "calibration-p",
            "consistency resampling; null hypothesis: the judge is perfectly calibrated",
            source="Broecker and Smith (2007)",
            on_request=True,
        ),
        describe_share(
            "reliability",
            "share right among verdicts whose stated probability lies in the bin (`stated`)",
            interval="linearised (`linearised-wilson`)",
            source="Murphy and Winkler (1977)",
        ),
    ),
    _metric(
        "perturbation-validity",
        "validity:PerturbationValidity",
        of.ValidityOptions,
        "failure rate among the valid cases, based on a table of reviewed cases",
        *(
            describe_share(name, formula, better="lower", interval=f"{method}, over cases", source="jrh")
            for name, formula, method in (
                ("failure-rate", "p: share of cases with fewer than half of their verdicts as expected", OF_A_RATE),
                ("invalid-cases", "v: share of cases that reviewers call invalid", "Wilson"),
            )
        ),
        describe_share(
            "failure-rate-valid",
            "p a / (p a + (1 - p) b), where a and b are the shares of valid cases among the reviewed failures "
            "and passes",
            better="lower",
            interval="`mover-logit`; at the edge `box`",
            flags=("conservative",),
        ),
        default=False,
    ),
    _metric(
        "compat-jrh",
        "compat:CompatHarness",
        of.HarnessOptions,
        "accuracy as the Judge Reliability Harness computes it",
        describe_share(
            "compat-jrh",
            "accuracy as the Judge Reliability Harness computes it",
            better="higher",
            interval="theirs: it shrinks with the number of bootstraps (`spread-of-bootstrap-means`)",
            source="Judge Reliability Harness",
        ),
        default=False,
    ),
    _metric(
        "compat-judgesense",
        "compat:CompatJudgeSense",
        of.JudgeSenseOptions,
        "score and kappa as JudgeSense computes them",
        describe_share(
            "compat-judgesense-jss",
            "JSS as JudgeSense computes it: `prompt_a` against `prompt_b` of every listed row",
            better="higher",
            interval="theirs, pairs as independent (`pair-bootstrap-percentile`)",
            source="JudgeSense",
        ),
        describe_coefficient(
            "compat-judgesense-kappa",
            "kappa as JudgeSense computes it: 1 where Cohen's is undefined",
            "JudgeSense",
            interval="",
        ),
        default=False,
    ),
)
