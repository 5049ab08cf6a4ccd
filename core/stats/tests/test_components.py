"""Variance components against published tables and other programs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import cheapest_design, d_study, variance_components
from jrh_stats.design import read_design
from jrh_stats.generalizability import Moments

# Brennan (2001), Generalizability Theory: synthetic data no. 3, ten persons, four items on each of two occasions.
CROSSED = {
    (1, 1): (2, 4, 5, 5, 4, 4, 2, 3, 0, 6),
    (1, 2): (6, 5, 5, 9, 3, 4, 6, 4, 5, 8),
    (1, 3): (7, 6, 4, 8, 5, 4, 6, 4, 4, 7),
    (1, 4): (5, 7, 6, 6, 6, 7, 5, 5, 5, 6),
    (2, 1): (2, 6, 5, 5, 4, 6, 2, 6, 5, 6),
    (2, 2): (5, 7, 4, 7, 5, 4, 7, 6, 5, 8),
    (2, 3): (5, 5, 5, 7, 6, 7, 7, 6, 5, 8),
    (2, 4): (5, 7, 5, 6, 4, 8, 5, 4, 3, 6),
}
# Brennan (2001), synthetic data no. 1: how many of twelve items each of ten persons has right, item by item.
ONE_FACET = [
    "101000000000",
    "111001000000",
    "111110000000",
    "110110010000",
    "111110100000",
    "111011100000",
    "111111100000",
    "111101111100",
    "111111111110",
    "111111111111",
]
# Shrout and Fleiss (1979), table 2: six targets, four judges.
SHROUT = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


def crossed():
    rows = [(person, i, o, score) for (o, i), scores in CROSSED.items() for person, score in enumerate(scores)]
    person, i, o, score = (np.array(column) for column in zip(*rows, strict=True))
    return score, {"person": person, "i": i, "o": o}


def matrix(rows, names=("item", "judge")):
    table = np.array(rows, dtype=float)
    row, column = np.indices(table.shape)
    return table.ravel(), {names[0]: row.ravel(), names[1]: column.ravel()}


def simulated(shape, repeats, deviations, seed):
    generator = np.random.default_rng(seed)
    total = np.zeros((*shape, repeats))
    for axes, deviation in deviations.items():
        size = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
        total = total + deviation * generator.standard_normal([*size, 1])
    total = total + 0.7 * generator.standard_normal(total.shape)
    places = np.indices(total.shape).reshape(len(shape) + 1, -1)
    return total.ravel(), {name: places[axis] for axis, name in enumerate("abc"[: len(shape)])}


def test_the_components_of_a_two_facet_design_are_brennans():
    found = variance_components(*crossed(), object_of_measurement="person")
    assert found.flags == ("confounded",)
    raw = {part.name: round(part.raw, 4) for part in found.components}
    assert raw == {
        "person": 0.5528,
        "i": 0.4417,
        "o": 0.0074,
        "person:i": 0.5750,
        "person:o": 0.1009,
        "i:o": 0.1565,
        "residual": 0.9352,
    }
    assert all(part.low <= part.value <= part.high for part in found.components)
    elsewhere = variance_components(*crossed())
    assert elsewhere.flags == ("confounded", "no-interval")
    assert [part.raw for part in elsewhere.components] == pytest.approx([part.raw for part in found.components])


def test_the_coefficients_of_a_two_facet_design_are_brennans():
    study = d_study(variance_components(*crossed()), {"i": 4, "o": 2}, object_of_measurement="person")
    assert round(study.generalizability, 2) == 0.64
    assert round(study.dependability, 2) == 0.55
    assert study.calls == 8


def test_the_components_and_coefficients_of_a_one_facet_design_are_brennans():
    scores, facets = matrix([[int(mark) for mark in row] for row in ONE_FACET], ("person", "question"))
    found = variance_components(scores, facets)
    assert [round(part.raw, 4) for part in found.components] == [0.0574, 0.0754, 0.1269]
    study = d_study(found, {"question": 12}, object_of_measurement="person")
    assert round(study.generalizability, 3) == 0.844
    assert round(study.dependability, 3) == 0.773


@pytest.mark.parametrize(("judges", "relative", "absolute"), [(1, 0.715, 0.290), (4, 0.909, 0.620)])
def test_with_one_facet_the_coefficients_are_the_intraclass_correlations_of_shrout_and_fleiss(
    judges, relative, absolute
):
    study = d_study(variance_components(*matrix(SHROUT)), {"judge": judges})
    assert study.generalizability == pytest.approx(relative, abs=5e-4)
    assert study.dependability == pytest.approx(absolute, abs=5e-4)


def test_components_of_balanced_data_follow_from_the_mean_squares_of_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is not installed")
    anova_lm = pytest.importorskip("statsmodels.stats.anova").anova_lm
    scores, facets = simulated((6, 3), 2, {(0,): 1, (1,): 0.5, (0, 1): 0.6}, seed=3)
    a, b, both, rest = anova_lm(smf.ols("y ~ C(a) * C(b)", pd.DataFrame({"y": scores, **facets})).fit())["mean_sq"]
    found = variance_components(scores, facets)
    expected = {"a": (a - both) / 6, "b": (b - both) / 12, "a:b": (both - rest) / 2, "residual": rest}
    assert {part.name: part.raw for part in found.components} == pytest.approx(expected)


def test_a_unit_that_is_drawn_twice_is_two_units():
    scores, facets = simulated((8, 3, 2), 2, {(0,): 1, (1,): 0.5, (0, 2): 0.6}, seed=8)
    kept = np.random.default_rng(8).random(len(scores)) < 0.8
    scores, facets = scores[kept], {name: column[kept] for name, column in facets.items()}
    moments = Moments(read_design(scores, facets), "a")
    drawn = np.array([0, 2, 2, 3, 5, 5, 5, 7])
    copies = [np.flatnonzero(facets["a"] == unit) for unit in drawn]
    rows = np.concatenate(copies)
    again = {name: column[rows] for name, column in facets.items()}
    again["a"] = np.repeat(np.arange(len(drawn)), [len(copy) for copy in copies])
    expected = [part.raw for part in variance_components(scores[rows], again).components]
    assert moments.estimate(moments.sums[drawn].sum(axis=0, keepdims=True))[0] == pytest.approx(expected)


def test_unbalanced_data_are_estimated_without_bias():
    estimates = []
    for seed in range(60):
        scores, facets = simulated((30, 4), 2, {(0,): 1, (0, 1): 0.5}, seed)
        kept = np.random.default_rng(seed).random(len(scores)) < 0.7
        thinned = {name: column[kept] for name, column in facets.items()}
        estimates.append([part.raw for part in variance_components(scores[kept], thinned).components])
    error = np.std(estimates, axis=0) / np.sqrt(len(estimates))
    assert np.all(np.abs(np.mean(estimates, axis=0) - [1, 0, 0.25, 0.49]) < 4 * error)


@pytest.mark.parametrize(("missing", "planted"), [(0.0, 1.0), (1 / 6, 1.0)])
def test_the_interval_of_the_items_component_covers_as_often_as_it_says(missing, planted):
    covered, judges = [], []
    for seed in range(300):
        scores, facets = simulated((40, 3), 2, {(0,): 1, (1,): 0.7, (0, 1): 0.5}, seed)
        kept = np.random.default_rng(seed).random(len(scores)) >= missing
        thinned = {("item", "judge")[place]: facets[name][kept] for place, name in enumerate("ab")}
        item, judge, *_ = variance_components(scores[kept], thinned, resamples=400, seed=seed).components
        covered.append(item.low <= planted <= item.high)
        judges.append("few-levels" in judge.flags)
    assert 0.92 <= np.mean(covered) <= 0.985
    assert all(judges)


@pytest.mark.parametrize(("levels", "judges", "flagged"), [(2, 4, True), (5, 4, True), (40, 4, False), (5, 30, False)])
def test_few_judges_are_flagged_where_labels_make_items_depend_on_them(levels, judges, flagged):
    """A strict judge of yes-or-no questions also has less variance between items."""
    generator = np.random.default_rng(1)
    latent = generator.standard_normal((150, 1)) + generator.standard_normal((150, judges))
    scores, facets = matrix(np.searchsorted(np.linspace(-1, 1, levels - 1), latent))
    item, judge, residual = variance_components(scores, facets).components
    assert ("few-levels" in judge.flags) == (judges < 30)
    assert [("few-levels" in part.flags) for part in (item, residual)] == [flagged] * 2


def test_a_negative_estimate_is_reported_raw_and_counted_as_zero():
    scores, facets = matrix([[1, 2], [2, 1], [1, 2], [2, 1]])
    found = variance_components(scores, facets)
    item = found.components[0]
    assert item.raw < 0
    assert item.value == 0
    assert item.low == 0
    assert "negative" in found.flags


def test_an_interval_contains_the_estimate_also_far_below_zero():
    """Two judges who contradict each other on every item: the raw component of items is many errors below 0."""
    generator = np.random.default_rng(6)
    tilt = np.sign(generator.standard_normal((60, 1))) + 0.1 * generator.standard_normal((60, 1))
    item, *_ = variance_components(*matrix(np.hstack([tilt, -tilt]))).components
    assert item.raw < -0.9
    assert (item.value, item.low, item.high) == (0, 0, 0)


def test_a_facet_with_one_level_says_nothing_and_is_flagged():
    scores, facets = matrix(SHROUT)
    found = variance_components(scores, {**facets, "template": np.zeros(len(scores))})
    assert [part.name for part in found.components] == ["item", "judge", "residual"]
    assert found.levels["template"] == 1
    assert "single-level" in found.flags


def test_a_nested_facet_has_no_interaction_of_its_own():
    scores, facets = simulated((8, 4), 2, {(0,): 1}, seed=1)
    author = facets["a"] // 2
    found = variance_components(scores, {**facets, "author": author})
    assert "a:author" not in [part.name for part in found.components]


def test_nothing_and_one_item_are_no_variance():
    assert variance_components([], {"item": []}).flags == ("empty",)
    assert "degenerate" in variance_components([1.0, 2.0], {"item": [0, 0]}).flags
    assert variance_components([1.0], {"item": [0]}).components == ()


def test_constant_scores_have_no_variance_and_no_coefficient():
    scores, facets = matrix([[3, 3], [3, 3], [3, 3]])
    found = variance_components(scores, facets)
    assert all(part.value == 0 for part in found.components)
    assert d_study(found, {"judge": 2}).generalizability is None


@pytest.mark.parametrize(
    ("scores", "facets", "message"),
    [
        ([1.0, np.nan], {"item": [0, 1]}, "finite"),
        ([1.0], {}, "one facet"),
        ([1.0], {"repeat": [0]}, "taken"),
        ([1.0, 2.0], {"item": [0]}, "shape"),
    ],
)
def test_bad_input_is_an_error(scores, facets, message):
    with pytest.raises(ValueError, match=message):
        variance_components(scores, facets)


@given(order=st.permutations(range(30)), kept=st.integers(20, 30), factor=st.sampled_from([1.0, 2.5]))
def test_components_do_not_depend_on_the_order_and_scale_with_the_square(order, kept, factor):
    scores, facets = simulated((5, 3), 2, {(0,): 1, (1,): 0.5}, seed=2)
    rows = np.array(sorted(order[:kept]))
    mixed = np.array(order[:kept])
    one = variance_components(scores[rows], {name: column[rows] for name, column in facets.items()})
    other = variance_components(scores[mixed] * factor + 3, {name: column[mixed] for name, column in facets.items()})
    assert [part.raw * factor**2 for part in one.components] == pytest.approx(
        [part.raw for part in other.components], abs=1e-8
    )


def test_the_cheapest_design_is_the_cheapest_of_all_that_reach_the_wish():
    found = variance_components(*crossed())
    choices = {"i": range(1, 9), "o": range(1, 5)}
    best = cheapest_design(found, choices, object_of_measurement="person", dependability=0.6, price=0.01)
    every = [
        d_study(found, {"i": i, "o": o}, object_of_measurement="person", price=0.01)
        for i, o in product(choices["i"], choices["o"])
    ]
    assert best.cost == min(study.cost for study in every if study.dependability >= 0.6)
    assert best.design == {"i": 5, "o": 2}
    assert best.cost == pytest.approx(0.10)


def test_a_wish_nothing_reaches_has_no_design():
    found = variance_components(*crossed())
    assert cheapest_design(found, {"i": [1, 2]}, object_of_measurement="person", generalizability=0.99) is None


def test_a_standard_error_is_a_wish_too():
    found = variance_components(*crossed())
    wish = {"object_of_measurement": "person", "standard_error": 0.75}
    assert cheapest_design(found, {"i": range(1, 9), "o": range(1, 9)}, **wish).absolute_error <= 0.75


def test_repeats_reduce_the_residual_alone():
    scores, facets = simulated((10, 3), 3, {(0,): 1, (0, 1): 0.8}, seed=6)
    found = variance_components(scores, facets)
    study = d_study(found, {"b": 2, "repeat": 5}, object_of_measurement="a")
    expected = found.value("a:b") / 2 + found.value("residual") / 10 + found.value("b") / 2
    assert study.absolute_error**2 == pytest.approx(expected)


def test_a_facet_that_is_not_there_is_an_error():
    found = variance_components(*crossed())
    with pytest.raises(ValueError, match="'item' is not a facet"):
        d_study(found, {"i": 2})
    with pytest.raises(ValueError, match="'repeat' is not a facet that a design can vary"):
        d_study(found, {"repeat": 2}, object_of_measurement="person")
    with pytest.raises(ValueError, match="what the design has to reach"):
        cheapest_design(found, {"i": [1]}, object_of_measurement="person")


def repeated(cells, times, *, kept=None):
    """Return the scores of an item by judge table, every cell asked so many times, or as often as `kept` says."""
    rows, columns = np.indices(cells.shape)
    often = np.full(cells.size, times) if kept is None else kept
    return np.repeat(cells.ravel(), often), {
        "item": np.repeat(rows.ravel(), often),
        "judge": np.repeat(columns.ravel(), often),
    }


def test_repeats_that_never_differ_leave_the_components_of_the_cells_and_a_residual_of_zero():
    generator = np.random.default_rng(3)
    cells = generator.standard_normal((12, 1)) + generator.standard_normal((12, 4)) / 2
    once = variance_components(*repeated(cells, 1)).components

    found = variance_components(*repeated(cells, 3)).components

    assert [part.name for part in found] == ["item", "judge", "item:judge", "residual"]
    assert [part.raw for part in found[:-1]] == pytest.approx([part.raw for part in once])
    assert (found[-1].value, found[-1].low, found[-1].flags) == (0.0, None, ("no-interval",))
    assert all(part.low is not None for part in found[:-1])


def test_items_without_other_facets_have_the_variance_of_their_means():
    scores = np.random.default_rng(4).standard_normal(15)
    item, residual = variance_components(np.repeat(scores, 2), {"item": np.repeat(np.arange(15), 2)}).components
    assert (item.name, residual.value, residual.low) == ("item", 0.0, None)
    assert item.value == pytest.approx(scores.var(ddof=1))
    assert item.low < item.value < item.high


def test_judges_that_always_agree_have_no_interval_of_their_variance():
    cells = np.repeat(np.random.default_rng(5).standard_normal((12, 1)), 4, axis=1)
    item, judge, _, residual = variance_components(*repeated(cells, 2)).components
    assert item.value == pytest.approx(cells[:, 0].var(ddof=1))
    assert (judge.value, judge.low, judge.high) == (0.0, None, None)
    assert (residual.value, residual.low) == (0.0, None)


def test_the_likelihood_of_statsmodels_is_a_second_route_to_the_components():
    """The README names it for who wants REML: crossed effects are variance components of one group that holds all."""
    smf = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is not installed")
    scores, facets = simulated((40, 6), 2, {(0,): 1, (1,): 0.6, (0, 1): 0.5}, seed=4)
    frame = pd.DataFrame({"score": scores, "item": facets["a"], "judge": facets["b"]})
    effects = {"item": "0 + C(item)", "judge": "0 + C(judge)", "item:judge": "0 + C(item):C(judge)"}
    model = smf.mixedlm("score ~ 1", frame.assign(all=1), groups="all", re_formula="0", vc_formula=effects)
    fitted = model.fit(reml=True, method="lbfgs")
    found = variance_components(scores, {"item": facets["a"], "judge": facets["b"]})
    # Of balanced data whose components are all positive, REML and the analysis of variance agree.
    assert dict(zip(model.exog_vc.names, fitted.vcomp, strict=True)) == pytest.approx(
        {name: found.value(name) for name in effects}, rel=5e-3
    )
