"""Which measures a rule is about."""

import attrs
import pytest
from gate_findings import measured
from jrh import RecordTable, SuiteError
from jrh_measuring import Look, parse_rule
from jrh_measuring.gating.deciding import Outcome
from jrh_measuring.gating.rule_limits import LimitTable
from jrh_measuring.gating.selecting import decisions
from jrh_measuring.gating.selecting import places as shared_places
from jrh_testing import sample_records, sample_report


@pytest.fixture
def report():
    whole = sample_report()
    task = whole.tasks[0].task.name
    measures = [
        measured(0.9, 0.95, judge=judge, task=task, test=test)
        for judge in whole.judges
        for test in ("reference", "format")
    ]
    part = measured(0.1, 0.2, judge="careful", task=task, test="format", cell={"variant": "crlf"})
    together = measured(0.5, 0.6, name="krippendorff-alpha", judge="", task=task)
    return attrs.evolve(whole, measures=(*measures, part, together))


def places(report, *rules, complete=True):
    wanted = [parse_rule(rule) for rule in rules]
    table = LimitTable.of(0.95, Look(), range(1, 9), lambda rates: dict.fromkeys(rates, report.measures))
    found = decisions(wanted, report, table, complete=complete)
    return [(each.place.judge, each.place.test, each.outcome.value) for each in found]


def test_a_rule_without_judge_and_test_is_about_each_judge_in_the_reference_condition(report):
    assert places(report, "as-expected >= 0.5") == [
        ("careful", "reference", "holds"),
        ("careless", "reference", "holds"),
    ]


def test_a_rule_about_every_test_is_not_about_parts(report):
    assert places(report, "as-expected[*] >= 0.5") == [
        ("careful", "reference", "holds"),
        ("careful", "format", "holds"),
        ("careless", "reference", "holds"),
        ("careless", "format", "holds"),
    ]
    assert places(report, "as-expected[*, judge=careful] >= 0.5") == places(report, "as-expected[*] >= 0.5")[:2]


def test_a_rule_without_a_test_about_a_measure_that_is_not_of_the_reference_is_about_every_test(report):
    task = report.tasks[0].task.name
    flips = [measured(0.1, 0.2, name="flip-rate", judge=judge, task=task, test="format") for judge in report.judges]
    compared = attrs.evolve(report, measures=(*report.measures, *flips))
    assert [place[:2] for place in places(compared, "flip-rate <= 0.5")] == [
        ("careful", "format"),
        ("careless", "format"),
    ]


def test_selectors_narrow_a_rule(report):
    assert places(report, "as-expected[format, judge=careless] >= 0.5") == [("careless", "format", "holds")]
    assert places(report, "as-expected[variant=crlf] >= 0.5") == [("careful", "format", "fails")]
    assert places(report, "krippendorff-alpha >= 0.5") == [("", "format", "holds")]


def test_a_rule_that_stands_twice_counts_once(report):
    assert len(places(report, "as-expected[reference] >= 0.5", "as-expected[reference] >= 0.5")) == 2


def test_a_judge_that_was_asked_and_has_no_such_measure_is_undecided(report):
    fewer = attrs.evolve(report, measures=tuple(each for each in report.measures if each.judge == "careful"))
    assert places(fewer, "as-expected[reference] >= 0.5") == [
        ("careful", "reference", "holds"),
        ("careless", "reference", "undecided"),
    ]


def test_what_was_asked_and_not_what_was_answered_decides_how_many_places_share_the_error_rate(report):
    rule = parse_rule("as-expected[reference] >= 0.5")
    fewer = attrs.evolve(report, measures=tuple(each for each in report.measures if each.judge == "careful"))
    assert shared_places(rule, report) == shared_places(rule, fewer) == 2


def test_all_mistakes_of_all_rules_are_told_at_once(report):
    with pytest.raises(SuiteError) as raised:
        places(report, "as-expectd >= 0.5", "as-expected[judge=careles] >= 0.5")
    assert [str(problem).splitlines()[1].split("?")[0] for problem in raised.value.problems] == [
        "Did you mean 'as-expected'",
        "Did you mean 'careless'",
    ]


def test_of_a_run_that_was_stopped_nothing_is_a_mistake_that_may_still_come(report):
    stopped = attrs.evolve(report, measures=(), records=RecordTable.from_records(sample_records()[:0]))
    assert places(stopped, "as-expected >= 0.5", complete=False) == [("", "", Outcome.UNDECIDED.value)]


def test_a_rule_about_every_test_leaves_out_where_the_measure_is_no_merit(report):
    task = report.tasks[0].task.name
    flagged = measured(0.1, 0.2, judge="careful", task=task, test="label-flip", flags=("change-due",))
    planted = attrs.evolve(report, tests=(*report.tests, "label-flip"), measures=(*report.measures, flagged))
    assert ("careful", "label-flip", "fails") not in places(planted, "as-expected[*] >= 0.5")
    assert ("careful", "label-flip", "fails") in places(planted, "as-expected[label-flip] >= 0.5")


def test_a_rule_about_every_test_leaves_out_where_no_trial_could_count(report):
    task = report.tasks[0].task.name
    empty = attrs.evolve(
        measured(0.1, 0.2, judge="careful", task=task, test="label-flip"), estimate=None, interval=None, n_trials=0
    )
    planted = attrs.evolve(report, tests=(*report.tests, "label-flip"), measures=(*report.measures, empty))
    lost = attrs.evolve(planted, measures=(*report.measures, attrs.evolve(empty, missing={"refused": 3})))
    undecided = ("careful", "label-flip", Outcome.UNDECIDED.value)
    assert undecided not in places(planted, "as-expected[*] >= 0.5")
    assert undecided in places(planted, "as-expected[label-flip] >= 0.5")
    assert undecided in places(lost, "as-expected[*] >= 0.5")
    alone = attrs.evolve(planted, measures=(empty,))
    assert undecided in places(alone, "as-expected >= 0.5")
