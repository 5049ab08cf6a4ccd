import numpy as np
import pytest


def test_agreement_compares_canonical_labels_of_the_same_judge_and_item(measure, ref, row) -> None:
    rows = [
        *ref(1, "YES"), *ref(2, "NO"), *ref(3, "YES"),
        *ref(1, "NO", judge="other"), *ref(2, "NO", judge="other"), *ref(3, "NO", judge="other"),
        row(3, "NO"), row(1, "YES"), row(2, "NO"),
        row(1, "YES", judge="other"), row(2, "YES", judge="other"), row(3, "NO", judge="other"),
    ]  # fmt: skip
    found = measure("agreement", rows)

    assert found["judge", "t", ""].estimate == pytest.approx(2 / 3)
    assert found["other", "t", ""].estimate == pytest.approx(1 / 3)
    assert set(found) == {("judge", "t", ""), ("other", "t", "")}


def test_items_of_the_same_name_in_two_tasks_are_two_items(measure, ref, row) -> None:
    rows = [*ref(1, "YES"), *ref(1, "NO", task="second"), row(1, "YES"), row(1, "YES", task="second")]

    assert [m.estimate for m in measure("agreement", [r for r in rows if r.get("task") != "second"]).values()] == [1.0]
    assert [m.estimate for m in measure("agreement", [r for r in rows if r.get("task")]).values()] == [0.0]
    both = measure("agreement", rows)  # the second task's measure comes last
    assert both["judge", "t", ""].task == "second"
    assert both["judge", "t", ""].estimate == 0.0


def test_with_two_reference_repeats_a_trial_scores_the_share_it_equals(measure, ref, row) -> None:
    found = measure("agreement", [*ref(1, "YES", "YES"), *ref(2, "YES", "NO"), row(1, "YES"), row(2, "NO")])

    agreement = found["judge", "t", ""]
    assert agreement.estimate == 0.75
    assert (agreement.n_trials, agreement.n_items) == (2, 2)


def test_flip_rate_is_the_mirror_of_agreement(measure, ref, row) -> None:
    rows = [*ref(1, "YES"), *ref(2, "NO"), *ref(3, "NO"), row(1, "NO"), row(2, "NO"), row(3, None)]
    agreement = measure("agreement", rows)["judge", "t", ""]
    flips = measure("flip-rate", rows)["judge", "t", ""]

    assert flips.name == "flip-rate"
    assert flips.estimate == 1 - agreement.estimate == 0.5
    assert flips.interval.low == 1 - agreement.interval.high
    assert flips.interval.high == 1 - agreement.interval.low
    assert flips.bounds == pytest.approx((1 / 3, 2 / 3))
    assert flips.missing == agreement.missing == {"unparsable": 1}


def test_one_trial_per_item_has_wilsons_interval(measure, ref, row) -> None:
    from scipy.stats import binomtest

    rows = [r for i in range(20) for r in (*ref(i, "YES"), row(i, "NO" if i < 3 else "YES"))]
    expected = binomtest(17, 20).proportion_ci(method="exact")

    interval = measure("agreement", rows)["judge", "t", ""].interval

    assert interval.method == "clopper-pearson"
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_several_trials_that_say_the_same_count_as_one(measure, ref, row) -> None:
    from scipy.stats import binomtest

    variants = ("a", "b", "c", "d", "e")
    rows = [
        r
        for i in range(20)
        for r in (*ref(i, "YES"), *(row(i, "NO" if i < 6 else "YES", variant=variant) for variant in variants))
    ]
    naive = binomtest(70, 100).proportion_ci(method="exact")
    items = binomtest(14, 20).proportion_ci(method="exact")
    found = measure("agreement", rows)
    whole, variant = found["judge", "t", ""], found["judge", "t", "c"]

    assert whole.interval.method == "clopper-pearson-clusters"
    assert (whole.n_trials, whole.n_items) == (100, 20)
    assert whole.interval.high - whole.interval.low > 1.8 * (naive.high - naive.low)
    assert (whole.interval.low, whole.interval.high) == pytest.approx((items.low, items.high))
    assert variant.interval.method == "clopper-pearson"
    assert variant.cell == {"variant": "c"}


def test_several_trials_per_item_are_bootstrapped_by_item(measure, ref, row) -> None:
    from scipy.stats import binomtest

    rows = [
        r
        for i in range(20)
        for r in (*ref(i, "YES"), *(row(i, "NO" if i + k < 8 else "YES", variant="abcde"[k]) for k in range(5)))
    ]
    naive = binomtest(70, 100).proportion_ci(method="exact")
    whole = measure("agreement", rows)["judge", "t", ""]

    assert whole.estimate == pytest.approx(0.7)
    assert whole.interval.method == "korn-graubard"
    assert whole.interval.high - whole.interval.low > 1.8 * (naive.high - naive.low)


def test_missing_verdicts_are_counted_by_status_and_bound_the_rate(measure, ref, row) -> None:
    rows = [
        *ref(1, "YES"), *ref(2, "YES"), *ref(3, None), *ref(4, "NO"), *ref(5, "NO"),
        row(1, "YES"), row(2, None), row(3, "YES"), row(4, None, status="timeout"), row(5, "YES"),
    ]  # fmt: skip
    found = measure("agreement", rows)["judge", "t", ""]

    assert found.estimate == 0.5
    assert found.missing == {"timeout": 1, "unparsable": 1, "no_reference": 1}
    assert found.n_trials == 2
    assert found.bounds == (0.2, 0.8)


def test_bounds_count_a_reference_repeat_that_is_missing(measure, ref, row) -> None:
    found = measure("agreement", [*ref(1, "YES", None), row(1, "YES")])["judge", "t", ""]

    assert (found.estimate, found.missing) == (1.0, {})
    assert found.bounds == (0.5, 1.0)


def test_without_any_reference_there_is_no_estimate(measure, row) -> None:
    found = measure("agreement", [row(1, "YES"), row(2, "NO")])["judge", "t", ""]

    assert (found.estimate, found.interval, found.bounds) == (None, None, (0.0, 1.0))
    assert found.missing == {"no_reference": 2}
    assert found.flags == ("empty",), "there are verdicts, and nothing to compare them with"
    assert found.note == "no verdict of the reference condition to compare with"


def test_flags_tell_constant_verdicts_few_items_and_simulated_judges(measure, ref, row) -> None:
    rows = [*ref(1, "YES"), *ref(2, "NO"), row(1, "YES", simulated=True), row(2, "YES", simulated=True)]

    assert measure("agreement", rows)["judge", "t", ""].flags == ("constant-verdicts", "few-items", "simulated")
    enough = measure("agreement", rows, options={"few_items": 2})["judge", "t", ""]
    assert enough.flags == ("constant-verdicts", "simulated")


def test_where_the_expectation_is_agreement_accuracy_is_the_same_to_the_last_digit(measure, ref, row) -> None:
    generator = np.random.default_rng(0)
    rows = []
    for item in range(20):
        doubt = generator.random()
        rows += ref(item, "YES", "YES" if item % 3 else "NO")
        rows += [row(item, "YES" if generator.random() > doubt else "NO", variant=name) for name in "abc"]
    accuracy, agreement = (measure(name, rows)["judge", "t", ""] for name in ("as-expected", "agreement"))

    assert agreement.interval.method == "korn-graubard"
    assert (accuracy.estimate, accuracy.interval) == (agreement.estimate, agreement.interval)


@pytest.mark.parametrize("metric", ["agreement", "flip-rate", "self-kappa"])
def test_where_a_change_is_due_agreeing_is_flagged_as_no_merit(measure, ref, row, metric) -> None:
    due = [row(item, "YES", expectation="equals", expected="NO", test="flip") for item in (1, 2)]
    same = [row(item, "YES", expectation="same", test="format") for item in (1, 2)]
    found = measure(metric, [*ref(1, "YES", "NO"), *ref(2, "NO", "YES"), *due, *same])
    assert "change-due" in found["judge", "flip", ""].flags
    assert "change-due" not in found["judge", "format", ""].flags
