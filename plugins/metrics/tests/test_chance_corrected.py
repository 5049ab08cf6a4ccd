import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Scale
from jrh_stats import gwet_ac1, paired_gwet_ac1, paired_pabak
from jrh_stats import pabak as pabak_of_counts
from sklearn.metrics import cohen_kappa_score

GWET = {("YES", "YES"): 118, ("YES", "NO"): 5, ("NO", "YES"): 2, ("NO", "NO"): 0}
"""125 pairs, nearly all of them YES: Gwet (2002), Kappa statistic is not satisfactory for assessing agreement."""


NAMES = ("agreement-gwet-ac1", "agreement-pabak")


def _paired(ref, row, table):
    pairs = [pair for pair, number in table.items() for _ in range(number)]
    return [r for i, (one, other) in enumerate(pairs) for r in (*ref(i, one), row(i, other))]


def test_the_published_example_where_kappa_is_negative_and_agreement_is_high(measure, ref, row) -> None:
    rows = _paired(ref, row, GWET)
    ac1, pabak = (measure("chance-corrected", rows, name=name)["judge", "t", ""] for name in NAMES)

    assert ac1.estimate == pytest.approx(0.9408, abs=5e-5)
    assert pabak.estimate == pytest.approx(2 * 118 / 125 - 1)
    assert measure("kappa", rows)["judge", "t", ""].estimate == pytest.approx(-0.0234, abs=5e-5)
    assert ac1.n_items == ac1.n_trials == 125
    assert ac1.interval.low < ac1.estimate < ac1.interval.high


def test_a_judge_that_always_says_yes_has_an_ac1_of_one(measure, ref, row) -> None:
    rows = [r for i in range(20) for r in (*ref(i, "YES"), row(i, "YES"))]
    found = measure("chance-corrected", rows, name="agreement-gwet-ac1")["judge", "t", ""]

    assert found.estimate == 1.0
    assert found.interval.low < 0.9


@settings(max_examples=25, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=40))
def test_pairs_are_units_with_two_ratings(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs).T
    items = np.arange(len(pairs)) // 2
    counts = np.eye(4)[first] + np.eye(4)[second]
    for paired, counted in ((paired_gwet_ac1, gwet_ac1), (paired_pabak, pabak_of_counts)):
        mine, theirs = paired(first, second, items, n_labels=4), counted(counts, items)
        assert mine.value == pytest.approx(theirs.value)
        assert (mine.low, mine.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


@settings(max_examples=25, deadline=None)
@given(pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=40))
def test_other_names_for_the_labels_and_swapped_sides_change_nothing(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs).T
    items = np.arange(len(pairs))
    names = np.array([2, 0, 1])
    for coefficient in (paired_gwet_ac1, paired_pabak):
        here = coefficient(first, second, items, n_labels=3)
        assert coefficient(names[first], names[second], items, n_labels=3).value == pytest.approx(here.value)
        assert coefficient(second, first, items, n_labels=3).value == pytest.approx(here.value)


def test_linear_weights_count_every_step_as_scikit_learn_does(measure, ref, row) -> None:
    generator = np.random.default_rng(3)
    before, after = generator.integers(1, 6, 60), generator.integers(1, 6, 60)
    scale = Scale.of_levels(1, 5)

    rows = [r for i in range(60) for r in (*ref(i, str(before[i])), row(i, str(after[i])))]
    mirrored = [r for i in range(60) for r in (*ref(i, str(6 - before[i])), row(i, str(6 - after[i])))]
    found = measure("kappa-linear", rows, scale)["judge", "t", ""]

    assert found.estimate == pytest.approx(cohen_kappa_score(before, after, weights="linear"))
    assert measure("kappa-linear", mirrored, scale)["judge", "t", ""].estimate == pytest.approx(found.estimate)
    assert not measure("kappa-linear", [*ref(1, "YES"), row(1, "NO")])


@pytest.mark.parametrize("metric", ["agreement", "flip-rate", "kappa", "chance-corrected", "noise-excess"])
def test_a_trial_of_which_nothing_is_expected_is_not_compared_with_the_reference(metric, measures, ref, row) -> None:
    rows = [r for i in range(12) for r in (*ref(i, "YES", "NO"), row(i, "YES"))]
    other = [row(i, "NO", expectation=None) for i in range(12)]

    with_them, without = (measures(metric, each) for each in (rows + other, rows))
    alone = [m for m in measures(metric, [r for r in rows if r["test"] == "reference"] + other) if m.test == "t"]

    assert [m.estimate for m in with_them] == [m.estimate for m in without]
    assert alone
    assert all((m.estimate, m.n_trials) == (None, 0) and m.note for m in alone)
