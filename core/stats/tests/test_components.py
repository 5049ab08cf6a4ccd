"""Variance components against published tables and other programs."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh_stats import cheapest_design, d_study, variance_components
from scipy.stats import chi2

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
    found = variance_components(*crossed())
    assert found.method == "anova"
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
    squares = {part.name: (part.degrees, round(part.mean_square, 3)) for part in found.components}
    assert squares["person:i"] == (27, 2.085)
    assert squares["i:o"] == (3, 2.5)


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


def test_mean_squares_are_those_of_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is not installed")
    anova_lm = pytest.importorskip("statsmodels.stats.anova").anova_lm
    scores, facets = simulated((6, 3, 4), 2, {(0,): 1, (1,): 0.5, (0, 2): 0.6}, seed=3)
    table = anova_lm(smf.ols("y ~ C(a) * C(b) * C(c)", pd.DataFrame({"y": scores, **facets})).fit())
    found = variance_components(scores, facets)
    expected = dict(zip(["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c", "residual"], table["mean_sq"], strict=True))
    assert {part.name: part.mean_square for part in found.components} == pytest.approx(expected)
    assert [part.degrees for part in found.components] == table["df"].astype(int).tolist()


def test_reml_of_unbalanced_data_is_that_of_statsmodels():
    smf = pytest.importorskip("statsmodels.formula.api", reason="statsmodels is not installed")
    scores, facets = simulated((15, 4), 2, {(0,): 1, (1,): 0.6, (0, 1): 0.5}, seed=4)
    kept = np.random.default_rng(5).random(len(scores)) < 0.75
    scores, facets = scores[kept], {name: column[kept] for name, column in facets.items()}
    frame = pd.DataFrame({"y": scores, **facets, "all": 1})
    frame["ab"] = frame["a"] * 10 + frame["b"]
    parts = {name: f"0 + C({name})" for name in ("a", "b", "ab")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = smf.mixedlm("y ~ 1", frame, groups="all", re_formula="0", vc_formula=parts)
        fitted = model.fit(reml=True, method="lbfgs")
    expected = dict(zip(model.exog_vc.names, fitted.vcomp, strict=True))
    found = variance_components(scores, facets)
    assert found.method == "reml"
    assert found.value("a") == pytest.approx(expected["a"], rel=2e-3)
    assert found.value("b") == pytest.approx(expected["b"], rel=2e-3)
    assert found.value("a:b") == pytest.approx(expected["ab"], rel=5e-3)
    assert found.value("residual") == pytest.approx(fitted.scale, rel=2e-3)


def test_reml_of_balanced_data_without_negative_components_is_the_analysis_of_variance():
    from jrh_stats.design import read_design
    from jrh_stats.reml import reml_components

    scores, facets = crossed()
    moments = [part.raw for part in variance_components(scores, facets).components]
    found, errors = reml_components(read_design(scores, facets), np.array(moments))
    assert found == pytest.approx(moments, abs=1e-5)
    assert np.all(errors > 0)


def test_henderson_one_of_balanced_data_is_the_analysis_of_variance():
    from jrh_stats.design import read_design
    from jrh_stats.moments import henderson

    scores, facets = simulated((6, 3, 4), 2, {(0,): 1, (1,): 0.5, (0, 2): 0.6}, seed=8)
    raw = [part.raw for part in variance_components(scores, facets).components]
    assert henderson(read_design(scores, facets)) == pytest.approx(raw, abs=1e-9)


def test_large_unbalanced_data_are_estimated_without_bias_and_without_an_interval():
    estimates = []
    for seed in range(60):
        scores, facets = simulated((30, 4), 2, {(0,): 1, (0, 1): 0.5}, seed)
        kept = np.random.default_rng(seed).random(len(scores)) < 0.7
        thinned = {name: column[kept] for name, column in facets.items()}
        found = variance_components(scores[kept], thinned, reml_levels=0)
        assert found.method == "henderson-1"
        assert all(part.low is None for part in found.components)
        estimates.append([part.raw for part in found.components])
    error = np.std(estimates, axis=0) / np.sqrt(len(estimates))
    assert np.all(np.abs(np.mean(estimates, axis=0) - [1, 0, 0.25, 0.49]) < 4 * error)


def test_the_balanced_interval_of_a_component_covers_as_often_as_it_says():
    covered = []
    for seed in range(400):
        scores, facets = simulated((20, 3, 2), 1, {(0,): 1, (1,): 0.7, (0, 1): 0.5}, seed)
        part = variance_components(scores, facets).components[0]
        covered.append(part.low <= 1 <= part.high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_negative_estimate_is_reported_raw_and_counted_as_zero():
    scores, facets = matrix([[1, 2], [2, 1], [1, 2], [2, 1]])
    found = variance_components(scores, facets)
    item = found.components[0]
    assert item.raw < 0
    assert item.value == 0
    assert item.low == 0
    assert "negative" in found.flags


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
    one = variance_components(scores[rows], {name: column[rows] for name, column in facets.items()}, reml_levels=0)
    other = variance_components(
        scores[mixed] * factor + 3, {name: column[mixed] for name, column in facets.items()}, reml_levels=0
    )
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


def numbers(found):
    return [(part.value, part.low, part.high) for part in found.components]


def test_repeats_that_never_differ_leave_the_components_of_the_cells_and_a_residual_of_zero():
    generator = np.random.default_rng(3)
    cells = generator.standard_normal((12, 1)) + generator.standard_normal((12, 4)) / 2
    once = variance_components(*repeated(cells, 1))

    for often in (np.full(48, 3), generator.integers(1, 4, 48)):
        found = variance_components(*repeated(cells, 1, kept=often))

        assert [part.name for part in found.components] == ["item", "judge", "item:judge", "residual"]
        assert numbers(found)[:-1] == [pytest.approx(ends) for ends in numbers(once)]
        assert numbers(found)[-1] == (0.0, None, None)
        assert found.flags == ("identical-repeats",)
        assert found.n == often.sum()


def test_items_without_other_facets_whose_repeats_agree_have_the_interval_of_a_normal_variance():
    scores = np.random.default_rng(4).standard_normal(15)
    found = variance_components(np.repeat(scores, 2), {"item": np.repeat(np.arange(15), 2)})

    (item, residual), spread = found.components, scores.var(ddof=1)
    assert (item.name, residual.value) == ("item", 0.0)
    assert item.value == pytest.approx(spread)
    assert (item.low, item.high) == pytest.approx([14 * spread / chi2.ppf(tail, 14) for tail in (0.975, 0.025)])


@pytest.mark.parametrize("share", [1.0, 0.8])
def test_judges_that_always_agree_have_no_interval_of_their_variance(share):
    generator = np.random.default_rng(5)
    cells = np.repeat(generator.standard_normal((12, 1)), 4, axis=1)
    found = variance_components(*repeated(cells, 1, kept=2 * (generator.random(48) < share)))

    item, judge, _, residual = found.components
    assert item.value == pytest.approx(cells[:, 0].var(ddof=1), rel=0.3)
    assert judge.value == pytest.approx(0, abs=0.01)
    assert (judge.low, judge.high) == (None, None)
    assert (residual.value, residual.low) == (0.0, None)
    assert ("no-interval" in found.flags) == (share < 1)
