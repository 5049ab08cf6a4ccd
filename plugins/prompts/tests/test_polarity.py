"""A template declared the wrong way round is found, and told apart from a judge that misses the inversion."""

from __future__ import annotations

import random

import pytest
from jrh_interchange import measure_records
from jrh_measuring import MetricOptions, findings_of
from jrh_prompts.polarity import TemplatePolarity

METRIC = TemplatePolarity(MetricOptions())
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


def findings(bench):
    report = measure_records("log", [bench.task], bench.records, metrics={"polarity": METRIC})
    return [each for each in findings_of(report) if each.kind in ("undeclared-polarity", "polarity-blindness")]


def concerned(bench):
    """Return kind, judge and template of each basis of a finding."""
    return {(each.kind, each.judge, basis.cell["template"]) for each in findings(bench) for basis in each.basis}


def test_a_template_whose_verdicts_have_to_be_turned_is_named_with_the_declaration_it_lacks(yes_no, pick):
    fill(yes_no, turned=("c",))
    (finding,) = findings(yes_no)
    assert (finding.kind, finding.severity.value) == ("undeclared-polarity", "bad")
    assert finding.basis[0].cell == {"template": "c", "polarity": "positive"}
    share = pick(yes_no.measure(METRIC), "inversion-helps", template="c", polarity="positive")
    assert (share.estimate, share.n_items) == (1.0, 20)
    assert "for 1 of 1 judges; declare `labels: {YES: NO, NO: YES}`" in finding.sentence


def test_one_judge_that_overlooks_most_inversions_is_not_said_to_show_that_the_template_is_wrong(yes_no):
    """Verdicts under the one template that is not inverted look turned, where all others are and are misread."""
    fill(yes_no, turned=("b", "c", "d"), inverted=("b", "c", "d"))
    (finding,) = findings(yes_no)
    assert finding.basis[0].cell == {"template": "a", "polarity": "positive"}
    assert finding.sentence.startswith("Overlooks the polarity of other templates, or the declared polarity of this")
    assert "a second judge would tell" in finding.sentence


def test_every_template_is_measured_whatever_the_verdicts_are(yes_no, pick):
    fill(yes_no)
    measures = yes_no.measure(METRIC)
    assert [(each.name, each.cell["template"]) for each in measures] == [
        (name, template) for template in NAMES for name in ("inversion-helps", "inversion-helps-p")
    ]
    p = pick(measures, "inversion-helps-p", template="a", polarity="positive")
    assert p.estimate == 1.0


def test_the_p_value_is_that_of_the_binomial_distribution(yes_no, pick):
    yes_no.table([(str(item), {"a": "YES", "b": "YES", "c": "NO" if item < 8 else "YES"}) for item in range(10)])
    cell = {"template": "c", "polarity": "positive"}
    measures = yes_no.measure(METRIC)
    assert pick(measures, "inversion-helps", **cell).estimate == pytest.approx(0.8)
    # Binomial tail of 8 or more of 10 at one half: (45 + 10 + 1) / 1024.
    assert pick(measures, "inversion-helps-p", **cell).estimate == pytest.approx(56 / 1024)


def test_noise_does_not_hide_it_and_is_not_taken_for_it(yes_no):
    fill(yes_no, "noisy", turned=("c",), flips=0.1, items=60)
    fill(yes_no, "noisy-too", turned=("c",), flips=0.1, items=60)
    assert concerned(yes_no) == {("undeclared-polarity", "noisy", "c"), ("undeclared-polarity", "noisy-too", "c")}


def test_templates_as_declared_and_judges_that_draw_lots_give_no_finding(yes_no):
    fill(yes_no, "steady")
    fill(yes_no, "lots", flips=0.5, items=200)
    assert findings(yes_no) == []


def test_a_judge_that_alone_misses_a_declared_inversion_is_told_apart_from_the_template(yes_no):
    fill(yes_no, "good", inverted=("c",))
    fill(yes_no, "fine", inverted=("c",))
    fill(yes_no, "blind", inverted=("c",), turned=("c",))
    (finding,) = findings(yes_no)
    assert (finding.kind, finding.judge) == ("polarity-blindness", "blind")
    assert "shown for 1 of 3 judges" in finding.sentence


def test_a_template_that_all_judges_turn_although_it_is_declared_as_inverted_should_lose_its_labels(yes_no):
    for judge in ("one", "other"):
        fill(yes_no, judge, inverted=("c",), turned=("c",))
    assert {each.kind for each in findings(yes_no)} == {"undeclared-polarity"}
    assert all("2 of 2 judges; remove its `labels`" in each.sentence for each in findings(yes_no))


def test_a_single_judge_cannot_say_whether_it_or_the_declaration_is_wrong(yes_no):
    fill(yes_no, inverted=("c",), turned=("c",))
    (finding,) = findings(yes_no)
    assert "a second judge would tell" in finding.sentence


def test_of_two_templates_that_contradict_each_other_none_is_accused(yes_no):
    yes_no.table([(str(item), {"a": "YES", "b": "NO"}) for item in range(30)])
    assert yes_no.measure(METRIC) == []


def test_a_judge_without_any_verdict_leaves_the_findings_about_the_others(yes_no):
    fill(yes_no, turned=("c",))
    yes_no.table([("00", dict.fromkeys(NAMES))], judge="silent")
    assert concerned(yes_no) == {("undeclared-polarity", "j", "c")}


def test_five_items_are_too_few_for_a_finding(yes_no):
    fill(yes_no, turned=("c",), items=5)
    assert findings(yes_no) == []


@pytest.mark.parametrize("noise", [0, 1])
def test_reversed_levels_are_found_by_their_distance(levels, noise):
    for item in range(20):
        right = item % 5 + 1
        other = min(5, right + noise)
        levels.table([(f"{item:02}", {"a": str(right), "b": str(other), "c": str(right), "turned": str(6 - right)})])
    assert concerned(levels) == {("undeclared-polarity", "j", "turned")}
