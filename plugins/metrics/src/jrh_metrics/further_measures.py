"""The measures of ordinal scales, comparisons and panels, and those that a suite asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

from jrh_metrics.measure_kinds import COHEN, FISHER, ROBUST, coefficient, rate

_EXCHANGE: Final = "excludes 0 exactly where p < 0.05 (`exchange-wilson`)"
FURTHER: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "ordinal-errors": (
        MeasureInfo(
            name="mean-absolute-error",
            formula="mean of abs(e), with e = rank `y` - rank `t`",
            unit="levels",
            better="lower",
            interval=ROBUST,
        ),
        MeasureInfo(
            name="root-mean-squared-error",
            formula="square root of the mean of e^2",
            unit="levels",
            better="lower",
            interval=ROBUST,
        ),
        MeasureInfo(
            name="bias",
            formula="mean of e; also per gold level",
            unit="difference in levels",
            better="zero",
            interval=f"{ROBUST}, within the upper end of `mean-absolute-error`",
        ),
        rate("exact-accuracy", "P(e = 0)", "higher", flags=("sensitive-to-missing",)),
        rate("adjacent-accuracy", "P(abs(e) <= 1)", "higher", flags=("sensitive-to-missing",)),
    ),
    "ordinal-association": (
        coefficient("concordance", "concordance correlation (CCC) of `y` and `t`", "Lin (1989)", FISHER, "no-interval"),
        coefficient("pearson", "product-moment correlation of `y` and `t`", "Pearson", FISHER, "no-interval"),
        coefficient("spearman", "correlation of the ranks of `y` and `t`", "Spearman (1904)", FISHER, "no-interval"),
        coefficient("kendall-tau-b", "tau-b of `y` and `t`", "Kendall (1945)", FISHER, "no-interval", "conservative"),
        coefficient("gold-kappa-quadratic", "kappa of `y` and `t`, quadratic weights", COHEN, FISHER, "no-interval"),
        MeasureInfo(
            name="scale-compression",
            formula="standard deviation of `y` / standard deviation of `t`; below 1 the judge uses less of the scale",
            unit="ratio",
            interval="jackknife of the logarithm (`jackknife-log`)",
            flags=("degenerate", "no-interval"),
        ),
    ),
    "accuracy-change": (
        MeasureInfo(
            name="accuracy-change",
            formula="mean of [`y = t`] minus the mean over the item's reference repeats of [`y0 = t`]",
            unit="difference",
            better="zero",
            interval=_EXCHANGE,
            flags=("sensitive-to-missing",),
            source="Chung and Romano (2013); Phipson and Smyth (2010)",
            tested=True,
        ),
    ),
    "accuracy-equivalence": (
        MeasureInfo(
            name="accuracy-equivalence",
            formula="`accuracy-change`, compared with the margin by two one-sided tests",
            unit="difference",
            better="zero",
            interval="coverage 1 - 2 alpha (`restricted-score`, `exact-changed-clusters`)",
            flags=("equivalent", "different", "undecided"),
            source="Schuirmann (1987); Tango (1998); Clopper and Pearson (1934)",
            tested=True,
        ),
    ),
    "judge-comparison": (
        MeasureInfo(
            name="accuracy-difference",
            formula="accuracy of a judge minus that of another (`against`), on the questions both answered",
            unit="difference",
            interval=_EXCHANGE,
            source="McNemar (1947) with one question per cluster; Chung and Romano (2013)",
            tested=True,
        ),
    ),
    "generalizability": (
        MeasureInfo(
            name="variance",
            formula="variance component of items, judges, templates, orders, repeats or an interaction",
            unit="squared score",
            interval="`anova`, `reml`, or jackknife; none by `henderson-1`",
            flags=("confounded", "identical-repeats", "no-interval", "few-levels", "negative", "single-level"),
            source="Brennan (2001); Burdick and Graybill (1992)",
        ),
        MeasureInfo(
            name="generalizability",
            formula="variance of items / (that + relative error) of one verdict",
            unit="coefficient",
            better="higher",
            flags=("negative", "no-interval"),
            source="Brennan (2001)",
        ),
        MeasureInfo(
            name="dependability",
            formula="variance of items / (that + absolute error) of one verdict",
            unit="coefficient",
            better="higher",
            flags=("negative", "no-interval"),
            source="Brennan (2001)",
        ),
        MeasureInfo(
            name="cheapest-design",
            formula="fewest calls per item that reach `wished_dependability` or `wished_error`",
            unit="calls",
            better="lower",
            flags=("negative", "no-interval"),
            source="jrh",
        ),
    ),
    "panel": (
        MeasureInfo(
            name="panel-accuracy",
            formula="P(the panel's verdict = `t`), by majority, by weighted votes (`rule`), or `without` a judge; "
            "a tie is "
            "wrong",
            better="higher",
            interval="that of a rate",
        ),
        MeasureInfo(
            name="panel-mean-absolute-error",
            formula="mean distance of the panel's mean or median level (`rule`) from `t`",
            unit="levels",
            better="lower",
            interval=ROBUST,
        ),
        MeasureInfo(
            name="error-correlation",
            formula="correlation of the errors of two judges",
            unit="coefficient",
            better="lower",
            interval="`profile-likelihood`; on ordinal scales `jackknife-fisher-z`",
            flags=("degenerate",),
            source="Venzon and Moolgavkar (1988)",
        ),
        MeasureInfo(
            name="effective-judges",
            formula="J sum(variances of errors) / variance(sum of errors)",
            unit="judges",
            better="higher",
            interval="jackknife of the logarithm (`jackknife-log`)",
            source="Kish (1965)",
        ),
        MeasureInfo(
            name="best-trio",
            formula="accuracy of the best panel of three, on held-out items",
            better="higher",
            interval="`nested-cross-validation`",
            flags=("unstable-choice",),
            source="Bates, Hastie and Tibshirani (2023)",
        ),
    ),
    "panel-by-test": (
        *(
            MeasureInfo(
                name=f"{panel}-{what}",
                formula=f"{meaning} of {who}",
                better="higher" if what == "accuracy" else "lower",
                interval=interval,
                flags=flags,
            )
            for panel, who, interval, flags in (
                ("majority", "all judges by majority; a tie is wrong", "that of a rate", ()),
                (
                    "trio",
                    "the best panel of three; `chosen`: held out, or in sample (too good)",
                    "`nested-cross-validation`",
                    ("unstable-choice",),
                ),
            )
            for what, meaning in (
                ("accuracy", "accuracy"),
                ("false-positive-rate", "false positive rate"),
                ("false-negative-rate", "false negative rate"),
            )
        ),
        *(
            MeasureInfo(
                name=f"mean-over-{over}",
                formula=f"unweighted mean over {over} of the rates of the main table",
                better="higher",
                interval=ROBUST,
                flags=("no-interval",),
                source="Cochran (1977)",
            )
            for over in ("tests", "judges")
        ),
    ),
    "calibration": (
        MeasureInfo(
            name="brier",
            formula="mean of (stated probability - right)^2",
            unit="squared error",
            better="lower",
            interval="linearised (`linearised-wilson`)",
            source="Brier (1950)",
        ),
        MeasureInfo(
            name="overconfidence",
            formula="mean stated probability minus the share right",
            unit="difference",
            better="zero",
            interval=ROBUST,
        ),
        MeasureInfo(
            name="calibration-error",
            formula="expected calibration error (ECE) without its bias; the note gives the plain estimate",
            better="lower",
            interval="inversion over planted errors (`binomial-inversion`)",
            source="Naeini, Cooper and Hauskrecht (2015); bias: Kumar, Liang and Ma (2019); Roelofs et al. (2022)",
        ),
        MeasureInfo(
            name="calibration-p",
            formula="consistency resampling; null hypothesis: the judge is perfectly calibrated",
            unit="p-value",
            source="Broecker and Smith (2007)",
        ),
        MeasureInfo(
            name="reliability",
            formula="share right among verdicts whose stated probability lies in the bin (`stated`)",
            interval="linearised (`linearised-wilson`)",
            source="Murphy and Winkler (1977)",
        ),
    ),
    "perturbation-validity": (
        MeasureInfo(
            name="failure-rate",
            formula="p: share of cases with fewer than half of their verdicts as expected",
            better="lower",
            interval="that of a rate, over cases",
            source="jrh",
        ),
        MeasureInfo(
            name="invalid-cases",
            formula="v: share of cases that reviewers call invalid",
            better="lower",
            interval="Wilson, over cases",
            source="jrh",
        ),
        MeasureInfo(
            name="failure-rate-valid",
            formula="p a / (p a + (1 - p) b), where a and b are the shares of valid cases among the reviewed "
            "failures and passes",
            better="lower",
            interval="`mover-logit`; at the edge `box`",
            flags=("conservative",),
        ),
    ),
    "compat-jrh": (
        MeasureInfo(
            name="compat-jrh",
            formula="accuracy as the Judge Reliability Harness computes it",
            better="higher",
            interval="theirs: it shrinks with the number of bootstraps (`spread-of-bootstrap-means`)",
            source="Judge Reliability Harness",
        ),
    ),
    "compat-judgesense": (
        MeasureInfo(
            name="compat-judgesense-jss",
            formula="JSS as JudgeSense computes it: `prompt_a` against `prompt_b` of every listed row",
            better="higher",
            interval="theirs, pairs as independent (`pair-bootstrap-percentile`)",
            source="JudgeSense",
        ),
        MeasureInfo(
            name="compat-judgesense-kappa",
            formula="kappa as JudgeSense computes it: 1 where Cohen's is undefined",
            unit="coefficient",
            better="higher",
            flags=("degenerate",),
            source="JudgeSense",
        ),
    ),
}
"""Metric -> its measures."""
