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


def test_rogan_gladen_gives_the_published_estimate_and_interval(measures, ref) -> None:
    rows = _items(
        ref,
        0,
        *((400, "YES", None), (600, "NO", None)),
        *((140, "NO", "NO"), (60, "YES", "NO"), (180, "YES", "YES"), (20, "NO", "YES")),
    )
    found = _by_name(measures, rows)["prevalence-rogan-gladen"]

    assert found.estimate == pytest.approx(0.1667, abs=5e-5)
    assert found.interval.low == pytest.approx(0.0564, abs=5e-5)
    assert found.interval.high == pytest.approx(0.2627, abs=5e-5)
    assert found.interval.method == "lang-reiczigel"
    assert (found.n_items, found.n_trials) == (1400, 1400)


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


def test_the_raw_rate_stands_beside_the_corrected_ones(measures, ref) -> None:
    rows = _items(ref, 0, (30, "YES", None), (30, None, None), (20, "YES", "YES"), (20, "NO", "NO"))
    judged = _by_name(measures, rows)["judged-prevalence"]

    assert judged.estimate == pytest.approx(50 / 70)
    assert judged.bounds == (0.5, 0.8)
    assert dict(judged.missing) == {"unparsable": 30}


def test_a_judge_that_is_no_better_than_chance_corrects_nothing(measures, ref) -> None:
    chance = ((20, "YES", "YES"), (20, "NO", "YES"), (20, "YES", "NO"), (20, "NO", "NO"))
    found = _by_name(measures, _items(ref, 0, (50, "YES", None), *chance))["prevalence-rogan-gladen"]

    assert (found.estimate, found.interval) == (None, None)
    assert "chance" in found.note


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
    for name in ("judged-prevalence", "prevalence-rogan-gladen", "prevalence-prediction-powered"):
        assert yes[name].estimate == pytest.approx(1 - no[name].estimate)
        assert yes[name].interval.low == pytest.approx(1 - no[name].interval.high)


def test_an_ordinal_scale_has_a_mean_level_and_labelled_runs_have_nothing_to_correct(measures, ref) -> None:
    scale = Scale.of_levels(1, 5)
    rows = _items(ref, 0, (40, "4", None), (40, "3", None), (20, "4", "3"), (20, "3", "2"), (10, "1", "1"))
    found = _by_name(measures, rows, scale=scale)
    labelled = [r for r in rows if r["gold"] is not None]

    assert found["mean-level-prediction-powered"].estimate < found["judged-mean-level"].estimate
    assert found["mean-level-prediction-powered"].unit == "levels"
    assert not measures("corrected-prevalence", labelled, scale=scale)


def test_a_label_that_is_not_on_the_scale_is_an_error(measures, ref) -> None:
    rows = _items(ref, 0, (5, "YES", None), (5, "YES", "YES"))
    with pytest.raises(JrhError, match="corrected-prevalence: the positive label 'MAYBE' is not on the scale"):
        measures("corrected-prevalence", rows, options={"positive": "MAYBE"})
