"""Paired statistics, the frontier, and the words for both."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from jrh import RecordTable, Scale, ScaleKind, Task
from jrh_compare.document import difference, number
from jrh_interchange import imported_record
from jrh_measuring.comparing.cost_curve import on_frontier
from jrh_measuring.comparing.flips import flips
from jrh_measuring.comparing.matching import match
from jrh_measuring.comparing.pairing import Terms, decide, rows
from jrh_measuring.comparing.results import Answer, Within
from jrh_measuring.comparing.scoring import read_cases
from jrh_testing import loop_over, sample_report

TASK = Task(name="yes", scale=Scale(kind=ScaleKind.LABELS, labels=("YES", "NO")))
SAMPLE = sample_report()
REPORT = evolve(SAMPLE, tasks=(evolve(SAMPLE.tasks[0], task=TASK),), tests=("reference",))


def answered(right):
    """Return the cases of a judge, one item per entry: right where it is true, without a verdict where it is None."""
    records = [
        imported_record(
            task=TASK,
            item_id=str(place),
            judge="mini",
            gold="YES",
            label=None if each is None else "YES" if each else "NO",
        )
        for place, each in enumerate(right)
    ]
    return read_cases(RecordTable.from_records(records), REPORT)


def compared(before, after, margin=None):
    matched, _ = match(answered(before), answered(after), (REPORT, REPORT))
    terms = Terms(level=0.95, margin=margin)
    (found,), _ = decide([tuple(rows(matched, (REPORT, REPORT), terms))], 0.95)
    return {row.measure: row for row in found}["expected"]


@pytest.mark.slow
def test_the_interval_covers_the_planted_difference_as_often_as_it_says():
    covered, shown = 0, 0
    for seed in range(120):
        generator = np.random.default_rng(seed)
        before, after = generator.random(60) < 0.9, generator.random(60) < 0.75
        row = compared(before, after)
        covered += row.low <= -0.15 <= row.high
        shown += row.answer is Answer.WORSE
        assert row.answer is not Answer.BETTER
    assert covered >= 108, "95 % of 120 are 114; 108 is less likely than 1 %"
    assert shown >= 40


@pytest.mark.slow
def test_judges_of_equal_accuracy_are_rarely_called_different():
    alarms = 0
    for seed in range(120):
        generator = np.random.default_rng(1000 + seed)
        row = compared(generator.random(60) < 0.8, generator.random(60) < 0.8)
        alarms += row.answer in (Answer.BETTER, Answer.WORSE)
    assert alarms <= 12, "the exact test raises at most 5 % false alarms: 12 of 120 are less likely than 2 %"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
@pytest.mark.slow
def test_swapping_the_sides_swaps_the_signs_and_nothing_else(pairs):
    before, after = zip(*pairs, strict=True)
    one, other = compared(before, after), compared(after, before)
    assert one.difference == pytest.approx(-other.difference)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert (one.p, one.better, one.worse) == (other.p, other.worse, other.better)
    assert one.low <= one.difference <= one.high


def test_few_events_do_not_hide_a_difference_far_beyond_the_margin():
    """A side that never varies flags the interval: the exact test that decides 0 then decides the margin as well."""
    before = [True] * 30
    assert compared(before, [True] * 14 + [False] * 16, margin=0.02).equivalence is Within.DIFFERENT
    # Shown to differ from 0, and not from the margin.
    near = compared(before, [True] * 22 + [False] * 8, margin=0.2)
    assert (near.answer, near.equivalence) == (Answer.WORSE, Within.UNDECIDED)


@given(st.lists(st.booleans(), min_size=2, max_size=30))
@pytest.mark.slow
def test_a_judge_compared_with_itself_is_identical_and_flips_nothing(right):
    row = compared(right, right, margin=0.9)
    assert (row.difference, row.p, row.answer) == (0.0, 1.0, Answer.IDENTICAL)
    matched, _ = match(answered(right), answered(right), (REPORT, REPORT))
    assert flips(matched, 10) == ((), {"worse": 0, "moved": 0, "better": 0})


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.integers(0, 5))
def test_flips_are_all_counted_and_as_many_listed_as_asked_for(pairs, most):
    before, after = zip(*pairs, strict=True)
    matched, _ = match(answered(before), answered(after), (REPORT, REPORT))
    listed, counts = flips(matched, most)
    assert counts["worse"] == sum(one and not two for one, two in pairs)
    assert counts["better"] == sum(two and not one for one, two in pairs)
    assert len(listed) == min(most, counts["worse"] + counts["better"])


SHARES = st.integers(0, 5).map(lambda value: value / 5)


@given(st.lists(st.tuples(st.none() | SHARES, st.none() | SHARES), min_size=1, max_size=8))
def test_the_frontier_holds_whom_nobody_beats_and_beats_everybody_else(sides):
    marks = [on_frontier(side, sides) for side in sides]
    assert [mark is None for mark in marks] == [None in side for side in sides]
    best = [side for side, mark in zip(sides, marks, strict=True) if mark]
    placed = [side for side in sides if None not in side]
    assert bool(best) == bool(placed)
    for cost, accuracy in placed:
        beaten = any(c <= cost and a >= accuracy and (c, a) != (cost, accuracy) for c, a in best)
        assert beaten != ((cost, accuracy) in best)


@loop_over(("value", "text"), [(None, "-"), (0.0, "0.000"), (0.0001, "<0.001"), (0.9999, ">0.999"), (1.0, "1.000")])
def test_a_share_is_never_rounded_to_none_or_all(value, text):
    assert number(value) == text


@loop_over(
    ("value", "low", "high", "text"),
    [
        (0.0, None, None, "0.000"),
        (-0.0, -0.25, 0.25, "0.000 [-0.250, 0.250]"),
        (0.0001, 0.0, 0.25, "+0.0001 [0.000, 0.250]"),
        (-0.0001, -0.25, -0.0001, "-0.0001 [-0.250, -0.0001]"),
        (0.25, 0.125, 1.0, "+0.250 [0.125, 1.000]"),
        (0.9999, 0.5, 1.5, "+1.000 [0.500, 1.500]"),
    ],
)
def test_a_difference_has_its_sign_and_is_never_rounded_to_none(value, low, high, text):
    assert difference(value, low, high) == text


def test_scales_of_different_lengths_are_compared_on_the_longer_one():
    def side(top):
        task = Task(name="levels", scale=Scale.of_levels(1, top))
        report = evolve(SAMPLE, tasks=(evolve(SAMPLE.tasks[0], task=task),), tests=("reference",))
        labels = [("1", "1"), ("1", "2"), ("1", str(top))]
        records = [
            imported_record(task=task, item_id=str(place), judge="mini", gold=gold, label=label)
            for place, (gold, label) in enumerate(labels)
        ]
        return read_cases(RecordTable.from_records(records), report), report

    (short, first), (long, second) = side(3), side(9)
    matched, _ = match(short, long, (first, second))
    found = [each.row for each in rows(matched, (first, second), Terms(level=0.95, margin=None))]
    error = next(row for row in found if row.unit == "levels")
    assert error.difference == 2.0
    assert error.low <= 2.0 <= error.high


def pair_of(before, after, margin=None):
    matched, _ = match(answered(before), answered(after), (REPORT, REPORT))
    return tuple(rows(matched, (REPORT, REPORT), Terms(level=0.95, margin=margin)))


def expected_of(*pairs):
    """Return the rows of what is expected, of all pairs of one comparison, and their family."""
    found, family = decide(pairs, 0.95)
    return [next(row for row in each if row.measure == "expected") for each in found], family


def test_all_pairs_of_a_comparison_are_one_family():
    """Eight judges against one: 7 items lost of 60 are p = 0.016 alone, and nothing among eight."""
    before, after = np.ones(60), np.arange(60) >= 7
    (alone,), _ = expected_of(pair_of(before, after))
    assert alone.answer is Answer.WORSE
    others = [(np.arange(60) % 30 != 0, np.arange(60) % 10 != number) for number in range(7)]
    among, family = expected_of(pair_of(before, after), *(pair_of(*each) for each in others))
    assert among[0].p == alone.p
    assert among[0].answer is Answer.NOT_SHOWN
    assert family.tests == 8


def test_a_difference_that_no_verdict_could_show_takes_nothing_from_the_others_and_is_counted():
    """As in reports (Tarone): copies of the first version do not hide that the last one is worse."""
    before, after = np.ones(60), np.arange(60) >= 7
    among, family = expected_of(pair_of(before, after), *[pair_of(before, before)] * 7)
    assert among[0].answer is Answer.WORSE
    assert {row.answer for row in among[1:]} == {Answer.IDENTICAL}
    assert family.tests == 8


def test_equivalence_is_corrected_over_the_comparison():
    """Benjamini and Hochberg: 60 items without a change are equivalent within 0.05 in every pair, or in none."""
    still, moved = np.ones(60), np.arange(60) >= 12
    alike, family = expected_of(*[pair_of(still, still, margin=0.05)] * 3)
    assert [row.equivalence for row in alike] == [Within.EQUIVALENT] * 3
    assert len(family.equivalences) == 3
    lone, _ = expected_of(pair_of(still, still, margin=0.05), *[pair_of(still, moved, margin=0.05)] * 2)
    assert [row.equivalence for row in lone] == [Within.UNDECIDED, Within.DIFFERENT, Within.DIFFERENT]


def test_verdicts_do_not_choose_the_hypotheses():
    """Permuted, or missing throughout: the same hypotheses, so that what is tested never follows what was found."""
    generator = np.random.default_rng(1)
    right = generator.random(40) < 0.8
    families = [
        expected_of(pair_of(right, after, margin=0.1))[1]
        for after in (right, generator.permutation(right), np.full(40, None))
    ]
    assert len({(frozenset(family.p), frozenset(family.equivalences)) for family in families}) == 1
    assert families[2].p["jrh-compare", (0, "yes", "reference", "expected", "difference")] == 1.0
