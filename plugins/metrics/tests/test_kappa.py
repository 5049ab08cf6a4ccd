import numpy as np
import pytest
from jrh import Scale


def test_kappa_equals_scikit_learn_over_pairs_with_two_reference_repeats(measure, ref, row) -> None:
    from sklearn.metrics import cohen_kappa_score

    generator = np.random.default_rng(3)
    rows, now, before = [], [], []
    for item in range(40):
        labels = ["YES" if generator.random() < 0.6 else "NO" for _ in range(3)]
        rows += [*ref(item, *labels[:2]), row(item, labels[2])]
        now += [labels[2]] * 2
        before += labels[:2]
    found = measure("self-kappa", rows)["judge", "t", ""]

    assert found.estimate == pytest.approx(cohen_kappa_score(now, before))
    assert (found.unit, found.n_trials, found.n_items) == ("coefficient", 40, 40)
    assert found.interval.low < found.estimate < found.interval.high


def test_quadratic_kappa_uses_the_ranks_of_the_scale(measure, ref, row) -> None:
    from sklearn.metrics import cohen_kappa_score

    generator = np.random.default_rng(5)
    before = generator.integers(8, 12, 50)
    now = before + generator.integers(-1, 2, 50)
    rows = [r for i in range(50) for r in (*ref(i, str(before[i])), row(i, str(now[i])))]
    found = measure("self-kappa", rows, scale=Scale.of_levels(1, 12))["judge", "t", ""]

    assert found.estimate == pytest.approx(cohen_kappa_score(now, before, weights="quadratic"))
    assert found.name == "self-kappa"


def test_a_judge_that_always_says_yes_has_no_kappa_rather_than_a_perfect_one(measure, ref, row) -> None:
    rows = [r for i in range(30) for r in (*ref(i, "YES", "YES"), row(i, "YES"))]
    found = measure("self-kappa", rows)["judge", "t", ""]

    assert (found.estimate, found.interval) == (None, None)
    assert found.flags == ("degenerate", "constant-verdicts")
    assert found.n_trials == 30
    assert found.note.startswith("not estimable from identical values")


def test_a_constant_reference_is_flagged_because_kappa_is_then_zero_whatever_happens(measure, ref, row) -> None:
    rows = [r for i in range(30) for r in (*ref(i, "YES"), row(i, "NO" if i % 3 else "YES"))]
    found = measure("self-kappa", rows)["judge", "t", ""]

    assert found.estimate == pytest.approx(0.0)
    assert found.flags == ("constant-reference", "few-events")


def test_perfect_agreement_on_both_labels_is_one_with_room_below(measure, ref, row) -> None:
    rows = [r for i in range(30) for r in (*ref(i, "YES" if i % 2 else "NO"), row(i, "YES" if i % 2 else "NO"))]
    found = measure("self-kappa", rows)["judge", "t", ""]

    assert found.estimate == found.interval.high == 1.0
    assert 0.7 < found.interval.low < 0.95
    assert found.interval.method == "wilson-clusters"


def test_only_missing_verdicts_are_said_to_be_missing(measure, ref, row) -> None:
    found = measure("self-kappa", [*ref(1, "YES"), row(1, None)])["judge", "t", ""]

    assert (found.estimate, found.note, found.missing) == (None, "every verdict is missing", {"unparsable": 1})


def test_one_item_tells_nothing_of_agreement_beyond_chance(measures, ref, row) -> None:
    rows = [*ref(1, "YES", "YES"), row(1, "NO")]
    for found in measures("self-kappa", rows):
        assert (found.estimate, found.interval) == (None, None)
        assert "one-item" in found.flags


@pytest.mark.parametrize("metric", ["agreement", "flip-rate", "self-kappa", "noise-excess"])
def test_a_trial_of_which_nothing_is_expected_is_not_compared_with_the_reference(metric, measures, ref, row) -> None:
    rows = [r for i in range(12) for r in (*ref(i, "YES", "NO"), row(i, "YES"))]
    other = [row(i, "NO", expectation=None) for i in range(12)]

    with_them, without = (measures(metric, each) for each in (rows + other, rows))
    alone = [m for m in measures(metric, [r for r in rows if r["test"] == "reference"] + other) if m.test == "t"]

    assert [m.estimate for m in with_them] == [m.estimate for m in without]
    assert alone
    assert all((m.estimate, m.n_trials) == (None, 0) and m.note for m in alone)
