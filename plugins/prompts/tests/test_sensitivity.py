"""JSS, flip rate, kappa between templates: by hand, against scikit-learn, raw and corrected, with exclusions."""

from __future__ import annotations

import re
from itertools import combinations

import jrh_prompts.plugin
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jrh import Item, JrhError, MetricContext, RecordTable, Status, Text
from jrh_measuring import Pairs, answers_by, read_trials
from jrh_prompts.listing import read_pairs, sample_pairs
from jrh_prompts.options import SensitivityOptions
from jrh_prompts.sensitivity import TemplateSensitivity
from jrh_testing import build, loop_over, sample_task

ALL = TemplateSensitivity(SensitivityOptions(all=True))


def test_jss_is_the_share_of_template_pairs_that_agree(yes_no, pick):
    yes_no.table([("1", {"a": "YES", "b": "YES", "c": "NO"}), ("2", {"a": "NO", "b": "NO", "c": "NO"})])
    found = yes_no.measure(ALL)
    jss = pick(found, "jss")
    assert jss.estimate == pytest.approx((1 + 0 + 0 + 3) / 6)
    assert (jss.n_trials, jss.n_items, dict(jss.missing)) == (6, 2, {})
    assert pick(found, "template-flip-rate").estimate == pytest.approx(1 - 4 / 6)
    assert pick(found, "jss", pair="a | b").estimate == 1.0
    assert pick(found, "jss", pair="a | c").estimate == 0.5
    assert pick(found, "jss", item="1").estimate == pytest.approx(1 / 3)
    assert pick(found, "jss", item="2").estimate == 1.0


def test_repeats_are_combined_and_every_pair_weighs_the_same(yes_no, pick):
    # Template a: YES, YES, NO; template b: YES: two of three combinations agree. Item 2 has one asking each.
    for repeat, label in enumerate(["YES", "YES", "NO"]):
        yes_no.add("1", "a", label, repeat=repeat)
    yes_no.add("1", "b", "YES").add("2", "a", "NO").add("2", "b", "NO")
    assert pick(yes_no.measure(ALL), "jss").estimate == pytest.approx((2 / 3 + 1) / 2)


def test_an_inverted_template_flips_everything_raw_and_nothing_corrected(yes_no, pick):
    for item, gold in (("1", "YES"), ("2", "NO"), ("3", "YES")):
        for template in ("a", "b"):
            yes_no.add(item, template, gold)
        yes_no.add(item, "errors", gold, presented="NO" if gold == "YES" else "YES", polarity="inverted")
    found = yes_no.measure(ALL)
    assert pick(found, "jss").estimate == 1.0
    assert pick(found, "jss-raw").estimate == pytest.approx(1 / 3)
    assert pick(found, "jss-raw", pair="a | errors").estimate == 0.0
    assert pick(found, "template-kappa").estimate == pytest.approx(1.0)


def test_kappa_of_a_pair_is_scikit_learns(yes_no, pick):
    from sklearn.metrics import cohen_kappa_score

    chance = np.random.default_rng(3)
    labels = np.array(["YES", "NO"])
    one, other = labels[(chance.random(40) < 0.3).astype(int)], labels[(chance.random(40) < 0.5).astype(int)]
    for item, (first, second) in enumerate(zip(one, other, strict=True)):
        yes_no.add(f"{item:02}", "a", str(first)).add(f"{item:02}", "b", str(second))
    expected = cohen_kappa_score(one, other)
    assert pick(yes_no.measure(ALL), "template-kappa", pair="a | b").estimate == pytest.approx(expected)


def test_kappa_of_streams_that_collapse_to_one_label_is_degenerate_and_not_one(levels, pick):
    levels.table([(str(item), {"a": "3", "b": "3"}) for item in range(12)])
    found = levels.measure(ALL)
    kappa = pick(found, "template-kappa")
    assert kappa.estimate is None
    assert kappa.interval is None
    assert "degenerate" in kappa.flags
    assert "undefined" in kappa.note
    assert pick(found, "jss").estimate == 1.0
    assert "constant-verdicts" in pick(found, "jss").flags


def test_excluded_pairs_are_counted_with_their_reason_and_bounds_hold_them(yes_no, pick):
    yes_no.table(
        [("1", {"a": "YES", "b": "YES"}), ("2", {"a": "YES"}), ("3", {"a": "YES"}), ("4", {"a": "NO", "b": "YES"})]
    )
    yes_no.add("2", "b", None, status=Status.REFUSED).add("3", "b", None, status=Status.TRUNCATED)
    found = yes_no.measure(ALL)
    assert pick(found, "excluded-pairs").estimate == 0.5
    assert pick(found, "excluded-pairs", reason="refused").estimate == 0.25
    assert pick(found, "excluded-pairs", reason="truncated").estimate == 0.25
    jss = pick(found, "jss")
    assert jss.estimate == 0.5
    assert jss.bounds == (0.25, 0.75)
    assert dict(jss.missing) == {"refused": 1, "truncated": 1}
    assert pick(found, "jss-with-excluded").estimate == 0.25


def test_a_test_without_any_verdict_has_no_estimate(yes_no, pick):
    yes_no.add("1", "a", None).add("1", "b", None)
    found = yes_no.measure(ALL)
    for name in ("jss", "jss-raw", "jss-with-excluded", "template-kappa"):
        assert pick(found, name).estimate is None
    assert pick(found, "excluded-pairs").estimate == 1.0
    assert "all-missing" in pick(found, "jss").flags


def test_only_items_with_a_verdict_on_both_sides_count(yes_no, pick):
    for repeat, label in enumerate(["YES", "NO"]):
        yes_no.add("1", "a", label, repeat=repeat).add("1", "b", "NO", repeat=repeat)
    yes_no.add("2", "a", "YES").add("2", "b", None, status=Status.TIMEOUT)
    yes_no.add("3", "a", "NO").add("3", "b", None, status=Status.REFUSED)
    found = yes_no.measure(ALL)
    for name in ("jss", "template-kappa", "jss-raw"):
        measure = pick(found, name)
        assert (measure.n_trials, measure.n_items) == (4, 1), name
        assert dict(measure.missing) == {"refused": 1, "timeout": 1}
        assert (measure.estimate is None) == ("one-item" in measure.flags) == name.startswith("template-kappa")
    assert pick(found, "jss").estimate == 0.5
    assert "few-items" in pick(found, "jss").flags
    assert (pick(found, "jss", item="2").n_trials, pick(found, "jss", item="2").n_items) == (0, 0)


def test_a_verdict_that_was_not_shown_is_missing_of_the_raw_measures_alone(yes_no, pick):
    yes_no.table([("1", {"a": "YES", "b": "YES"}), ("2", {"a": "NO", "b": "YES"})])
    yes_no.add("3", "a", "NO").add("3", "b", "NO", presented=None)
    found = yes_no.measure(ALL)
    assert (pick(found, "jss").n_trials, dict(pick(found, "jss").missing)) == (6, {})
    assert (pick(found, "jss-raw").n_trials, dict(pick(found, "jss-raw").missing)) == (4, {"off_scale": 1})


def test_within_and_across_languages(yes_no, pick):
    for item in ("1", "2"):
        yes_no.add(item, "en-1", "YES", language="en").add(item, "en-2", "YES", language="en")
        yes_no.add(item, "de-1", "NO", language="de").add(item, "de-2", "NO", language="de")
    found = yes_no.measure(ALL)
    assert pick(found, "jss", language="en").estimate == 1.0
    assert pick(found, "jss", language="de").estimate == 1.0
    assert pick(found, "jss", language="across").estimate == 0.0
    assert pick(found, "jss").estimate == pytest.approx(2 / 6)


def test_one_template_or_none_has_no_jss(yes_no):
    yes_no.add("1", "a", "YES").add("2", "a", "NO").add("1", "", "NO", test="format")
    assert yes_no.measure(ALL) == []


@pytest.mark.parametrize(
    ("templates", "pairs"), [(5, 5), (5, 3), (5, 7), (6, 3), (6, 6), (6, 8), (4, 2), (7, 10), (3, 3), (2, 1)]
)
def test_a_sample_of_pairs_is_balanced_over_the_templates(bench, pick, templates, pairs):
    made = bench(sample_task())
    names = [f"t{number}" for number in range(templates)]
    made.table([(str(item), dict.fromkeys(names, "YES")) for item in range(20)])
    trials = read_trials(RecordTable.from_records(made.records), MetricContext(tasks={}))
    (answers,) = answers_by(trials, "template")
    looked = Pairs.of(answers, sample_pairs(answers, pairs, seed=1))
    assert (looked.in_plan.sum(axis=1) == pairs).all()
    per_item = np.zeros((20, templates))
    for place, (first, second) in enumerate(zip(looked.first, looked.second, strict=True)):
        per_item[:, first] += looked.in_plan[:, place]
        per_item[:, second] += looked.in_plan[:, place]
    assert np.ptp(per_item, axis=1).max() <= (0 if 2 * pairs % templates == 0 else 1)
    varied = len({row.tobytes() for row in looked.in_plan}) > 1
    assert varied or pairs == templates * (templates - 1) // 2, "all items have the same pairs"


THREE = [("1", {"a": "YES", "b": "YES", "c": "NO"}), ("2", {"a": "NO", "b": "YES", "c": "NO"})]


def of_pairs(**options):
    return build(jrh_prompts.plugin, "template-sensitivity", options=options)


def test_only_the_pairs_that_the_items_list_are_compared(yes_no, pick):
    yes_no.table(THREE)
    listed = {"1": [["a", "b"]], "2": [["c", "b"], ["a", "c"]]}
    items = {yes_no.task.name: [Item(id=name, fields={}, metadata={"pairs": own}) for name, own in listed.items()]}
    found = yes_no.measure(of_pairs(pairs="listed"), items=items)
    assert pick(found, "jss").estimate == pytest.approx((1 + 0 + 1) / 3)  # not (1 + 0 + 0 + 0 + 1 + 0) / 6
    assert pick(found, "template-flip-rate").estimate == pytest.approx(1 / 3)
    assert pick(found, "jss", pair="b | c").n_items == 1


def test_pairs_are_listed_in_a_file_for_one_item_or_for_all(yes_no, pick):
    yes_no.table(THREE)
    text = Text(content="template_a,template_b,item\nb,a,\na,c,2\n", source="pairs.csv")
    found = yes_no.measure(TemplateSensitivity(SensitivityOptions(pairs=text)))
    assert pick(found, "jss").estimate == pytest.approx((1 + 0 + 1) / 3)


@loop_over(
    ("content", "said"),
    [
        ("one,two\na,b\n", "pairs.csv:1: the column `template_a` is missing"),
        ("template_a,template_b\na,a\n", "pairs.csv:2: a pair names two different templates"),
        ("template_a,template_b\na,\n", "pairs.csv:2: a pair names two different templates"),
        ("template_a,template_b\n", "pairs.csv: the file lists no pair"),
    ],
)
def test_a_file_that_lists_no_pairs_is_refused(content, said):
    with pytest.raises(JrhError, match=re.escape(said)):
        read_pairs(Text(content=content, source="pairs.csv"))


def test_listed_pairs_need_items_that_list_them(yes_no):
    yes_no.table(THREE)
    with pytest.raises(JrhError, match="no item lists pairs of templates"):
        yes_no.measure(of_pairs(pairs="listed"))


@pytest.mark.parametrize("pairs", [0, "lsited"])
def test_a_choice_of_pairs_that_is_none_is_refused(pairs):
    with pytest.raises(Exception, match="pairs"):
        of_pairs(pairs=pairs)


verdict = st.sampled_from(["YES", "NO", None])
rows = st.lists(st.tuples(verdict, verdict, verdict), min_size=1, max_size=8)


@given(rows=rows)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_jss_equals_the_plain_count_and_lies_within_its_bounds(bench, rows):
    made = bench(sample_task())
    made.table([(str(item), dict(zip("abc", row, strict=True))) for item, row in enumerate(rows)])
    jss = next(each for each in made.measure(ALL) if each.name == "jss" and not each.cell)
    pairs = [(one, other) for row in rows for one, other in combinations(row, 2)]
    there = [(one, other) for one, other in pairs if one and other]
    if not there:
        assert jss.estimate is None
        return
    agreeing = sum(one == other for one, other in there)
    assert jss.estimate == pytest.approx(agreeing / len(there))
    assert jss.bounds == pytest.approx((agreeing / len(pairs), (agreeing + len(pairs) - len(there)) / len(pairs)))
