"""What is not the same on both sides, the nearest to the verdict first."""

import attrs
import pytest
from jrh import Scale
from jrh.values import ComponentUsed
from jrh_measuring.comparing.causes import NotComparableError, causes, check_comparable
from jrh_measuring.comparing.results import Matching, SideName
from jrh_measuring.comparing.sides import OpenRun, Side
from jrh_testing import loop_over, sample_report


def part(role, name, **fields):
    whole = {"component": f"jrh-x/{name}", "version": "0.1.0", "options": {}, **fields}
    return ComponentUsed(role=role, name=name, **whole)


PARTS = (
    part("data source", "csv", options={"path": "items.csv"}),
    part("perturber", "format", options={"width": 72}),
    part("validator", "words"),
    part("model", "mini", options={"model": "m-1"}),
    part("model", "unused", options={"model": "u-1"}),
    part("judge", "careful", options={"model": "mini", "parser": "json", "template": "Judge it."}),
    part("parser", "json"),
    part("metric", "as-expected"),
)


def side(parts=PARTS, judge="careful", served=None, **fields):
    report = attrs.evolve(sample_report(), components=tuple(parts), **fields)
    name = SideName(label=judge, run="r", suite="s", judge=judge, simulated=False, served=served)
    return Side(name=name, run=OpenRun(path="r", report=report, unfinished="", imported=False))


def changed(role, name, **fields):
    return side([attrs.evolve(each, **fields) if (each.role, each.name) == (role, name) else each for each in PARTS])


def told(first, second):
    return [(cause.kind, cause.what, cause.before, cause.after) for cause in causes(first, second)]


def test_equal_sides_have_no_cause():
    assert told(side(), side()) == []


@loop_over(
    ("role", "name", "fields", "cause"),
    [
        ("judge", "careful", {"version": "0.2.0"}, ("judge", "careful: version", "0.1.0", "0.2.0")),
        ("judge", "careful", {"component": "acme/llm"}, ("judge", "careful: component", "jrh-x/careful", "acme/llm")),
        ("model", "mini", {"options": {"model": "m-2"}}, ("model", "mini: model", "m-1", "m-2")),
        ("parser", "json", {"version": "0.2.0"}, ("parser", "json: version", "0.1.0", "0.2.0")),
        ("perturber", "format", {"options": {"width": 80}}, ("perturber", "format: width", "72", "80")),
        ("validator", "words", {"version": "0.2.0"}, ("validator", "words: version", "0.1.0", "0.2.0")),
        ("data source", "csv", {"options": {}}, ("data source", "csv: path", "items.csv", "null")),
    ],
)
def test_a_changed_component_is_told_with_what_changed(role, name, fields, cause):
    assert told(side(), changed(role, name, **fields)) == [cause]


def test_the_options_of_two_components_are_not_held_against_each_other():
    other = changed("judge", "careful", component="acme/tree", version="9", options={"depth": 3})
    assert told(side(), other)[0] == ("judge", "careful: component", "jrh-x/careful", "acme/tree")
    assert [what for kind, what, *_ in told(side(), other) if kind == "judge"] == ["careful: component"]


def test_what_does_not_reach_the_judge_is_no_cause():
    assert told(side(), changed("metric", "as-expected", version="0.2.0")) == []
    assert told(side(), changed("model", "unused", options={"model": "u-2"})) == []


def test_a_component_that_only_one_side_has_is_told():
    without = side([each for each in PARTS if each.role != "perturber"])
    assert told(side(), without) == [("perturber", "format", "jrh-x/format", "not there")]
    assert told(without, side()) == [("perturber", "format", "not there", "jrh-x/format")]


def test_another_model_that_answered_under_the_same_name_is_told():
    one, two = (side(served=(name,)) for name in ("m-1 of May", "m-1 of June"))
    assert told(one, two) == [("answered by", "model", "m-1 of May", "m-1 of June")]


def test_version_and_seed_come_last():
    assert told(side(), side(version="0.9", seed=8)) == [("jrh", "version", "0.1.0", "0.9"), ("seed", "seed", "7", "8")]


def test_the_judges_of_one_run_differ_in_nothing_but_themselves():
    first = side()
    other = attrs.evolve(first, name=attrs.evolve(first.name, judge="careless"))
    assert [cause.kind for cause in causes(first, other)] == ["judge", "model", "parser"]


def test_long_texts_are_cut_to_where_they_begin_to_differ():
    templates = ("x" * 500 + "before" + "y" * 500, "x" * 500 + "after" + "y" * 500)
    sides = [changed("judge", "careful", options={"model": "mini", "parser": "json", "template": t}) for t in templates]
    ((_, what, before, after),) = told(*sides)
    assert what == "careful: template"
    assert len(before) <= 121
    assert "before" in before
    assert "after" in after


def test_an_import_records_only_the_scale_and_nothing_else_is_called_different():
    run = side()
    imported = side(parts=(), version="0.9", seed=8)
    imported = attrs.evolve(imported, run=attrs.evolve(imported.run, imported=True))
    assert told(run, imported) == told(imported, run) == []
    (summary, *others) = run.run.report.tasks
    task = attrs.evolve(summary.task, instruction="", scale=Scale.of_labels("RIGHT", "WRONG"))
    report = attrs.evolve(imported.run.report, tasks=(attrs.evolve(summary, task=task), *others))
    relabelled = attrs.evolve(imported, run=attrs.evolve(imported.run, report=report))
    assert [(kind, what) for kind, what, _, _ in told(run, relabelled)] == [("task", f"{task.name}: scale")]


def compared(by_id=0, by_place=0, other_text=0, other_items=0):
    return Matching(
        by_id=by_id, by_place=by_place, other_text=other_text, looked_at=by_place, ambiguous=0, gold_changed=0,
        only_first={}, only_second={}, other_items=other_items,
    )  # fmt: skip


def with_scale(scale):
    first = side()
    (summary, *_) = first.run.report.tasks
    return side(tasks=(attrs.evolve(summary, task=attrs.evolve(summary.task, scale=scale)),))


def test_other_data_and_another_scale_are_refused_with_exit_code_3():
    levels, pair = with_scale(Scale.of_levels(1, 5)), with_scale(Scale.of_pairs())
    with pytest.raises(NotComparableError, match="the scales have no label in common"):
        check_comparable(levels, pair, compared())
    with pytest.raises(NotComparableError, match="all 20 items with the same id have another text") as refused:
        check_comparable(levels, levels, compared(other_items=20))
    assert refused.value.exit_code == 3
    # Some items, or perturbed texts alone: a comparison says how many differ.
    check_comparable(levels, levels, compared(by_place=1, other_items=19))
    check_comparable(levels, levels, compared(by_place=20, other_text=20))
    check_comparable(levels, with_scale(Scale.of_levels(1, 6)), compared(by_id=1))


def test_the_names_that_seed_a_simulated_judge_are_differences():
    first, second = side(), side(judge="careful")
    told_of = [attrs.evolve(each, name=attrs.evolve(each.name, simulated=True)) for each in (first, second)]
    told_of[1] = attrs.evolve(told_of[1], name=attrs.evolve(told_of[1].name, judge="renamed"))
    assert ("judge", "name, part of a simulated judge's seed", "careful", "renamed") in told(*told_of)
