import pytest
from jrh import RecordTable


def test_two_repeats_per_item_are_one_pair_each(measure, ref) -> None:
    from scipy.stats import binomtest

    rows = [r for i in range(10) for r in ref(i, "YES", "NO" if i < 2 else "YES")]
    expected = binomtest(2, 10).proportion_ci(method="exact")
    found = measure("rerun-disagreement", rows)["judge", "reference", ""]

    assert (found.estimate, found.n_trials, found.n_items) == (0.2, 20, 10)
    assert found.interval.method == "clopper-pearson"
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


def test_all_unordered_pairs_count(measure, row) -> None:
    answers = ["YES", "YES", "YES", "NO", "NO"]
    rows = [row(1, label, test="stochastic", repeat=n) for n, label in enumerate(answers)]

    assert measure("rerun-disagreement", rows)["judge", "stochastic", ""].estimate == 0.6


def test_repeats_are_never_paired_across_cases_or_judges(measure, row) -> None:
    rows = [
        row(1, label, test="s", variant=variant, judge=judge, repeat=n)
        for variant, judge, label in [("hot", "a", "YES"), ("cold", "a", "NO"), ("hot", "b", "NO")]
        for n in range(2)
    ]
    found = measure("rerun-disagreement", rows)

    assert {key: m.estimate for key, m in found.items()} == {
        ("a", "s", ""): 0.0, ("a", "s", "cold"): 0.0, ("a", "s", "hot"): 0.0,
        ("b", "s", ""): 0.0,
    }  # fmt: skip


def test_tests_that_ask_once_have_no_noise_floor_of_their_own(measure, ref, row) -> None:
    found = measure("rerun-disagreement", [*ref(1, "YES"), row(1, "YES")])

    assert set(found) == {("judge", "reference", "")}
    assert found["judge", "reference", ""].estimate is None
    assert found["judge", "reference", ""].note == "no case was repeated"


def test_a_missing_repeat_takes_its_pairs_away_and_widens_the_bounds(measure, ref) -> None:
    rows = [*ref(1, "YES", "NO"), *ref(2, "YES", None), *ref(3, "NO", "NO"), *ref(4, None, None)]
    found = measure("rerun-disagreement", rows)["judge", "reference", ""]

    assert (found.estimate, found.n_trials, found.n_items) == (0.5, 4, 2)
    assert found.missing == {"unparsable": 3}
    assert found.bounds == (0.25, 0.75)


def test_a_table_without_case_ids_is_grouped_by_condition(measure) -> None:
    table = RecordTable.from_columns(
        {
            "task": ["task"] * 4,
            "judge": ["judge"] * 4,
            "test": ["reference"] * 4,
            "item_id": ["1", "1", "2", "2"],
            "status": ["ok"] * 4,
            "canonical": ["YES", "NO", "NO", "NO"],
        }
    )

    assert measure("rerun-disagreement", table)["judge", "reference", ""].estimate == 0.5
