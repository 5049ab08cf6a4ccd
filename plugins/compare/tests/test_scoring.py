"""How verdicts score, and which cases are the same."""

import attrs
from jrh import RecordTable, Scale, ScaleKind, Task
from jrh_interchange import imported_record
from jrh_measuring.comparing.matching import match
from jrh_measuring.comparing.scoring import read_cases
from jrh_testing import loop_over, sample_report

LEVELS = Task(name="levels", scale=Scale.of_levels(1, 5))
YES_NO = Task(name="yes", scale=Scale(kind=ScaleKind.LABELS, labels=("YES", "NO")))


def verdict(label, *, task=LEVELS, item="1", judge="mini", **columns):
    return imported_record(task=task, item_id=item, judge=judge, label=label, **columns)


def report_of(task):
    sample = sample_report()
    return attrs.evolve(sample, tasks=(attrs.evolve(sample.tasks[0], task=task),))


def cases(*records, task=LEVELS):
    return read_cases(RecordTable.from_records(records), report_of(task))


def score(measure, *records, task=LEVELS):
    """Return the score of the last record's case."""
    return cases(*records, task=task)[-1].score(measure)


REFERENCE = [verdict("3", gold="4", repeat=0), verdict("2", gold="4", repeat=1)]


@loop_over(
    ("expectation", "label", "expected"),
    [
        ("same", "3", 0.5),
        ("same", "5", 0.0),
        ("changes", "3", 0.5),
        ("changes", "5", 1.0),
        ("not_above", "2", 1.0),
        ("not_above", "3", 0.5),
        ("not_above", "4", 0.0),
        ("not_below", "2", 0.5),
        ("not_below", "3", 1.0),
    ],
)
def test_a_verdict_is_held_against_each_reference_verdict(expectation, label, expected):
    changed = verdict(label, gold="4", test="t", expectation=expectation)
    assert score("expected", *REFERENCE, changed) == expected


def test_a_stated_label_needs_no_reference():
    stated = verdict("5", test="t", expectation="equals", expected="5")
    assert score("expected", stated) == 1.0
    assert score("distance", stated) == 0.0
    assert score("agreement", stated) is None, "there is no reference verdict to agree with"


def test_gold_counts_only_where_the_condition_keeps_it():
    assert score("gold", *REFERENCE) == 0.0
    assert score("gold", *REFERENCE, verdict("4", gold="4", test="t")) == 1.0
    assert score("gold", *REFERENCE, verdict("4", gold="4", test="t", expectation="changes")) is None


def test_distance_is_in_levels_and_only_for_ordered_scales():
    assert score("distance", *REFERENCE) == 1.5
    assert score("distance", verdict("YES", task=YES_NO, gold="NO"), task=YES_NO) is None


def test_a_missing_verdict_has_no_score_and_a_repeat_that_has_one_counts_alone():
    half = [verdict("4", gold="4"), verdict(None, gold="4", repeat=1)]
    (case,) = cases(*half)
    assert case.score("expected") == 1.0
    assert [trial.status for trial in case.trials] == ["ok", "unparsable"]
    assert score("expected", verdict(None, gold="4")) is None


def test_another_judges_reference_is_no_reference():
    table = RecordTable.from_records([*REFERENCE, verdict("3", judge="other", gold="4", test="t")])
    (case,) = read_cases(table.where(table.equals("judge", "other")), report_of(LEVELS))
    assert case.score("expected") is None


def both(first, second):
    return match(first, second, (sample_report(), sample_report()))


def test_cases_are_matched_by_id_then_by_place_and_only_where_that_is_plain():
    def asked(name, *items, variants=("",)):
        task = attrs.evolve(YES_NO, name=name)
        records = [verdict("YES", task=task, item=item, test="t", variant=each) for item in items for each in variants]
        return cases(*records, task=task)

    same, matching = both(asked("yes", "1", "2"), asked("yes", "2", "3"))
    assert [(case.item, other.item) for case, other in same] == [("2", "2")]
    assert (matching.by_id, matching.by_place) == (1, 0)
    assert (matching.only_first, matching.only_second) == ({"t": 1}, {"t": 1})
    placed, matching = both(asked("yes", "1", "2", variants=("a", "b")), asked("renamed", "2", variants=("b", "a")))
    assert [(case.item, case.variant, other.variant) for case, other in placed] == [("2", "a", "a"), ("2", "b", "b")]
    assert (matching.by_id, matching.by_place, matching.ambiguous) == (0, 2, 0)


def test_several_cases_of_one_place_are_matched_in_order_if_there_are_as_many():
    one = cases(verdict("YES", task=YES_NO, test="t"), task=YES_NO)[0]
    mine, theirs = ([attrs.evolve(one, id=f"{who}{number}") for number in range(3)] for who in "ab")
    matched, matching = both(mine, theirs)
    assert [(case.id, other.id) for case, other in matched] == [("a0", "b0"), ("a1", "b1"), ("a2", "b2")]
    matched, matching = both(mine, theirs[:2])
    assert (matched, matching.ambiguous) == ([], 3)


def test_cases_whose_gold_label_changed_are_left_out_and_counted():
    mine = cases(verdict("YES", task=YES_NO, gold="YES"), task=YES_NO)
    theirs = [attrs.evolve(mine[0], gold="NO")]
    matched, matching = both(mine, theirs)
    assert (matched, matching.gold_changed, matching.case_count) == ([], 1, 0)
    # A label that one side lacks has not changed: the verdicts can be compared.
    matched, matching = both(mine, [attrs.evolve(mine[0], gold=None)])
    assert (len(matched), matching.gold_changed) == (1, 0)
