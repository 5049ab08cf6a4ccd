"""The planted values against a plain count over a very large study, and the large study against scipy."""

import json

import numpy as np
import pytest
from attrs import evolve
from jrh import REFERENCE, Scale
from jrh_selftest.arrays import components, draw_scores
from jrh_selftest.pages import Page
from jrh_selftest.ratings import agreement, draw_error_correlation, draw_ratings, majority
from jrh_selftest.truth import gold_said_in_test, ordinal, truths
from jrh_selftest.world import TEST, World
from jrh_selftest.worlds import COVARIATE, DESIGNS, FAIR, FOLLOWING, TEMPLATES, UNDECLARED, WORLDS, worlds
from jrh_testing import loop_over


def large(world):
    return evolve(world, items=60_000, unequal=False, repeats=2).draw(np.random.default_rng(1))


def answers(records, test):
    """Return gold and the two answers of every item, as codes, -1 where missing."""
    rows = records.where(records.equals("test", test))
    order = np.lexsort((rows.number("repeat"), rows.codes("item_id")))
    return rows.codes("gold")[order][::2], *(rows.codes("canonical")[order][start::2] for start in (0, 1))


NEW = [world for world in DESIGNS if world.name in ("few noisy items", "near-duplicates")]


@loop_over("world", [*WORLDS, *NEW], ids=lambda world: world.name)
def test_every_rate_of_a_world_is_what_a_count_over_60_000_items_finds(world):
    records = large(world)
    planted = truths(world)
    gold, first, second = answers(records, REFERENCE)
    _, changed, again = answers(records, TEST)
    seen = (first >= 0) & (second >= 0) & (changed >= 0) & (again >= 0)
    gold, first, second, changed, again = (part[seen] for part in (gold, first, second, changed, again))
    raw, floor = np.mean(first != changed), (np.mean(first != second) + np.mean(changed != again)) / 2
    counted = {
        ("as-expected", REFERENCE): np.mean(first == gold),
        ("gold-accuracy", TEST): np.mean(changed == gold),
        ("agreement", TEST): np.mean(first == changed),
        ("accuracy-change", TEST): np.mean(changed == gold) - np.mean(first == gold),
        ("rerun-disagreement", REFERENCE): np.mean(first != second),
        ("rerun-disagreement", TEST): np.mean(changed != again),
        ("noise-floor", TEST): floor,
        ("excess-disagreement", TEST): raw - floor,
    }
    for key, value in counted.items():
        assert planted[key] == pytest.approx(value, abs=0.01), key


def test_ordinal_values_are_those_of_scipy_over_a_large_study():
    from scipy import stats
    from sklearn import metrics

    world = next(world for world in WORLDS if world.scale.ordered)
    planted = truths(world)
    gold, first, _ = answers(large(world), REFERENCE)
    assert planted["pearson", REFERENCE] == pytest.approx(stats.pearsonr(gold, first).statistic, abs=0.01)
    assert planted["spearman", REFERENCE] == pytest.approx(stats.spearmanr(gold, first).statistic, abs=0.01)
    assert planted["mean-absolute-error", REFERENCE] == pytest.approx(np.abs(gold - first).mean(), abs=0.01)
    assert planted["scale-compression", REFERENCE] == pytest.approx(first.std() / gold.std(), abs=0.01)
    kappa = metrics.cohen_kappa_score(gold, first, weights="quadratic")
    assert planted["gold-kappa", REFERENCE] == pytest.approx(kappa, abs=0.01)


def alpha(counts, distances):
    """Krippendorff's alpha by its definition, of complete ratings: one minus observed over expected distance."""
    raters, total = counts.sum(axis=1)[0], counts.sum()
    pairs = counts.T @ counts - np.diag(counts.sum(axis=0))
    observed = (pairs * distances).sum() / (total * (raters - 1))
    totals = counts.sum(axis=0)
    expected = ((np.outer(totals, totals) - np.diag(totals)) * distances).sum() / (total * (total - 1))
    return 1.0 - observed / expected


def ordinal_distances(totals):
    """Krippendorff's ordinal metric: the square of the answers between two levels, half of each end counted."""
    middle = np.cumsum(totals) - totals / 2
    return (middle[:, None] - middle[None, :]) ** 2


def test_alpha_by_its_definition_is_what_its_own_library_finds():
    krippendorff = pytest.importorskip("krippendorff", reason="an oracle that is not installed everywhere")
    counts = np.array([[4, 0, 0], [0, 4, 0], [1, 3, 0], [0, 2, 2], [0, 0, 4], [2, 1, 1]], dtype=float)
    for level, distances in (("nominal", 1.0 - np.eye(3)), ("ordinal", ordinal_distances(counts.sum(axis=0)))):
        theirs = krippendorff.alpha(value_counts=counts.astype(int), level_of_measurement=level)
        assert alpha(counts, distances) == pytest.approx(theirs)


@loop_over("world", [*WORLDS[:3], DESIGNS[1]], ids=lambda world: world.name)
def test_planted_agreement_is_what_other_libraries_find_in_a_large_study(world):
    from attrs import evolve

    counts, items = draw_ratings(evolve(world, items=20_000, repeats=1, unequal=False), np.random.default_rng(2))
    planted = agreement(world)
    assert len(items) == 20_000
    assert planted["Krippendorff's alpha"] == pytest.approx(alpha(counts, 1.0 - np.eye(counts.shape[1])), abs=0.02)
    if world.scale.ordered:
        assert planted["ordinal alpha"] == pytest.approx(alpha(counts, ordinal_distances(counts.sum(axis=0))), abs=0.02)


def test_the_full_mode_has_every_kind_of_task_and_the_designs_in_which_intervals_fail():
    full = worlds(full=True)
    assert {world.mode.value for world in full} == {"pointwise", "pairwise", "transcript"}
    assert {world.scale.kind.value for world in full} == {"labels", "pairwise", "ordinal"}
    assert len([world for world in full if world.items <= 20 and world.repeats >= 8]) >= 3
    assert len([world for world in full if world.unequal]) >= 3
    accuracy = [truths(world)["as-expected", REFERENCE] for world in full]
    assert min(accuracy) < 0.05
    assert len([value for value in accuracy if 0.95 < value < 1]) >= 2
    assert len([value for value in accuracy if value == pytest.approx(1.0)]) >= 2
    assert set(worlds(full=False)) < set(full)
    assert len({world.name for world in full}) == len(full)


def test_perfect_agreement_is_one_and_reversed_levels_are_minus_one():
    perfect = ordinal(np.eye(4) / 4)
    assert perfect["gold-kappa"] == perfect["spearman"] == pytest.approx(1)
    assert ordinal(np.eye(4)[::-1] / 4)["spearman"] == pytest.approx(-1)


def test_joint_distributions_sum_to_one_and_missing_verdicts_change_nothing():
    world = World(name="w", scale=Scale.of_levels(1, 3), missing=0.3)
    assert gold_said_in_test(world).sum() == pytest.approx(1)
    assert (
        truths(world)["as-expected", REFERENCE] == truths(World(name="w", scale=world.scale))["as-expected", REFERENCE]
    )


def test_worlds_are_drawn_again_from_the_same_seed_and_marked_as_simulated():
    world = WORLDS[0]
    one, other = (world.draw(np.random.default_rng(3)) for _ in range(2))
    assert one.text("canonical") == other.text("canonical")
    assert one.number("simulated").all()


def test_unequal_worlds_ask_items_differently_often_in_the_test():
    world = next(world for world in WORLDS if world.unequal)
    records = world.draw(np.random.default_rng(0))
    asked = np.bincount(records.where(records.equals("test", TEST)).codes("item_id"))
    assert asked.min() >= 1
    assert asked.max() > asked.min()


def test_cut_scores_have_the_planted_components():
    """Means over 60,000 pairs of judges with effects of their own."""
    generator = np.random.default_rng(0)
    for levels in (2, 3, 5):
        drawn = [draw_scores(generator, levels=levels, items=1, repeats=2) for _ in range(30_000)]
        scores = np.concatenate(drawn)
        total, parts = scores.var(), components(levels)
        same_cell = np.mean(scores[:, :, 0] * scores[:, :, 1]) - scores.mean() ** 2
        other_judge = np.mean(scores[:, 0, 0] * scores[:, 1, 0]) - scores.mean() ** 2
        assert sum(parts.values()) == pytest.approx(total, rel=0.03)
        assert parts["item"] == pytest.approx(other_judge, rel=0.06)
        assert parts["residual"] == pytest.approx(total - same_cell, rel=0.03)


def test_two_levels_cut_in_the_middle_have_the_arcsine_covariance():
    """Sheppard's theorem: P(both above the mean) = 1/4 + arcsin(r) / 2 pi."""
    from jrh_selftest import arrays as cutting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "_CUTS", {2: (0.0,)})
        assert cutting.covariance(2, 0.45) == pytest.approx(np.arcsin(0.45) / (2 * np.pi))


def test_wrong_verdicts_are_lost_as_often_as_planted():
    world = next(world for world in DESIGNS if world.missing_if_wrong is not None)
    records = large(world)
    test = records.where(records.equals("test", TEST))
    assert truths(world)["missing", TEST] == pytest.approx(np.mean(test.codes("canonical") < 0), abs=0.01)
    right = truths(world)["gold-accuracy", TEST]
    seen = test.where(test.codes("canonical") >= 0)
    assert np.mean(seen.codes("canonical") == seen.codes("gold")) > right + 0.04


def test_a_page_without_a_change_asks_and_answers_as_planted():
    page = Page(name="page", judges=3, tests=2, items=4000, reference_repeats=3, repeats=1)
    records = page.draw(np.random.default_rng(0))
    right = records.codes("canonical") == records.codes("gold")
    for (_, test), rows in records.split("judge", "test"):
        hits = rows.codes("canonical") == rows.codes("gold")
        assert len(hits) == 4000 * (3 if test == REFERENCE else 1)
        assert hits.mean() == pytest.approx(0.9 * 0.8 + 0.05, abs=0.03)
    assert right.mean() == pytest.approx(0.77, abs=0.01)


def test_a_spoilt_page_is_worse_by_the_margin_exactly():
    page = Page(name="page", items=20_000, accuracy=1.0, noise=0.0, spoilt=0.05, reference_repeats=1, repeats=1)
    records = page.draw(np.random.default_rng(0))
    changed = records.where(records.equals("test", "test-0"))
    assert np.mean(changed.codes("canonical") == changed.codes("gold")) == pytest.approx(0.95, abs=0.006)


def test_groups_of_a_page_share_what_a_judge_believes():
    page = Page(name="page", items=4000, copies=5, noise=0.0, tests=0, reference_repeats=1)
    records = page.draw(np.random.default_rng(0))
    right = (records.codes("canonical") == records.codes("gold")).reshape(-1, 5)
    assert set(right.sum(axis=1).tolist()) == {0, 5}
    assert right.mean() == pytest.approx(0.8, abs=0.05)
    assert len(np.unique(records.codes("group"))) == 800


def test_a_trio_is_right_as_often_as_a_count_of_all_eight_outcomes_says():
    chances = np.array([0.9, 0.7, 0.6])
    outcomes = np.indices((2, 2, 2)).reshape(3, -1).T
    each = np.where(outcomes == 1, chances, 1 - chances).prod(axis=1)
    assert majority(chances) == pytest.approx(each[outcomes.sum(axis=1) >= 2].sum())


def test_errors_come_together_as_often_as_planted():
    found = draw_error_correlation(np.random.default_rng(0), items=100_000, rate=0.2, planted=0.3)
    assert found.value == pytest.approx(0.3, abs=0.015)


@loop_over("world", [*TEMPLATES, UNDECLARED], ids=lambda world: world.name)
def test_agreement_between_templates_is_what_a_count_over_20_000_items_finds(world):
    from sklearn import metrics

    records = evolve(world, items=20_000 * world.copies).draw(np.random.default_rng(2))
    rows = records.where(records.equals("test", TEST))
    order = np.lexsort((rows.codes("template"), rows.codes("item_id")))
    said, shown = (rows.codes(name)[order].reshape(-1, 4) for name in ("canonical", "presented"))
    pairs = [(one, other) for one in range(4) for other in range(one)]
    there = (said >= 0).all(axis=1)
    same, raw = (
        np.mean([np.mean(each[there, one] == each[there, other]) for one, other in pairs]) for each in (said, shown)
    )
    planted = truths(world)
    assert planted["jss-raw", TEST] == pytest.approx(raw, abs=0.01)
    if world.undeclared:
        assert same == pytest.approx(raw)
        return
    assert planted["jss", TEST] == pytest.approx(same, abs=0.01)
    assert planted["jss-correction", TEST] == pytest.approx(same - raw, abs=0.01)
    first, second = (np.concatenate([said[there, pair[side]] for pair in pairs]) for side in (0, 1))
    assert planted["template-kappa", TEST] == pytest.approx(metrics.cohen_kappa_score(first, second), abs=0.01)


@loop_over("world", [*FOLLOWING, *FAIR], ids=lambda world: world.name)
def test_the_effect_of_a_covariate_is_the_slope_within_gold_labels_of_60_000_items(world):
    records = evolve(world, items=60_000).draw(np.random.default_rng(3))
    rows = records.where(records.equals("test", REFERENCE))
    size = np.array([json.loads(text)[COVARIATE] for text in rows.text("covariates")])
    said, gold = rows.codes("canonical"), rows.codes("gold")
    slopes = [
        np.polyfit(size[here], said[here] == 0, 1)[0]
        for label in (0, 1)
        if (here := (gold == label) & (said >= 0)).any()
    ]
    assert truths(world)["covariate-effect", REFERENCE] == pytest.approx(np.mean(slopes), abs=0.01)
