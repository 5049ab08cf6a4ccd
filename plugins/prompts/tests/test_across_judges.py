"""What several judges have in common under the same prompts."""

from __future__ import annotations

import pytest
from jrh_measuring import BreakdownOptions
from jrh_prompts.across_judges import FlippedByEveryJudge, PairwiseAgreement
from jrh_prompts.options import OverlapOptions


def test_pairs_that_every_judge_flips_are_listed(yes_no, pick):
    yes_no.table([("1", {"a": "YES", "b": "NO", "c": "YES"}), ("2", {"a": "YES", "b": "NO", "c": "NO"})], judge="x")
    yes_no.table([("1", {"a": "NO", "b": "YES", "c": "YES"}), ("2", {"a": "YES", "b": "YES", "c": "YES"})], judge="y")
    measure = pick(yes_no.measure(FlippedByEveryJudge(OverlapOptions())), "flipped-by-every-judge")
    assert measure.judge == ""
    assert measure.estimate == pytest.approx(1 / 6)
    assert measure.note == "flipped by every judge: 1: a | b"


def test_a_pair_that_only_one_judge_answered_does_not_count(yes_no, pick):
    yes_no.table([("1", {"a": "YES", "b": "NO"}), ("2", {"a": "YES", "b": "NO"})], judge="x")
    yes_no.table([("1", {"a": "YES", "b": "NO"}), ("2", {"a": None, "b": "NO"})], judge="y")
    measure = pick(yes_no.measure(FlippedByEveryJudge(OverlapOptions())), "flipped-by-every-judge")
    assert (measure.estimate, measure.n_items) == (1.0, 1)


def test_one_judge_has_nobody_to_share_a_flip_with(yes_no):
    yes_no.table([("1", {"a": "YES", "b": "NO"})])
    assert yes_no.measure(FlippedByEveryJudge(OverlapOptions())) == []


def test_judges_are_compared_prompt_by_prompt(levels, pick):
    from sklearn.metrics import cohen_kappa_score

    one = [("1", {"a": "1", "b": "2"}), ("2", {"a": "3", "b": "3"}), ("3", {"a": "5", "b": "4"})]
    other = [("1", {"a": "1", "b": "2"}), ("2", {"a": "2", "b": "3"}), ("3", {"a": "5", "b": None})]
    levels.table(one, judge="x").table(other, judge="y")
    found = levels.measure(PairwiseAgreement(BreakdownOptions()))
    agreement = pick(found, "pairwise-agreement", **{"with": "y"})
    assert agreement.judge == "x"
    assert agreement.estimate == pytest.approx(4 / 5)
    assert dict(agreement.missing) == {"unparsable": 1}
    kappa = pick(found, "pairwise-kappa", **{"with": "y"})
    assert kappa.estimate == pytest.approx(cohen_kappa_score([1, 2, 3, 3, 5], [1, 2, 2, 3, 5]))


def test_judges_are_compared_in_the_reference_and_in_every_test_and_condition(yes_no, pick):
    for item in range(4):
        for judge in ("x", "y"):
            yes_no.add(str(item), "", "YES", judge=judge, test="reference")
            for variant, label in (("a", "YES"), ("b", "YES" if judge == "x" else "NO")):
                yes_no.add(str(item), "", label, judge=judge, test="format", family="format", variant=variant)
    found = yes_no.measure(PairwiseAgreement(BreakdownOptions(by=("variant",))))
    shares = {(each.test, each.cell.get("variant", "")): each.estimate for each in found if "agreement" in each.name}
    assert shares == {("reference", ""): 1.0, ("format", ""): 0.5, ("format", "a"): 1.0, ("format", "b"): 0.0}


def test_flips_are_counted_over_judges_and_over_template_pairs(yes_no, pick):
    yes_no.table([("1", {"a": "YES", "b": "NO", "c": "YES"}), ("2", {"a": "YES", "b": "NO", "c": "NO"})], judge="x")
    yes_no.table([("1", {"a": "NO", "b": "YES", "c": "YES"}), ("2", {"a": "YES", "b": "YES", "c": "YES"})], judge="y")
    found = yes_no.measure(FlippedByEveryJudge(OverlapOptions()))
    # Item 1: both flip a|b, y alone a|c, x alone b|c; item 2: x alone a|b and a|c, neither b|c.
    shares = {each.cell["judges"]: each.estimate for each in found if each.name == "flipped-by"}
    assert shares == {"0": pytest.approx(1 / 6), "1": pytest.approx(4 / 6), "2": pytest.approx(1 / 6)}
    by_pair = {each.cell["pair"]: each.estimate for each in found if each.name == "flipping-judges"}
    assert by_pair == {"a | b": 3 / 4, "a | c": 2 / 4, "b | c": 1 / 4}
