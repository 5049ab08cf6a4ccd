"""Answers are compared over one factor only where the rest of the condition is the same: every factor with every other.

The worlds have numbers that need no computer: each judge follows one factor alone, so that the pairs over another agree
always, or never.
"""

from __future__ import annotations

import pytest
from jrh import Mode, Scale, Task
from jrh.plugins.protocols import MetricContext
from jrh.values.records import RecordTable
from jrh_measuring import Pairs, answers_by, answers_by_order, read_trials
from jrh_testing import RecordBench, loop_over

PAIRS = Task(name="t", mode=Mode.PAIRWISE, scale=Scale.of_pairs())
LEVELS = {
    "template": ("p1", "p2"),
    "option_order": ("AB", "BA"),
    "polarity": ("positive", "inverted"),
    "temperature": (0.0, 1.0),
    "language": ("de", "en"),
    "strength": (0.25, 0.75),
    "variant": ("v1", "v2"),
}
COMPARED = ("template", "option_order")
CROSSED = [(factor, other) for factor in COMPARED for other in LEVELS if other != factor]


def answers(records, factor, test):
    context = MetricContext(tasks={PAIRS.name: PAIRS})
    trials = read_trials(RecordTable.from_records(records), context)
    found = answers_by_order(trials, context.tasks) if factor == "option_order" else answers_by(trials, factor)
    (one,) = [each for each in found if each.cell.test == test]
    return one


def world(factor, other, follows, *, test="reference", items=10):
    """Ask every item under both levels of two factors; the label depends on the level of `follows` alone."""
    made = RecordBench(PAIRS)
    for item in range(items):
        for mine in LEVELS[factor]:
            for its in LEVELS[other]:
                how = {"template": "", "variant": "", factor: mine, other: its}
                label = "AB"[LEVELS[follows].index(how[follows])]
                made.add(str(item), how.pop("template"), label, test=test, **how)
    return made.records


@loop_over("test", ["reference", "mixed"])
@loop_over(("factor", "other"), CROSSED, ids="-".join)
def test_a_judge_that_follows_the_other_factor_agrees_always(factor, other, test):
    pairs = Pairs.of(answers(world(factor, other, other, test=test), factor, test))
    assert pairs.usable.sum() == 20, "one pair per item and level of the other factor"
    assert pairs.scores[pairs.usable].tolist() == [1.0] * 20
    assert pairs.bounds == (1.0, 1.0)
    assert pairs.kappa(level=0.95).value == pytest.approx(1.0)


@loop_over("test", ["reference", "mixed"])
@loop_over(("factor", "other"), CROSSED, ids="-".join)
def test_a_judge_that_follows_the_factor_agrees_never(factor, other, test):
    pairs = Pairs.of(answers(world(factor, other, factor, test=test), factor, test))
    assert pairs.usable.sum() == 20
    assert pairs.scores[pairs.usable].tolist() == [0.0] * 20


@loop_over(("factor", "other"), CROSSED, ids="-".join)
def test_half_of_the_other_factor_at_random_halves_nothing_of_the_rest(factor, other):
    """Under the first level of the other factor the judge is constant; under the second it follows the factor."""
    made = RecordBench(PAIRS)
    for item in range(10):
        for mine in LEVELS[factor]:
            for its in LEVELS[other]:
                how = {"template": "", "variant": "", factor: mine, other: its}
                moved = its == LEVELS[other][1] and mine == LEVELS[factor][1]
                made.add(str(item), how.pop("template"), "AB"[moved], test="reference", **how)
    pairs = Pairs.of(answers(made.records, factor, "reference"))
    assert pairs.scores[pairs.usable].mean() == 0.5
    assert sorted(pairs.scores[pairs.usable].tolist()) == [0.0] * 10 + [1.0] * 10


def test_what_a_template_brings_along_is_the_templates_and_a_temperature_is_not():
    for name, compared in (("polarity", 10), ("language", 10), ("temperature", 0)):
        made = RecordBench(PAIRS)
        for item in range(10):
            for template, level in zip(LEVELS["template"], LEVELS[name], strict=True):
                made.add(str(item), template, "A", test="templates", **{name: level})
        assert Pairs.of(answers(made.records, "template", "templates")).usable.sum() == compared, name


def test_variants_that_only_name_the_condition_hold_nothing_apart():
    made = RecordBench(PAIRS)
    for item in range(10):
        for template in ("p1", "p2"):
            for order in ("AB", "BA"):
                named = {"variant": f"{template}/{order}", "option_order": order}
                made.add(str(item), template, "A", test="mixed", **named)
    assert Pairs.of(answers(made.records, "template", "mixed")).usable.sum() == 20


def test_chains_in_both_orders_are_compared_step_by_step():
    made = RecordBench(PAIRS)
    for item in range(10):
        for layout, label in (("bold", "A"), ("plain", "B")):
            for order in ("AB", "BA"):
                named = {"variant": f"{layout}+{order}", "option_order": order, "family": "format+option-order"}
                made.add(str(item), "", label, test="chain", **named)
    pairs = Pairs.of(answers(made.records, "option_order", "chain"))
    assert pairs.usable.sum() == 20
    assert pairs.scores[pairs.usable].min() == 1.0


def test_a_question_belongs_to_the_cluster_of_its_item():
    found = answers(world("template", "option_order", "template"), "template", "reference")
    assert len(found.axes.questions) == 20
    assert len(set(found.clusters.tolist())) == 10
    assert list(found.items) == [str(item) for item in range(10) for _ in "12"]


def test_a_chain_is_compared_with_the_same_variant_of_the_test_without_the_order():
    made = RecordBench(PAIRS)
    for item in range(10):
        for layout, label in (("bold", "A"), ("plain", "B")):
            made.add(str(item), "", label, test="format", family="format", variant=layout)
            named = {"variant": f"{layout}+BA", "option_order": "BA", "family": "format+option-order"}
            made.add(str(item), "", label, test="format+option-order", **named)
    pairs = Pairs.of(answers(made.records, "option_order", "format+option-order"))
    assert pairs.usable.sum() == 20
    assert pairs.scores[pairs.usable].min() == 1.0
