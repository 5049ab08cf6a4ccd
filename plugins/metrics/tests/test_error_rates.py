import pytest
from jrh import JrhError, Scale


def _rates(found) -> dict:
    return {m.name: m for m in found if not m.cell}


def test_both_error_rates_stand_side_by_side(measures, ref) -> None:
    from scipy.stats import binomtest

    rows = [r for i in range(10) for r in ref(i, "YES" if i else "NO", gold="YES")]
    rows += [r for i in range(10, 30) for r in ref(i, "NO" if i < 25 else "YES", gold="NO")]
    found = _rates(measures("error-rates", rows))
    expected = binomtest(5, 20).proportion_ci(method="exact")

    assert found["false-negative-rate"].estimate == pytest.approx(0.1)
    assert found["false-positive-rate"].estimate == pytest.approx(0.25)
    interval = found["false-positive-rate"].interval
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_the_positive_label_can_be_named(measures, ref) -> None:
    rows = [*ref(1, "YES", gold="NO"), *ref(2, "YES", gold="YES")]

    assert _rates(measures("error-rates", rows, options={"positive": "NO"}))["false-negative-rate"].estimate == 1.0
    with pytest.raises(JrhError, match="'OK' is not on the scale"):
        measures("error-rates", rows, options={"positive": "OK"})
    assert measures("error-rates", [*ref(1, "a", gold="a")], scale=Scale.of_labels("a", "b", "c")) == []


def test_rates_are_broken_down_by_stratum_gold_and_strength(measures, ref, row) -> None:
    rows = []
    for item in range(8):
        about = {"gold": "YES" if item < 4 else "NO", "stratum": "odd" if item % 2 else "even"}
        rows += ref(item, "YES", **about)
        rows += [row(item, "YES" if strength < 1 else "NO", strength=strength, **about) for strength in (0.5, 1.0)]
    found = {(*m.cell.items(),): m.estimate for m in measures("flip-rate", rows) if m.test == "t"}
    right = {(*m.cell.items(),): m.estimate for m in measures("gold-accuracy", rows) if m.test == "reference"}

    assert found[(("strength", "0.5"),)] == 0.0
    assert found[(("strength", "1"),)] == 1.0
    assert found[(("stratum", "even"),)] == 0.5
    assert right == {(): 0.5, (("stratum", "even"),): 0.5, (("stratum", "odd"),): 0.5,
                     (("gold", "YES"),): 1.0, (("gold", "NO"),): 0.0}  # fmt: skip


def test_labels_outside_the_scale_and_trials_told_twice_are_refused(measures, ref) -> None:
    with pytest.raises(JrhError, match="gold label 'PERHAPS' is not on the scale of task 'task'"):
        measures("as-expected", ref(1, "YES", gold="PERHAPS"))
    with pytest.raises(JrhError, match="trial 'x' has 2 records"):
        measures("as-expected", [{**r, "trial_id": "x"} for r in ref(1, "YES", "NO", gold="YES")])


def test_a_verdict_outside_the_scale_is_missing_and_not_wrong(measure, ref) -> None:
    found = measure("as-expected", [*ref(1, "PERHAPS", gold="YES"), *ref(2, "YES", gold="YES")])[
        "judge", "reference", ""
    ]

    assert (found.estimate, found.missing, found.bounds) == (1.0, {"off_scale": 1}, (0.5, 1.0))
