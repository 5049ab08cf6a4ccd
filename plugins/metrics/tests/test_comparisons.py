import numpy as np
import pytest
from jrh_stats import holm


def _named(measures, name):
    return [m for m in measures if m.name == name]


def test_judges_are_compared_on_the_same_items_by_mcnemar(measures, ref) -> None:
    from scipy.stats import binom
    from statsmodels.stats.contingency_tables import mcnemar

    right = {"a": [1] * 12 + [0] * 3 + [1] * 10, "b": [0] * 12 + [1] * 3 + [1] * 10}
    rows = [
        r
        for judge, hits in right.items()
        for item, hit in enumerate(hits)
        for r in ref(item, "YES" if hit else "NO", gold="YES", judge=judge)
    ]
    found = measures("judge-comparison", rows)
    (difference,), (p,) = _named(found, "accuracy-difference"), _named(found, "accuracy-difference-p")

    assert (difference.judge, difference.cell) == ("a", {"against": "b"})
    assert difference.estimate == pytest.approx(9 / 25)
    assert difference.interval.low < 9 / 25 < difference.interval.high
    assert p.estimate == pytest.approx(mcnemar([[0, 12], [3, 0]], exact=True).pvalue - binom.pmf(3, 15, 0.5))  # mid-p
    assert (p.unit, p.n_trials, p.n_items) == ("p-value", 50, 25)


def test_only_questions_that_both_judges_answered_count(measures, ref) -> None:
    rows = [
        *ref(1, "YES", gold="YES", judge="a"), *ref(1, None, gold="YES", judge="b"),
        *ref(2, "YES", gold="YES", judge="a"), *ref(2, "NO", gold="YES", judge="b"),
        *ref(3, "NO", gold="YES", judge="a"),
    ]  # fmt: skip
    (difference,) = _named(measures("judge-comparison", rows), "accuracy-difference")

    assert (difference.estimate, difference.n_trials, difference.missing) == (1.0, 2, {"unparsable": 1})


def test_three_judges_are_three_pairs_adjusted_as_one_family(measures, ref) -> None:
    generator = np.random.default_rng(3)
    rows = [
        r
        for judge, skill in zip("abc", (0.9, 0.6, 0.5), strict=True)
        for item in range(40)
        for r in ref(item, "YES" if generator.random() < skill else "NO", gold="YES", judge=judge)
    ]
    found = measures("judge-comparison", rows)
    plain, adjusted = ([m.estimate for m in _named(found, f"accuracy-difference-{name}")] for name in ("p", "p-holm"))

    assert len(plain) == 3
    assert adjusted == pytest.approx(holm(plain).tolist())


def test_one_judge_alone_is_compared_with_nobody(measures, ref) -> None:
    assert measures("judge-comparison", ref(1, "YES", gold="YES")) == []


def test_the_change_of_accuracy_is_paired_by_item(measures, ref, row) -> None:
    rows = []
    for item in range(20):
        rows += ref(item, "YES", "YES" if item % 2 else "NO", gold="YES")  # half a point on even items
        rows.append(row(item, "YES" if item < 15 else "NO", gold="YES"))
    found = measures("accuracy-change", rows)
    (change,), (p,) = _named(found, "accuracy-change"), _named(found, "accuracy-change-p")

    assert change.estimate == pytest.approx(15 / 20 - 15 / 20)
    assert p.estimate > 0.9
    assert (change.unit, change.n_trials, change.n_items) == ("difference", 20, 20)


def test_a_change_everywhere_has_the_p_value_of_what_unseen_items_could_change(measures, ref, row) -> None:
    from scipy.stats import norm

    rows = [r for item in range(10) for r in (*ref(item, "YES", gold="YES"), row(item, "NO", gold="YES"))]
    found = measures("accuracy-change", rows)
    (change,), (p,) = _named(found, "accuracy-change"), _named(found, "accuracy-change-p")

    assert (change.estimate, change.interval.low) == (-1.0, -1.0)
    # Larger than the mid-p of the sign test, 2 / 2^10 / 2: Wilson's upper end for 0 of 10 is 1/2 at z^2 = 10.
    assert p.estimate == pytest.approx(2 * norm.sf(10**0.5))


@pytest.mark.parametrize(("flipped", "answer"), [(0, "equivalent"), (1, "undecided"), (8, "different")])
def test_equivalence_gives_three_answers(measures, ref, row, flipped, answer) -> None:
    rows = []
    for item in range(100):
        rows += [*ref(item, "YES", gold="YES"), row(item, "NO" if item % 10 < flipped else "YES", gold="YES")]
    found, p = measures("accuracy-equivalence", rows, options={"margin": 0.1})
    assert (p.name, p.estimate < 0.05) == ("accuracy-equivalence-p", answer == "equivalent")

    assert found.flags[0] == answer
    assert found.interval.level == pytest.approx(0.9)
    assert found.note.startswith("margin 0.1")


def test_missing_verdicts_that_follow_the_test_are_found(measures, ref, row) -> None:
    rows = [r for item in range(30) for r in (*ref(item, "YES"), row(item, None if item < 15 else "YES"))]
    (found,) = measures("missing-by-condition", rows)

    assert found.estimate == pytest.approx(1.075e-4, rel=0.01)  # Cochran's Q is 15, one degree of freedom
    assert (found.test, found.unit, found.n_items) == ("", "p-value", 30)


def test_judges_that_agree_have_the_coefficients_of_the_stats_functions(measures, ref) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    votes = ["YYY", "YYN", "NNN", "NNN", "YNN", "YYY", "NNN", "YYY"]
    rows = [
        r
        for item, vote in enumerate(votes)
        for judge, letter in zip("abc", vote, strict=True)
        for r in ref(item, "YES" if letter == "Y" else "NO", judge=judge)
    ]
    counts = np.array([[vote.count("Y"), vote.count("N")] for vote in votes])
    found = {m.name: m for m in measures("judge-agreement", rows)}

    alpha = found["krippendorff-alpha"]
    assert alpha.estimate == pytest.approx(1 - (1 - fleiss_kappa(counts)) * 23 / 24)
    assert alpha.judge == ""
    assert (alpha.n_trials, alpha.n_items) == (24, 8)


def test_one_judge_agrees_with_nobody(measures, ref) -> None:
    for found in measures("judge-agreement", [r for item in range(5) for r in ref(item, "YES")]):
        assert (found.estimate, found.note) == (None, "one judge only: agreement needs two")


@pytest.mark.parametrize("metric", ["accuracy-change", "noise-excess"])
def test_the_interval_excludes_0_exactly_where_the_p_value_is_below_5_percent(metric, measures, ref, row) -> None:
    generator, rejected = np.random.default_rng(31), []
    for _ in range(25):
        wrong = generator.random((40, 4)) < np.array([0.1, 0.1, 0.1, 0.25])
        rows = []
        for item, (*before, after) in enumerate(wrong):
            rows += ref(item, *("NO" if each else "YES" for each in before), gold="YES")
            rows.append(row(item, "NO" if after else "YES", gold="YES"))
        found = measures(metric, rows)
        name = "excess-disagreement" if metric == "noise-excess" else metric
        (change,), (p,) = _named(found, name), _named(found, f"{name}-p")
        rejected.append(p.estimate < 0.05)
        assert (change.interval.low > 0 or change.interval.high < 0) == rejected[-1]
    assert 0 < sum(rejected) < 25


def test_a_reference_asked_ten_times_is_no_change_of_accuracy(measures, ref, row) -> None:
    """A judge that is right in 97% everywhere; sign flips of its items' differences reject in 16% of studies."""
    from scipy.stats import binom

    generator, rejected, studies = np.random.default_rng(32), 0, 120
    for _ in range(studies):
        wrong = generator.random((60, 11)) < 0.03
        rows = []
        for item, (*before, after) in enumerate(wrong):
            rows += ref(item, *("NO" if each else "YES" for each in before), gold="YES")
            rows.append(row(item, "NO" if after else "YES", gold="YES"))
        (p,) = _named(measures("accuracy-change", rows, options={}), "accuracy-change-p")
        rejected += p.estimate < 0.05
    assert rejected <= binom.ppf(0.999, studies, 0.05)
