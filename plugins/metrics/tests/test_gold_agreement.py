import numpy as np
import pytest
from jrh import Scale

SCALES = {
    "labels": (Scale.of_labels("YES", "NO"), ["YES", "NO"]),
    "three labels": (Scale.of_labels("good", "bad", "unsure"), ["good", "bad", "unsure"]),
    "preference": (Scale.of_pairs(), ["A", "B"]),
}


def _rows(ref, gold, verdicts) -> list[dict]:
    return [
        row
        for item, (right, given) in enumerate(zip(gold, verdicts, strict=True))
        for row in ref(item, given, gold=right)
    ]


@pytest.mark.parametrize("kind", SCALES)
def test_kappa_with_gold_is_that_of_scikit_learn(measures, ref, kind: str) -> None:
    from sklearn.metrics import cohen_kappa_score

    scale, labels = SCALES[kind]
    draws = np.random.default_rng(5)
    gold = draws.choice(labels, 80, p=[0.7, *[0.3 / (len(labels) - 1)] * (len(labels) - 1)])
    verdicts = np.where(draws.random(80) < 0.2, draws.choice(labels, 80), gold)
    measure, test = measures("gold-kappa", _rows(ref, gold, verdicts), scale)

    assert (measure.name, test.name, test.unit) == ("gold-kappa", "gold-kappa-p", "p-value")
    assert test.estimate == pytest.approx(1 / 20_000), "of 19,999 random pairings none agrees as well"
    assert measure.estimate == pytest.approx(cohen_kappa_score(gold, verdicts))
    assert measure.interval.low < measure.estimate < measure.interval.high
    assert (measure.n_items, measure.unit, measure.interval.method) == (80, "coefficient", "jackknife-wilson")


def test_a_judge_that_always_says_the_commonest_label_is_right_often_and_agrees_by_chance_alone(measures, ref) -> None:
    rows = _rows(ref, ["YES"] * 45 + ["NO"] * 5, ["YES"] * 50)
    accuracy = next(measure for measure in measures("gold-accuracy", rows) if not measure.cell)
    kappa, test = [measure for measure in measures("gold-kappa", rows) if not measure.cell]

    assert (accuracy.estimate, kappa.estimate, test.estimate) == (0.9, 0.0, 1.0)


def test_tests_that_change_the_gold_label_have_no_agreement_with_it(measure, ref, row) -> None:
    rows = [*ref(1, "YES", gold="YES"), *ref(2, "NO", gold="NO")]
    rows += [row(1, "NO", gold="YES", test="flip", expectation="equals", expected="NO")]
    found = measure("gold-kappa", rows, name="gold-kappa")

    assert found["judge", "reference", ""].estimate == 1.0
    assert (found["judge", "flip", ""].estimate, found["judge", "flip", ""].n_trials) == (None, 0)


def test_ordinal_scales_have_the_weighted_kappa_by_the_same_name(measures, ref) -> None:
    from sklearn.metrics import cohen_kappa_score

    gold, verdicts = ["1", "2", "3", "3", "1"], ["2", "2", "3", "1", "1"]
    found, _ = measures("gold-kappa", _rows(ref, gold, verdicts), Scale.of_levels(1, 3))

    assert found.estimate == pytest.approx(cohen_kappa_score(gold, verdicts, weights="quadratic"))
