"""The rule language: what a rule says, and where one goes wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import JrhError
from jrh.plugins.specs import MeasureInfo
from jrh_measuring import parse_rule
from jrh_measuring.gate_rules import Operator, mistakes_of_rule
from jrh_testing import loop_over

KNOWN = {"test": ("reference", "format"), "judge": ["mini"], "task": ["trial"]}


def test_a_rule_is_taken_apart():
    rule = parse_rule(' as-expected [ label-flip , judge = "a, \\"b\\"" , task=t, variant=two words ] >= 90 % ')
    assert (rule.measure, rule.test, rule.judge, rule.task) == ("as-expected", "label-flip", 'a, "b"', "t")
    assert rule.cell == {"variant": "two words"}
    assert (rule.operator, rule.threshold) == (Operator.AT_LEAST, 0.9)
    assert (rule.text[:13], rule.text[-1]) == ("as-expected [", "%")


@loop_over(
    ("written", "threshold"), [("0.9", 0.9), (".9", 0.9), ("-1.5e-1", -0.15), ("+2", 2.0), ("5%", 0.05), ("1.", 1.0)]
)
def test_a_threshold_is_a_number_or_a_percentage(written, threshold):
    assert parse_rule(f"bias<{written}").threshold == pytest.approx(threshold, abs=0)


def test_test_and_its_key_are_the_same():
    assert parse_rule("a[test=x] > 1").test == parse_rule("a[x] > 1").test == "x"


def test_a_star_is_every_test_and_no_test_is_named():
    assert (parse_rule("a[*] > 1").test, parse_rule("a[*] > 1").named_test) == ("*", None)
    assert (parse_rule("a > 1").test, parse_rule("a > 1").named_test) == (None, None)
    assert parse_rule("a[x] > 1").named_test == "x"


@loop_over(
    ("rule", "told"),
    [
        ("", "character 1: expected the name of a measure; the rule ends there"),
        ("as-expected", "character 12: expected one of >=, <=, >, <; the rule ends there"),
        ("as-expected = 1", "character 13: expected one of >=, <=, >, <; got '= 1'"),
        ("as-expected(x) > 1", "character 12: expected one of >=, <=, >, <; got '(x) > 1'"),
        ("a[x > 1", "character 5: expected `,` or `]`; got '> 1'"),
        ("a[] > 1", "character 3: expected a test, or a selector such as `judge=NAME`; got '] > 1'"),
        ("a[judge=] > 1", "character 9: expected the judge that is meant; got '] > 1'"),
        ("a[x, test=y] > 1", "character 6: the test is given twice; got 'test=y] > 1'"),
        ("a >= high", "character 6: expected a number or a percentage, such as 0.9 or 90%; got 'high'"),
        ("a >= 1e999", "character 6: expected a number"),
        ("a >= 0.9 or b", "character 10: expected the end of the rule; got 'or b'"),
    ],
)
def test_a_mistake_is_told_with_the_character_it_stands_at(rule, told):
    with pytest.raises(JrhError) as raised:
        parse_rule(rule)
    assert told in str(raised.value)
    assert list(mistakes_of_rule(rule, KNOWN)) == [str(raised.value)]


@given(st.text(max_size=40))
def test_any_text_is_a_rule_or_a_mistake(text):
    try:
        rule = parse_rule(text)
    except JrhError:
        return
    assert parse_rule(rule.text) == rule


def test_a_measure_that_no_metric_has_is_a_mistake_where_all_measures_are_known():
    measures = [MeasureInfo(name="jss", formula="s", tested=True), MeasureInfo(name="sway-*", formula="s")]
    for measure in ("jss", "jss-p", "sway-a"):
        assert list(mistakes_of_rule(f"{measure} >= 0.9", KNOWN, measures=measures)) == []
    assert list(mistakes_of_rule("jsss >= 0.9", KNOWN, measures=measures)) == [
        "rule 'jsss >= 0.9': no metric that is installed has the measure 'jsss'\nDid you mean 'jss'?"
    ]
    assert list(mistakes_of_rule("jsss >= 0.9", KNOWN)) == []


def test_names_that_are_not_there_are_told_with_those_that_are():
    assert list(mistakes_of_rule("as-expected[format, judge=mini, task=trial] >= 0.9", KNOWN)) == []
    assert list(mistakes_of_rule("as-expected[fromat, judge=x] >= 0.9", KNOWN)) == [
        "the rule names the test 'fromat'\nDid you mean 'format'? There are: reference, format.",
        "the rule names the judge 'x'\nThere are: mini.",
    ]
