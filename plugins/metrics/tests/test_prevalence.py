import pytest
from jrh import JrhError, Scale


def _items(ref, first, *groups):
    """Make reference rows: (number, verdict, gold) each."""
    rows, item = [], first
    for number, verdict, gold in groups:
        for _ in range(number):
            rows += ref(f"{item:05d}", verdict, gold=gold)
            item += 1
    return rows


def _by_name(measures, rows, **options):
    return {m.name: m for m in measures("corrected-prevalence", rows, **options)}


def test_the_prediction_powered_estimate_is_the_published_one(measures, ref) -> None:
    labelled = ((36, "YES", "YES"), (4, "NO", "YES"), (6, "YES", "NO"), (14, "NO", "NO"))
    rows = _items(ref, 0, (300, "YES", None), (140, "NO", None), *labelled)
    plain = _by_name(measures, rows, options={"tuned": False})["prevalence-prediction-powered"]
    tuned = _by_name(measures, rows)["prevalence-prediction-powered"]

    assert plain.estimate == pytest.approx(0.6485, abs=5e-5)
    assert (plain.interval.low, plain.interval.high) == (
        pytest.approx(0.5367, abs=5e-5),
        pytest.approx(0.7603, abs=5e-5),
    )
    assert tuned.interval.method == "prediction-powered-tuned"


def test_swapping_the_labels_gives_the_complement(measures, ref) -> None:
    groups = (
        (70, "YES", None),
        (30, "NO", None),
        (35, "YES", "YES"),
        (5, "NO", "YES"),
        (8, "YES", "NO"),
        (32, "NO", "NO"),
    )
    rows = _items(ref, 0, *groups)
    yes, no = (_by_name(measures, rows, options={"positive": label}) for label in ("YES", "NO"))
    name = "prevalence-prediction-powered"
    assert yes[name].estimate == pytest.approx(1 - no[name].estimate)
    assert yes[name].interval.low == pytest.approx(1 - no[name].interval.high)


def test_an_ordinal_scale_has_a_mean_level_and_labelled_runs_have_nothing_to_correct(measures, ref) -> None:
    scale = Scale.of_levels(1, 5)
    rows = _items(ref, 0, (40, "4", None), (40, "3", None), (20, "4", "3"), (20, "3", "2"), (10, "1", "1"))
    found = _by_name(measures, rows, scale=scale)
    labelled = [r for r in rows if r["gold"] is not None]

    # The judge says 3.2 of the unlabelled and labelled items together, counted from 1, and errs upwards.
    assert found["mean-level-prediction-powered"].estimate < 2.3
    assert found["mean-level-prediction-powered"].unit == "levels"
    assert not measures("corrected-prevalence", labelled, scale=scale)


def test_a_label_that_is_not_on_the_scale_is_an_error(measures, ref) -> None:
    rows = _items(ref, 0, (5, "YES", None), (5, "YES", "YES"))
    with pytest.raises(JrhError, match="corrected-prevalence: the positive label 'MAYBE' is not on the scale"):
        measures("corrected-prevalence", rows, options={"positive": "MAYBE"})
