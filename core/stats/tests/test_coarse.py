"""Variance components and ICC of yes-or-no scores: against brute force, and how often their intervals cover."""

import numpy as np
import pytest
from jrh_stats import icc, variance_components
from jrh_stats.coarse import _contributions, _drawn, _read
from jrh_stats.design import read_design

STUDIES = 200
SLACK = 3 * (0.05 * 0.95 / STUDIES) ** 0.5
ITEMS, JUDGES = 200, 12


def facets(shape, names=("item", "judge", "template")):
    return dict(zip(names, (axis.ravel() for axis in np.indices(shape)), strict=False))


def yes_or_no(shape, seed=0):
    generator = np.random.default_rng(seed)
    chance = 0.2 + 0.6 * generator.random((shape[0], *[1] * (len(shape) - 1)))
    return (generator.random(shape) < chance).astype(float)


@pytest.mark.parametrize(("shape", "names"), [((30, 4), 2), ((30, 4, 3), 2), ((20, 3, 4), 3), ((20, 3, 4, 2), 3)])
def test_the_contributions_of_items_are_the_analysis_of_variance(shape, names):
    """Axes beyond the facets are repeats."""
    score = yes_or_no(shape)
    levels = dict(list(facets(shape, ("item", "judge", "template", "repeat")).items())[:names])
    found = variance_components(score.ravel(), levels)
    scores, order = _read(read_design(score.ravel(), levels))
    own = {frozenset(order[axis] for axis in axes): float(part.mean()) for axes, part in _contributions(scores).items()}
    raw = {frozenset(part.facets): part.raw for part in found.components if "item" in part.facets}
    residual = raw.pop(frozenset(found.components[-1].facets))
    assert own.pop(frozenset()) == pytest.approx(residual)
    assert own == pytest.approx(raw)


def test_the_standard_error_is_the_jackknife_over_items_where_nothing_else_was_drawn():
    """Two judges: none can be left out. Every item is left out in turn, and the components computed again."""
    score = yes_or_no((60, 2), seed=3)
    whole = variance_components(score.ravel(), facets((60, 2))).components
    without = np.array(
        [
            [part.raw for part in variance_components(np.delete(score, item, 0).ravel(), facets((59, 2))).components]
            for item in range(60)
        ]
    )
    jackknife = np.sqrt(59 / 60 * np.square(without - without.mean(axis=0)).sum(axis=0))
    assert whole[0].standard_error == pytest.approx(jackknife[0], rel=0.05)
    assert whole[-1].standard_error == pytest.approx(jackknife[-1], rel=0.05)


def test_what_drawing_judges_adds_is_0_on_average_where_judges_are_alike():
    generator, found = np.random.default_rng(4), []
    for _ in range(2000):
        pseudo = generator.standard_normal((5, 40)) + generator.standard_normal((1, 40))
        found.append(_drawn(pseudo))
    # The variance of five means of 40 is 1/40; half of the estimates are cut at 0.
    assert np.mean(found) < 0.35 / 40 / 5
    unlike = [_drawn(generator.standard_normal((5, 40)) + generator.standard_normal((5, 1))) for _ in range(2000)]
    assert np.mean(unlike) == pytest.approx(1 / 5, rel=0.1)


def drawn(generator):
    """Draw yes-or-no scores whose chances come from a beta distribution of items, the same for all judges."""
    chance = generator.beta(2, 1, (ITEMS, 1))
    return (generator.random((ITEMS, JUDGES)) < chance).astype(float)


def test_components_of_labels_cover():
    """Var(p) of Beta(2, 1) is 1/18, the rest of 2/3 * 1/3 is the residual; it was covered 84% of the time."""
    generator, covered, flagged = np.random.default_rng(14), [], []
    for _ in range(STUDIES):
        found = variance_components(drawn(generator).ravel(), facets((ITEMS, JUDGES)))
        flagged.append(bool(found.components[0].flags))
        covered.append(
            [
                found.components[0].low <= 1 / 18 <= found.components[0].high,
                found.components[-1].low <= 1 / 6 <= found.components[-1].high,
            ]
        )
    assert np.mean(flagged) < 0.2
    for share in np.mean(covered, axis=0):
        assert 0.93 - SLACK <= share <= 0.98 + SLACK


def test_few_judges_and_missing_labels_are_flagged_and_scores_of_many_levels_are_not():
    few = variance_components(yes_or_no((100, 4)).ravel(), facets((100, 4)))
    assert all("few-levels" in part.flags for part in few.components)
    levels = facets((100, 4))
    holes = np.random.default_rng(0).random(400) < 0.8
    unbalanced = variance_components(
        yes_or_no((100, 4)).ravel()[holes], {name: codes[holes] for name, codes in levels.items()}
    )
    assert all("few-levels" in part.flags for part in unbalanced.components)
    normal = variance_components(np.random.default_rng(1).standard_normal(400), levels)
    assert not any(part.flags for part in normal.components)


@pytest.mark.parametrize("form", ["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"])
def test_clusters_of_one_item_change_no_estimate_and_copies_count_once(form):
    table = np.random.default_rng(5).standard_normal((40, 4)) + np.random.default_rng(6).standard_normal((40, 1))
    alone = icc(table, form)
    copied = icc(np.repeat(table, 3, axis=0), form, np.repeat(np.arange(40), 3))
    ignored = icc(np.repeat(table, 3, axis=0), form)
    assert copied.clusters == 40
    assert copied.low < copied.value < copied.high
    assert copied.high - copied.low == pytest.approx(alone.high - alone.low, rel=0.35)
    if form[0] != "2":  # in form 2 most of the width is that of four raters
        assert copied.high - copied.low > 1.3 * (ignored.high - ignored.low)


@pytest.mark.parametrize(("form", "truth"), [("2,1", 0.25), ("3,1", 0.25), ("1,k", 0.8)])
def test_the_icc_of_labels_covers(form, truth):
    """1/18 of 2/9 is 0.25; with twelve raters k r / (1 + (k - 1) r) = 0.8."""
    generator, covered = np.random.default_rng(16), []
    for _ in range(STUDIES):
        found = icc(drawn(generator), form)
        covered.append(found.low <= truth <= found.high)
    assert 0.93 - SLACK <= np.mean(covered) <= 0.97 + SLACK


def test_the_icc_of_items_that_share_clusters_covers():
    """Nine tenths of the items' variance belong to clusters of five; items taken as independent are covered less."""
    generator, covered, ignored, items = np.random.default_rng(17), [], [], np.repeat(np.arange(40), 5)
    for _ in range(STUDIES):
        item = np.sqrt(0.9) * np.repeat(generator.standard_normal((40, 1)), 5, axis=0)
        item = item + np.sqrt(0.1) * generator.standard_normal((200, 1))
        table = item + generator.standard_normal((200, 6))
        for kept, found in ((covered, icc(table, "3,1", items)), (ignored, icc(table, "3,1"))):
            kept.append(found.low <= 0.5 <= found.high)
    assert 0.92 - SLACK <= np.mean(covered) <= 0.97 + SLACK
    assert np.mean(ignored) < 0.85


def test_clusters_have_the_shape_of_the_items():
    with pytest.raises(ValueError, match="every item needs a cluster"):
        icc([[1, 2], [2, 5], [4, 4]], "3,1", [0, 1])
