"""A template declared the wrong way round is found, and told apart from a judge that misses the inversion."""

from __future__ import annotations

import random

import pytest
from jrh_measuring import MetricOptions
from jrh_prompts.polarity import PolarityFindings

METRIC = PolarityFindings(MetricOptions())
NAMES = ("a", "b", "c", "d")


def fill(bench, judge="j", *, turned=(), inverted=(), items=20, flips=0.0):
    chance = random.Random(1)
    for item in range(items):
        right = ("YES", "NO")[item % 2]
        for name in NAMES:
            label = right if chance.random() >= flips else ("NO" if right == "YES" else "YES")
            if name in turned:
                label = "NO" if label == "YES" else "YES"
            polarity = "inverted" if name in inverted else "positive"
            bench.add(f"{item:02}", name, label, judge=judge, polarity=polarity)


def test_a_template_whose_verdicts_have_to_be_turned_is_named_with_the_declaration_it_lacks(yes_no, pick):
    fill(yes_no, turned=("c",))
    (finding,) = yes_no.measure(METRIC)
    assert (finding.name, dict(finding.cell), finding.flags[0]) == ("undeclared-polarity", {"template": "c"}, "finding")
    assert finding.estimate == 1.0
    assert "brings them closer on 20 of 20 items" in finding.note
    assert "declare `labels: {YES: NO, NO: YES}`" in finding.note


def test_noise_does_not_hide_it_and_is_not_taken_for_it(yes_no):
    fill(yes_no, "noisy", turned=("c",), flips=0.1, items=60)
    fill(yes_no, "noisy-too", turned=("c",), flips=0.1, items=60)
    found = yes_no.measure(METRIC)
    assert {(each.judge, each.cell["template"], each.name) for each in found} == {
        ("noisy", "c", "undeclared-polarity"),
        ("noisy-too", "c", "undeclared-polarity"),
    }


def test_templates_as_declared_and_judges_that_draw_lots_give_no_finding(yes_no):
    fill(yes_no, "steady")
    fill(yes_no, "lots", flips=0.5, items=200)
    assert yes_no.measure(METRIC) == []


def test_a_judge_that_alone_misses_a_declared_inversion_is_told_apart_from_the_template(yes_no):
    fill(yes_no, "good", inverted=("c",))
    fill(yes_no, "fine", inverted=("c",))
    fill(yes_no, "blind", inverted=("c",), turned=("c",))
    (finding,) = yes_no.measure(METRIC)
    assert (finding.name, finding.judge) == ("polarity-blindness", "blind")
    assert "2 of 3 judges read the template as declared" in finding.note


def test_a_single_judge_cannot_say_whether_it_or_the_declaration_is_wrong(yes_no):
    fill(yes_no, inverted=("c",), turned=("c",))
    (finding,) = yes_no.measure(METRIC)
    assert "Add a second judge to find out" in finding.note


def test_of_two_templates_that_contradict_each_other_none_is_accused(yes_no):
    yes_no.table([(str(item), {"a": "YES", "b": "NO"}) for item in range(30)])
    assert yes_no.measure(METRIC) == []


def test_a_judge_without_any_verdict_leaves_the_findings_about_the_others(yes_no):
    fill(yes_no, turned=("c",))
    yes_no.table([("00", dict.fromkeys(NAMES))], judge="silent")
    assert [(each.judge, each.cell["template"]) for each in yes_no.measure(METRIC)] == [("j", "c")]


def test_five_items_are_too_few_for_a_finding(yes_no):
    fill(yes_no, turned=("c",), items=5)
    assert yes_no.measure(METRIC) == []


@pytest.mark.parametrize("noise", [0, 1])
def test_reversed_levels_are_found_by_their_distance(levels, noise):
    for item in range(20):
        right = item % 5 + 1
        other = min(5, right + noise)
        levels.table([(f"{item:02}", {"a": str(right), "b": str(other), "c": str(right), "turned": str(6 - right)})])
    (finding,) = levels.measure(METRIC)
    assert finding.cell["template"] == "turned"
