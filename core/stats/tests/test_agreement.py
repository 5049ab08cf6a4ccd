import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh_stats import cohen_kappa, krippendorff_alpha

# Krippendorff (2011): four observers, twelve units, values 1 to 5, missing ratings.
OBSERVERS = ["1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."]
RATINGS = np.array([[0 if mark == "." else int(mark) for mark in row.split()] for row in OBSERVERS]).T
COUNTS = np.stack([(value == RATINGS).sum(axis=1) for value in range(1, 6)], axis=1)
VALUES = [1, 2, 3, 4, 5]

_counts = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=12)


@pytest.mark.parametrize(
    ("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_gives_krippendorffs_published_values(metric: str, alpha: float) -> None:
    found = krippendorff_alpha(COUNTS, VALUES, metric=metric)

    assert found.value == pytest.approx(alpha, abs=0.0005)
    assert found.n == 40  # of 41 ratings, the one that stands alone cannot be paired
    assert found.low < found.value < found.high


def test_ratings_of_one_label_have_no_agreement_beyond_chance() -> None:
    found = krippendorff_alpha([[3, 0]] * 10)

    assert (found.value, found.low, found.flags) == (None, None, ("degenerate",))


def test_units_with_one_rating_alone_say_nothing() -> None:
    assert krippendorff_alpha([[1, 0], [0, 1], [0, 0]]).flags == ("empty",)
    assert krippendorff_alpha(np.zeros((0, 2))).flags == ("empty",)


def test_one_unit_has_a_value_at_most_and_no_interval() -> None:
    found = krippendorff_alpha([[2, 1]])

    assert found.low is None
    assert found.clusters == 1


def test_negative_or_flat_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        krippendorff_alpha([[1, -1]])
    with pytest.raises(ValueError, match="units, labels"):
        krippendorff_alpha([1, 2])


def test_interval_and_ratio_metrics_need_numbers_in_order() -> None:
    with pytest.raises(ValueError, match="needs the numbers"):
        krippendorff_alpha(COUNTS, metric="interval")
    with pytest.raises(ValueError, match="lowest to highest"):
        krippendorff_alpha(COUNTS, [5, 4, 3, 2, 1], metric="interval")
    with pytest.raises(ValueError, match="0 or more"):
        krippendorff_alpha(COUNTS, [-2, -1, 0, 1, 2], metric="ratio")


def test_units_of_one_item_widen_the_interval() -> None:
    generator = np.random.default_rng(4)
    truth = np.repeat(generator.integers(0, 2, 30), 5)
    doubt = np.repeat(generator.random(30) < 0.3, 5)
    ratings = np.where(doubt[:, None], generator.integers(0, 2, (150, 1)) ^ np.array([0, 1, 0]), truth[:, None])
    counts = np.stack([(ratings == label).sum(axis=1) for label in range(2)], axis=1)
    apart, together = (krippendorff_alpha(counts, clusters=c) for c in (None, np.repeat(np.arange(30), 5)))

    assert together.value == pytest.approx(apart.value)
    assert together.high - together.low > 1.5 * (apart.high - apart.low)
    assert together.clusters == 30


@settings(max_examples=60)
@given(_counts, st.randoms(use_true_random=False))
def test_order_of_units_and_names_of_labels_change_nothing(counts, random) -> None:
    order, names = random.sample(range(len(counts)), len(counts)), random.sample(range(3), 3)
    changed = np.array(counts)[order][:, names]
    one, other = krippendorff_alpha(counts), krippendorff_alpha(changed)
    assert other.flags == one.flags
    assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), abs=1e-9)


@settings(max_examples=60)
@given(_counts, st.sampled_from(["ordinal", "interval"]))
def test_reversing_the_scale_changes_nothing(counts, metric) -> None:
    one = krippendorff_alpha(counts, [0, 1, 2], metric=metric)
    other = krippendorff_alpha(np.array(counts)[:, ::-1], [0, 1, 2], metric=metric)

    assert other.value == pytest.approx(one.value)


@settings(max_examples=60)
@given(_counts)
def test_alpha_of_counts_equals_the_krippendorff_package(counts) -> None:
    krippendorff = pytest.importorskip("krippendorff", reason="an oracle that is not installed everywhere")
    table = np.array(counts)
    found = krippendorff_alpha(table, [0, 1, 2], metric="ordinal")
    if found.value is not None:
        theirs = krippendorff.alpha(value_counts=table, value_domain=[0, 1, 2], level_of_measurement="ordinal")
        assert found.value == pytest.approx(theirs)


def test_two_raters_and_quadratic_distances_bring_alpha_close_to_weighted_kappa() -> None:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 5, 4000)
    second = np.clip(first + generator.integers(-1, 2, 4000), 0, 4)
    counts = np.eye(5)[first] + np.eye(5)[second]

    assert krippendorff_alpha(counts, range(5), metric="interval").value == pytest.approx(
        cohen_kappa(first, second, weighting="quadratic").value, abs=0.002
    )


def test_nominal_alpha_of_a_rare_label_is_flagged_whatever_the_sample_says():
    """60 items, one label on a seventh of the ratings: a third had no flag before, and covered 86%."""
    generator = np.random.default_rng(14)
    for _ in range(40):
        right = generator.binomial(3, generator.beta(12, 1, 60))
        assert "few-events" in krippendorff_alpha(np.stack([right, 3 - right], axis=1)).flags
