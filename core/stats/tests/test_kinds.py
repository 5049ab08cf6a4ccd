import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh_stats.clusters import cluster_margins, distinct, margin_kinds
from jrh_stats.kinds import label_kinds, pair_kinds

ROWS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40), st.integers(1, 4)), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, part=st.sampled_from([1, 2, 3, 7]))
def test_kinds_are_the_distinct_rows_of_the_margins_whatever_the_weights(rows, part) -> None:
    clusters, labels, weights = np.array(rows).T
    table = cluster_margins(clusters, labels, weights / part, n_labels=41)
    expected, counts = np.unique(table.round(9), axis=0, return_counts=True)
    kinds = label_kinds(clusters, labels, weights / part, n_labels=41)
    order = np.lexsort(kinds.rows.T[::-1])

    assert kinds.rows[order] == pytest.approx(expected, abs=1e-9)
    assert kinds.counts[order].tolist() == counts.tolist()
    assert len(kinds) == len(table)
    assert kinds.total == pytest.approx(table.sum(axis=0))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(-3, 3), st.integers(190, 202), st.integers(0, 1)), min_size=1, max_size=40),
    part=st.sampled_from([1.0, 2.0, 3.0]),
)
def test_distinct_rows_are_those_of_numpy_in_the_same_order(rows, part) -> None:
    sums = np.array(rows) / part
    kinds, counts = distinct(sums)
    expected, numbers = np.unique(sums, axis=0, return_counts=True)

    assert np.array_equal(kinds, expected)
    assert counts.tolist() == numbers.tolist()


def test_the_order_of_rows_does_not_show() -> None:
    generator = np.random.default_rng(0)
    clusters, labels = generator.integers(0, 30, 200), generator.integers(0, 60, 200)
    shuffled = generator.permutation(200)
    here, there = (label_kinds(clusters[o], labels[o], n_labels=60) for o in (np.arange(200), shuffled))

    assert np.array_equal(here.rows, there.rows)
    assert np.array_equal(here.counts, there.counts)


def test_pairs_are_tabled_by_level_and_too_many_levels_are_not() -> None:
    kinds, levels = pair_kinds([1.5, 2.5, 1.5], [2.5, 2.5, 0.5], [0, 0, 4])

    assert levels.tolist() == [0.5, 1.5, 2.5]
    assert sorted(map(tuple, kinds.rows.tolist())) == [(0, 0, 0, 0, 0, 1, 0, 0, 1), (0, 0, 0, 1, 0, 0, 0, 0, 0)]
    assert pair_kinds(np.arange(13), np.arange(13), np.arange(13)) is None


@pytest.mark.parametrize("least", [0.0, -1.0])
def test_kinds_of_a_large_table_are_those_of_the_table(least: float) -> None:
    # Two thousand clusters by a thousand labels: as many sums as are not held at once.
    generator = np.random.default_rng(8)
    clusters = np.concatenate([np.arange(2_000), generator.integers(0, 2_000, 300)])
    labels = np.where(generator.random(2_300) < 0.8, generator.integers(0, 6, 2_300), 999)
    weights = generator.choice([least, 1.0, 1 / 3], 2_300)
    table = cluster_margins(clusters, labels, weights, n_labels=1_000)
    rows, counts = np.unique(table, axis=0, return_counts=True)
    tracemalloc.start()
    found = margin_kinds(clusters, labels, weights, n_labels=1_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(found.rows, rows)
    assert np.array_equal(found.counts, counts)
    assert most < table.nbytes / 2
