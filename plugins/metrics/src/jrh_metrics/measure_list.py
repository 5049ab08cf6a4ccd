"""The measures of every metric: formula, unit, interval, source. `docs/measures.md` is generated from them.

In formulas `y` is a verdict, `t` the right label, `y0` a verdict of the same judge on the same item in the reference
condition, P the share of trials, Q the number of labels of the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo, Role

from jrh_metrics.further_measures import FURTHER
from jrh_metrics.measure_kinds import COHEN, FISHER, JACKKNIFE, ROBUST, coefficient, rate

_REFERENCE_FLAGS: Final = ("change-due", "constant-reference", "degenerate", "sensitive-to-missing")
_PPI: Final = "Angelopoulos et al. (2023), prediction-powered inference; tuning: PPI++"


def _kappa(name: str, weights: str, interval: str) -> MeasureInfo:
    return MeasureInfo(
        name=name,
        formula=f"Cohen's kappa of `y` and `y0`, 1 - D_o / D_e{weights}",
        unit="coefficient",
        better="higher",
        interval=interval,
        flags=_REFERENCE_FLAGS,
        source=COHEN,
    )


_COVARIATES: Final = tuple(
    each
    for kind, truth in (("", "gold labels"), ("peer-", "the other judges' mean verdict"))
    for each in (
        MeasureInfo(
            name=f"{kind}covariate-effect",
            formula=f"slope of `y` on a covariate, holding {truth} constant: per standard deviation of a number (of "
            "the logarithm of `length`), or of a level of a text column against all others",
            unit="difference or difference in levels",
            better="zero",
            interval="cluster-robust, Student's t",
        ),
        MeasureInfo(
            name=f"{kind}covariate-gap",
            formula=f"slope of `y` minus `t` on the covariate, without strata; `t`: {truth}",
            unit="difference or difference in levels",
            better="zero",
            interval="cluster-robust, Student's t",
        ),
        MeasureInfo(
            name=f"{kind}covariate-effect-p",
            formula="cluster-robust t test; null hypothesis: the slope is 0",
            unit="p-value",
        ),
    )
)
_RATES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "as-expected": (
        rate(
            "as-expected",
            "P(`y` is as expected): `y = t` in the reference condition; the stated label where a case expects one; "
            "`y = y0`, `y != y0`, `y <= y0`, `y >= y0` where it expects the same, a different, no higher or no "
            "lower verdict",
            "higher",
            "Ribeiro et al. (2020), CheckList, for the kinds of expectation",
            ("constant-gold", "sensitive-to-missing"),
        ),
    ),
    "gold-accuracy": (
        rate(
            "gold-accuracy",
            "P(`y = t`), in cases that keep the gold label",
            "higher",
            flags=("constant-gold", "sensitive-to-missing"),
        ),
    ),
    "gain-over-commonest": (
        MeasureInfo(
            name="gain-over-commonest",
            formula="P(`y = t`) minus the share of the most common gold label, on the same items; reference condition",
            unit="difference",
            better="higher",
            interval="the least over the labels that may be the most common (`linearised-wilson-min`, "
            "`cluster-robust-wilson-min`)",
            flags=("constant-gold",),
            source="Berger (1982), intersection-union test",
        ),
    ),
    "covariate-effect": _COVARIATES,
    "error-rates": (
        rate("false-positive-rate", "P(`y` positive given `t` is not)", flags=("sensitive-to-missing",)),
        rate("false-negative-rate", "P(`y` not positive given `t` is)", flags=("sensitive-to-missing",)),
    ),
    "corrected-prevalence": (
        MeasureInfo(
            name="judged-prevalence", formula="p = P(`y` positive), the judge's own share", interval="that of a rate"
        ),
        MeasureInfo(
            name="prevalence-rogan-gladen",
            formula="(p + q0 - 1) / (q0 + q1 - 1), with specificity q0 and sensitivity q1 on the labelled items",
            interval="Lang and Reiczigel (`lang-reiczigel`)",
            flags=("degenerate", "cut", "few-labels", "conservative"),
            source="Rogan and Gladen (1978); interval: Lang and Reiczigel (2014)",
        ),
        MeasureInfo(
            name="prevalence-prediction-powered",
            formula="w mean(unlabelled `y`) + mean(`t` - w `y`) over the labelled items",
            interval="normal, tuned with t (`prediction-powered`, `prediction-powered-tuned`)",
            flags=("cut", "few-labels"),
            source=_PPI,
        ),
        MeasureInfo(
            name="judged-mean-level",
            formula="mean level of `y`, in steps above the lowest",
            unit="levels",
            interval=ROBUST,
        ),
        MeasureInfo(
            name="mean-level-prediction-powered",
            formula="w mean(unlabelled level) + mean(level of `t` - w level of `y`)",
            unit="levels",
            interval="normal, tuned with t (`prediction-powered-tuned`)",
            flags=("few-labels",),
            source=_PPI,
        ),
    ),
    "missing": (rate("missing", "P(no verdict); the measure's `missing` counts them by status"),),
    "missing-by-condition": (
        MeasureInfo(
            name="missing-by-condition-p",
            formula="Cochran-Mantel-Haenszel test, items as strata; null hypothesis: equal missing rates in all "
            "conditions",
            unit="p-value",
            flags=("few-missing",),
            source="Landis, Heyman and Koch (1978)",
        ),
        *(
            MeasureInfo(
                name=f"missing-by-{what}-p",
                formula=f"Mantel's test over clusters; null hypothesis: missing verdicts are unrelated to {meaning}",
                unit="p-value",
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
    "confusion": (
        MeasureInfo(
            name="confusion",
            formula="P(`y` = verdict given `t` = label), for each right label and verdict",
            interval="that of a rate",
            flags=("sensitive-to-missing",),
        ),
    ),
}
_AGREEMENT: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "agreement": (
        rate(
            "agreement",
            "P(`y = y0`)",
            "higher",
            "JudgeSense calls it the judge sensitivity score (JSS)",
            ("change-due", "sensitive-to-missing"),
        ),
    ),
    "flip-rate": (rate("flip-rate", "1 - `agreement`", flags=("change-due", "sensitive-to-missing")),),
    "rerun-disagreement": (
        MeasureInfo(
            name="rerun-disagreement",
            role=Role.NOISE.value,
            formula="share of pairs of repeats of the identical question with different verdicts: the noise floor",
            better="lower",
            interval="that of a rate, over pairs",
            source="Simpson (1949); Fleiss (1971)",
        ),
    ),
    "noise-excess": (
        MeasureInfo(name="disagreement", formula="P(`y != y0`)", better="lower", interval=ROBUST),
        MeasureInfo(
            name="noise-floor",
            formula="(P(`y0 != y0'`) + P(`y != y'`)) / 2, over the same items",
            better="lower",
            interval=ROBUST,
            source="jrh",
        ),
        MeasureInfo(
            name="excess-disagreement",
            role=Role.CHANGE.value,
            formula="`disagreement` minus `noise-floor`, a U-statistic per item",
            unit="difference",
            better="lower",
            interval=f"{ROBUST}; above 0 exactly where p < 0.05",
            flags=("reference-floor", "few-clusters", "sensitive-to-missing"),
            source="Rao (1982), Jensen difference; Szekely and Rizzo (2013)",
            tested=True,
        ),
    ),
    "excess-equivalence": (
        MeasureInfo(
            name="excess-equivalence",
            formula="`excess-disagreement`, compared with the margin",
            unit="difference",
            better="lower",
            interval="coverage 1 - 2 alpha (`cluster-robust-wilson`, `exact-changed-clusters`)",
            flags=("equivalent", "different", "undecided", "reference-floor"),
            source="Schuirmann (1987); bound: Clopper and Pearson (1934)",
            tested=True,
        ),
    ),
    "interaction": (
        MeasureInfo(
            name="interaction",
            formula="D(ab) - D(a) - D(b) + floor: how much a chain moves verdicts beyond the sum of its parts",
            unit="difference",
            better="zero",
            interval=ROBUST,
            source="jrh",
        ),
    ),
    "kappa": (_kappa("kappa", "", JACKKNIFE),),
    "kappa-linear": (_kappa("kappa-linear", ", disagreements weighted by their steps", FISHER),),
    "kappa-quadratic": (_kappa("kappa-quadratic", ", disagreements weighted by the square of their steps", FISHER),),
    "gold-agreement": (
        coefficient("gold-kappa", "Cohen's kappa of `y` and the gold label", COHEN, JACKKNIFE),
        coefficient(
            "gold-mcc",
            "Matthews correlation of `y` and the gold label; for k labels Gorodkin's R_K",
            "Matthews (1975); Gorodkin (2004)",
            JACKKNIFE,
        ),
    ),
    "people-ceiling": (
        coefficient(
            "people-kappa",
            "Conger's kappa of two people, over all who labelled; quadratic weights on ordinal scales",
            "Conger (1980)",
            f"{JACKKNIFE}, on ordinal scales `jackknife-fisher-z`",
        ),
        coefficient(
            "judge-people-kappa",
            "the same between one verdict and one person",
            "Conger (1980)",
            f"{JACKKNIFE}, on ordinal scales `jackknife-fisher-z`",
        ),
        MeasureInfo(
            name="people-kappa-difference",
            formula="`judge-people-kappa` minus `people-kappa`",
            unit="difference",
            better="higher",
            interval="jackknife with t, missing verdicts at their worst (`jackknife-t`)",
            flags=("degenerate",),
            source="question: Calderon, Reichart and Dror (2025)",
        ),
    ),
    "chance-corrected": (
        MeasureInfo(
            name="agreement-gwet-ac1",
            formula="agreement of `y` and `y0` beyond chance, with chance sum p (1 - p) / (Q - 1)",
            unit="coefficient",
            better="higher",
            interval=JACKKNIFE,
            flags=("change-due", "sensitive-to-missing"),
            source="Gwet (2008)",
        ),
        MeasureInfo(
            name="agreement-pabak",
            formula="agreement of `y` and `y0` beyond chance, with chance 1 / Q",
            unit="coefficient",
            better="higher",
            interval=JACKKNIFE,
            flags=("change-due", "sensitive-to-missing"),
            source="Byrt, Bishop and Carlin (1993)",
        ),
    ),
    "judge-agreement": (
        coefficient("fleiss-kappa", "agreement of all judges beyond chance", "Fleiss (1971)", JACKKNIFE),
        coefficient(
            "krippendorff-alpha",
            "1 - D_o / D_e over pairs of judges; ordinal distances on ordinal scales, else nominal",
            "Krippendorff (2011)",
            f"{JACKKNIFE}, on ordinal scales `jackknife-fisher-z`",
        ),
        coefficient("gwet-ac1", "AC1 of all judges", "Gwet (2008)", JACKKNIFE),
        coefficient("pabak", "chance 1 / Q, all judges", "Byrt, Bishop and Carlin (1993)", JACKKNIFE),
        *(
            coefficient(
                f"icc-2-{number}",
                f"intraclass correlation ICC(2,{number}) of {whose} mean levels per item, absolute agreement",
                "Shrout and Fleiss (1979); McGraw and Wong (1996)",
                "`modified-large-sample`; on few levels `jackknife-mover`",
                "few-levels",
            )
            for number, whose in (("1", "one judge's"), ("k", "the panel's"))
        ),
    ),
}
MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {**_RATES, **_AGREEMENT, **FURTHER}
"""Metric -> its measures."""
