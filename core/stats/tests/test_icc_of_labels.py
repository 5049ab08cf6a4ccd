"""ICC of yes-or-no scores, and of items that share clusters: how often its intervals cover."""

import numpy as np
import pytest
from jrh_stats import icc

STUDIES = 200
SLACK = 3 * (0.05 * 0.95 / STUDIES) ** 0.5
ITEMS, JUDGES = 200, 12


def drawn(generator):
    """Draw yes-or-no scores whose chances come from a beta distribution of items, the same for all judges."""
    chance = generator.beta(2, 1, (ITEMS, 1))
    return (generator.random((ITEMS, JUDGES)) < chance).astype(float)


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
