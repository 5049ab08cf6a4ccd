import numpy as np
import pytest
from jrh_stats import icc, mean_squares
from jrh_stats.intraclass import combination_interval

# Shrout and Fleiss (1979), table 2: six targets, four judges.
RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])


@pytest.mark.parametrize(
    ("form", "value", "low", "high"),
    # Values: the paper; F intervals: R's psych package, which prints two digits of them.
    [
        ("1,1", 0.166, -0.13, 0.72),
        ("2,1", 0.290, 0.02, 0.76),
        ("3,1", 0.715, 0.34, 0.95),
        ("1,k", 0.443, -0.88, 0.91),
        ("2,k", 0.620, 0.07, 0.93),
        ("3,k", 0.909, 0.68, 0.99),
    ],
)
def test_all_forms_give_the_published_values(form: str, value: float, low: float, high: float) -> None:
    found = icc(RATINGS, form)

    assert found.value == pytest.approx(value, abs=0.0005)
    if form[0] != "2":  # with random raters the F interval covers too rarely, and another one is used
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.0051)
    assert (found.n, found.clusters) == (24, 6)


def test_mean_squares_are_those_of_the_paper() -> None:
    found = mean_squares(RATINGS)

    assert found.between == pytest.approx(11.24, abs=0.005)
    assert found.within == pytest.approx(6.26, abs=0.005)
    assert found.between_raters == pytest.approx(32.49, abs=0.005)
    assert found.residual == pytest.approx(1.02, abs=0.005)


def test_a_constant_shift_of_a_rater_harms_agreement_and_not_consistency() -> None:
    shifted = RATINGS[:, :1] + np.array([[0, 3]])

    assert icc(shifted, "3,1").value == 1.0
    assert icc(shifted, "3,1").flags == ("no-interval",)
    assert icc(shifted, "2,1").value < 0.6


@pytest.mark.parametrize("form", ["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"])
def test_ratings_that_never_differ_have_no_coefficient(form: str) -> None:
    assert icc(np.full((5, 3), 4.0), form).flags == ("degenerate",)


@pytest.mark.parametrize("ratings", [[[1, 2]], [[1], [2]], [1, 2], [[1, 2], [3, np.nan]]])
def test_one_item_one_rater_or_a_hole_is_refused(ratings) -> None:
    with pytest.raises(ValueError, match=r"two or more|every rater"):
        icc(ratings)


@pytest.mark.parametrize("form", ["2,1", "2,k"])
def test_the_large_sample_interval_is_where_the_contrast_of_variances_could_be_zero(form: str) -> None:
    found = icc(RATINGS, form)
    squares = mean_squares(RATINGS)
    observed = np.array([squares.between, squares.between_raters, squares.residual])

    assert found.method == "modified-large-sample"
    for end, side in ((found.low, 0), (found.high, 1)):
        r = end / (4 - 3 * end) if form == "2,k" else end
        # sigma_item^2 = (BMS - EMS) / 4, sigma_rater^2 = (JMS - EMS) / 6, sigma_e^2 = EMS
        contrast = np.array([(1 - r) / 4, -r / 6, r / 6 - r - (1 - r) / 4])
        ends = combination_interval(contrast, observed, np.array([5.0, 3.0, 15.0]), 0.95)
        assert ends[side] == pytest.approx(0, abs=1e-6)
