import numpy as np
import pytest
from jrh import Scale

LEVELS = Scale.of_levels(1, 6)


def _rows(ref, gold, verdict) -> list[dict]:
    return [r for i, (g, v) in enumerate(zip(gold, verdict, strict=True)) for r in ref(i, str(v), gold=str(g))]


def test_errors_and_associations_are_those_of_scipy_and_scikit_learn(measures, ref) -> None:
    from scipy import stats
    from sklearn import metrics

    generator = np.random.default_rng(1)
    gold = generator.integers(1, 7, 60)
    verdict = np.clip(gold + generator.integers(-2, 2, 60), 1, 6)
    rows = _rows(ref, gold, verdict)
    errors = {m.name: m for m in measures("ordinal-errors", rows, LEVELS) if not m.cell}
    found = {m.name: m for m in measures("ordinal-association", rows, LEVELS) if not m.cell}

    assert errors["mean-absolute-error"].estimate == pytest.approx(metrics.mean_absolute_error(gold, verdict))
    assert errors["root-mean-squared-error"].estimate == pytest.approx(metrics.root_mean_squared_error(gold, verdict))
    assert errors["bias"].estimate == pytest.approx((verdict - gold).mean())
    assert errors["adjacent-accuracy"].estimate == pytest.approx((np.abs(verdict - gold) <= 1).mean())
    assert errors["bias"].unit == "difference in levels"
    assert found["pearson"].estimate == pytest.approx(stats.pearsonr(gold, verdict).statistic)
    assert found["spearman"].estimate == pytest.approx(stats.spearmanr(gold, verdict).statistic)
    kappa = metrics.cohen_kappa_score(gold, verdict, weights="quadratic")
    weighted, _ = [m for m in measures("gold-kappa", rows, LEVELS) if not m.cell]
    assert weighted.estimate == pytest.approx(kappa)


def test_bias_is_told_per_gold_level(measures, ref) -> None:
    rows = _rows(ref, [1, 1, 6, 6], [2, 3, 4, 5])
    found = {m.cell.get("gold", ""): m.estimate for m in measures("ordinal-errors", rows, LEVELS) if m.name == "bias"}

    assert found == {"": 0.0, "1": 1.5, "6": -1.5}


def test_a_missing_verdict_could_be_as_wrong_as_the_scale_is_long(measures, ref) -> None:
    rows = [*ref(1, "4", gold="3"), *ref(2, None, gold="3")]
    found = {m.name: m for m in measures("ordinal-errors", rows, LEVELS) if not m.cell}

    assert (found["mean-absolute-error"].estimate, found["mean-absolute-error"].bounds) == (1.0, (0.5, 3.0))
    assert found["bias"].bounds == (-2.0, 3.0)


def test_the_confusion_of_a_label_sums_to_one(measures, ref) -> None:
    rows = [*ref(1, "YES", gold="YES"), *ref(2, "NO", gold="YES"), *ref(3, "NO", gold="YES"), *ref(4, "NO", gold="NO")]
    found = {(m.cell["right"], m.cell["verdict"]): m.estimate for m in measures("confusion", rows)}

    assert found == {
        ("YES", "YES"): pytest.approx(1 / 3), ("YES", "NO"): pytest.approx(2 / 3), ("NO", "YES"): 0.0, ("NO", "NO"): 1.0
    }  # fmt: skip
