import pytest
from jrh import Scale

LEVELS = Scale.of_levels(1, 6)


def test_the_reference_condition_is_compared_with_gold(measure, ref) -> None:
    rows = [*ref(1, "YES", "NO", gold="YES"), *ref(2, "NO", "NO", gold="NO"), *ref(3, "YES", gold=None)]
    found = measure("as-expected", rows)["judge", "reference", ""]

    assert (found.estimate, found.n_trials, found.n_items) == (0.75, 4, 2)
    assert found.missing == {}


def test_a_stated_label_is_what_counts_and_not_gold(measure, ref, row) -> None:
    rows = [
        *ref(1, "YES", gold="YES"),
        row(1, "NO", gold="YES", expectation="equals", expected="NO", variant="flipped"),
        row(1, "YES", gold="YES", expectation="equals", expected="NO", variant="kept"),
    ]
    found = measure("as-expected", rows)

    assert found["judge", "t", "flipped"].estimate == 1.0
    assert found["judge", "t", "kept"].estimate == 0.0


@pytest.mark.parametrize(
    ("expectation", "answers"),
    [
        ("same", {"2": 0.0, "3": 1.0, "4": 0.0}),
        ("changes", {"2": 1.0, "3": 0.0, "4": 1.0}),
        ("not_above", {"2": 1.0, "3": 1.0, "4": 0.0}),
        ("not_below", {"2": 0.0, "3": 1.0, "4": 1.0}),
    ],
)
def test_directional_expectations_compare_with_the_reference_verdict(measure, ref, row, expectation, answers) -> None:
    for answer, score in answers.items():
        rows = [*ref(1, "3", gold="6"), row(1, answer, gold="6", expectation=expectation)]

        assert measure("as-expected", rows, scale=LEVELS)["judge", "t", ""].estimate == score


def test_directions_follow_the_scale_and_not_the_alphabet(measure, ref, row) -> None:
    rows = [*ref(1, "9"), row(1, "10", expectation="not_above")]

    assert measure("as-expected", rows, scale=Scale.of_levels(1, 10))["judge", "t", ""].estimate == 0.0


def test_a_direction_counts_every_reference_repeat(measure, ref, row) -> None:
    rows = [*ref(1, "2", "4"), row(1, "3", expectation="not_above")]

    assert measure("as-expected", rows, scale=LEVELS)["judge", "t", ""].estimate == 0.5


def test_a_direction_on_a_scale_without_order_is_not_estimated(measure, ref, row) -> None:
    found = measure("as-expected", [*ref(1, "YES"), row(1, "NO", expectation="not_above")])["judge", "t", ""]

    assert (found.estimate, found.n_trials, found.missing) == (None, 0, {})
    assert found.note == "no trial has a gold label or another expectation"


def test_stated_and_relative_expectations_mix_in_one_test_with_equal_weight(measure, ref, row) -> None:
    rows = [
        *ref(1, "YES", "YES"),
        row(1, "YES", variant="a"),
        row(1, "YES", variant="b", expectation="equals", expected="NO"),
    ]

    assert measure("as-expected", rows)["judge", "t", ""].estimate == 0.5


def test_gold_that_is_always_the_same_is_flagged(measure, ref) -> None:
    """As in JudgeSense's relevance file, where every gold label is A: a judge that always says A looks perfect."""
    constant = [r for i in range(12) for r in ref(i, "YES", gold="YES")]
    balanced = [r for i in range(30) for r in ref(i, "YES", gold="YES" if i % 2 else "NO")]

    assert measure("as-expected", constant)["judge", "reference", ""].flags == ("constant-gold", "constant-verdicts")
    assert measure("as-expected", balanced)["judge", "reference", ""].flags == ("constant-verdicts",)  # half are wrong


def test_a_missing_verdict_is_neither_right_nor_wrong(measure, ref) -> None:
    rows = [*ref(1, "YES", gold="YES"), *ref(2, None, gold="NO"), *ref(3, "YES", gold="NO")]
    found = measure("as-expected", rows)["judge", "reference", ""]

    assert (found.estimate, found.n_trials, found.missing) == (0.5, 2, {"unparsable": 1})
    assert found.bounds == pytest.approx((1 / 3, 2 / 3))


def test_a_reply_without_a_canonical_label_is_off_scale(measure, ref) -> None:
    rows = [*ref(1, "YES", gold="YES"), *ref(2, "YES", gold="NO", canonical=None)]

    assert measure("as-expected", rows)["judge", "reference", ""].missing == {"off_scale": 1}


def test_gold_accuracy_leaves_out_cases_whose_gold_label_no_longer_holds(measure, ref, row) -> None:
    rows = [
        *ref(1, "YES", gold="YES"),
        row(1, "NO", gold="YES", variant="kept"),
        row(1, "NO", gold="YES", expectation="equals", expected="NO", variant="flipped"),
        row(1, "NO", gold="YES", expectation="changes", variant="moved"),
    ]
    found = measure("gold-accuracy", rows)

    assert found["judge", "reference", ""].estimate == 1.0
    assert (found["judge", "t", ""].estimate, found["judge", "t", ""].n_trials) == (0.0, 1)
    assert found["judge", "t", "flipped"].estimate is None
    assert found["judge", "t", "moved"].estimate is None


def test_a_judge_can_agree_with_itself_and_still_be_wrong(measure, ref, row) -> None:
    rows = [*ref(1, "NO", gold="YES"), row(1, "NO", gold="YES")]

    assert measure("as-expected", rows)["judge", "t", ""].estimate == 1.0
    assert measure("gold-accuracy", rows)["judge", "t", ""].estimate == 0.0


def test_unlabelled_data_have_no_accuracy(measure, ref) -> None:
    found = measure("as-expected", ref(1, "YES"))["judge", "reference", ""]

    assert (found.estimate, found.bounds, found.flags) == (None, None, ())
