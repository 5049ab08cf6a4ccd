"""`jrh compare`: what is planted is found, what is equal is equal, and what cannot be compared is said."""

from __future__ import annotations

import json
import re
import shutil

import jrh
import pytest
from attrs import evolve
from jrh_testing import Inside, Project, call
from support.comparing import compare, found, row
from support.schemas import SCHEMAS
from support.suites import LABELS, simulated_suite, write_items, write_suite
from support.verdicts import YES_NO, import_judges, right_with

pytestmark = pytest.mark.inside


def test_the_shipped_schema_is_what_the_classes_give() -> None:
    from jrh_authoring.suite_schema import DRAFT, TypeSchemas
    from jrh_measuring.comparing.results import Comparison

    schemas = TypeSchemas(written=False)
    schemas.of(Comparison)
    root = schemas.definitions.pop("jrh_measuring.Comparison")
    head = {"$schema": DRAFT, "title": "The findings of `jrh compare`"}
    expected = json.dumps({**head, **root, "$defs": dict(sorted(schemas.definitions.items()))}, indent=2) + "\n"
    shipped = SCHEMAS / "comparison.schema.json"
    assert shipped.read_text() == expected, "write the expected text into schemas/comparison.schema.json"


# -- what is planted is found ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide the verdicts of judges that are right with 0.9, 0.75 and again 0.9, on the same 400 items."""
    project = Inside(tmp_path_factory.mktemp("planted"))
    for name, accuracy in (("good", 0.9), ("poor", 0.75), ("other", 0.9)):
        answer = {"mini": right_with(accuracy, seed=name)}
        import_judges(project.path / name, answer, items=400, tests={"reference": 2, "format": 1})
    return project


def test_a_judge_that_is_worse_is_found_with_an_interval_that_covers_by_how_much(planted: Project) -> None:
    worse = row(found(planted, "good", "poor"), "gold-accuracy")
    assert worse["low"] < -0.15 < worse["high"]
    assert worse["high"] < 0
    assert worse["answer"] == "worse"
    assert (worse["cases"], worse["items"]) == (400, 400)
    better = row(found(planted, "poor", "good"), "gold-accuracy")
    assert better["answer"] == "better"
    assert (better["difference"], better["low"]) == pytest.approx((-worse["difference"], -worse["high"]))
    assert (better["better"], better["worse"]) == (worse["worse"], worse["better"])


def test_of_two_judges_that_are_equally_good_no_difference_is_shown_and_that_is_not_called_equal(
    planted: Project,
) -> None:
    equal = row(found(planted, "good", "other"), "gold-accuracy")
    assert equal["low"] < 0 < equal["high"]
    assert equal["answer"] == "no difference shown"
    assert equal["equivalence"] is None
    assert "does not mean that there is none: use --margin" in compare(planted, "good", "other").stdout


@pytest.mark.parametrize(
    ("sides", "margin", "answer"),
    [
        (("good", "other"), "0.1", "equivalent"),
        (("good", "other"), "0.001", "undecided"),
        (("good", "poor"), "0.05", "different"),
    ],
)
def test_a_declared_margin_tells_equal_from_unknown(
    planted: Project, sides: tuple[str, str], margin: str, answer: str
) -> None:
    assert row(found(planted, *sides, "--margin", margin), "gold-accuracy")["equivalence"] == answer


def test_the_command_prints_a_table_and_ends_with_0(planted: Project) -> None:
    done = planted.run("compare", "good", "poor")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "== good -> poor ==\n\npoor: worse on reference, format.\n800 cases on both sides, paired: 800 by id"
    )
    assert re.search(r"^reference +as-expected = gold-accuracy .* worse$", done.stdout, re.MULTILINE)


def test_several_runs_are_each_compared_with_the_first(planted: Project) -> None:
    document = found(planted, "good", "poor", "other")
    assert [(pair["first"]["run"], pair["second"]["run"]) for pair in document["pairs"]] == [
        ("good", "poor"),
        ("good", "other"),
    ]
    assert [point["side"]["label"] for point in document["curve"]] == ["good", "poor", "other"]


def test_rerun_noise_stands_beside_the_verdicts_that_differ(planted: Project) -> None:
    change = found(planted, "good", "poor")["pairs"][0]["changes"][0]
    assert change["trials"] == 800
    for noise, expected in ((change["noise_first"], 2 * 0.9 * 0.1), (change["noise_second"], 2 * 0.75 * 0.25)):
        assert noise["rate"] == pytest.approx(expected, abs=0.06)
        assert noise["low"] < noise["rate"] == noise["differing"] / noise["pairs"] < noise["high"]
        assert (noise["pairs"], noise["items"], noise["missing"]) == (400, 400, {})
    printed = compare(planted, "good", "poor").stdout
    told = change["noise_second"]
    ends = rf"{told['rate']:.3f} \[{told['low']:.3f}, {told['high']:.3f}\] +400 +0"
    assert re.search(rf"^rerun noise after +{told['differing']} of 400 pairs +{ends}$", printed, re.MULTILINE)
    assert change["low"] < 0.9 * 0.25 + 0.1 * 0.75 < change["high"]


def test_the_same_difference_is_shown_and_tested_once(planted: Project) -> None:
    for name, accuracy in (("one", 0.9), ("two", 0.75)):
        answer = {"mini": right_with(accuracy, seed=name)}
        tests = {"reference": 2, "format": 1}
        import_judges(planted.path / name, answer, items=200, tests=tests, expectation="same", expected=None)
    document = found(planted, "one", "two")
    rows = document["pairs"][0]["rows"]
    same = {(each["test"], each["measure"]): each["same_as"] for each in rows}
    assert same == {
        ("reference", "as-expected"): "",
        ("reference", "gold-accuracy"): "as-expected",
        ("format", "as-expected"): "",
        ("format", "gold-accuracy"): "",
        ("format", "agreement"): "as-expected",
    }
    for each in (each for each in rows if each["same_as"]):
        twin = next(one for one in rows if (one["test"], one["measure"]) == (each["test"], each["same_as"]))
        unlike = {name for name in each if each[name] != twin[name]}
        assert unlike == {"measure", "same_as"}
    once = [each for each in rows if not each["same_as"]]
    assert document["family"]["tests"] == len(once) == 3, "the family counts what is shown"
    both = found(planted, "one", "two", "--margin", "0.1")["family"]
    assert (both["tests"], both["equivalences"]) == (6, 3)
    printed = compare(planted, "one", "two").stdout
    assert (
        len(re.findall(r"^(?:reference|format) +(?:as-expected|gold-accuracy|agreement)", printed, re.MULTILINE)) == 3
    )
    assert re.search(r"^format +as-expected = agreement ", printed, re.MULTILINE)
    assert "Measures joined by = are the same difference by definition: in the reference" in printed
    assert "Corrected for 3 tests (Holm, 5%). This correction decides what counts as shown" in printed


def test_the_markdown_fits_a_comment_and_says_what_it_lacks(planted: Project) -> None:
    short = compare(planted, "good", "poor", "--format", "markdown").stdout
    assert "Shortened" not in short
    many = {f"judge-{place:03}": right_with(place / 120, seed=place) for place in range(120)}
    import_judges(planted.path / "many", many, items=20, tests={"reference": 1, "format": 1})
    document = compare(planted, "many", "--flips", "1000", "--format", "markdown").stdout
    assert 50_000 < len(document) <= 65_536
    assert document.startswith("## judge-000 -")
    assert document.rstrip().splitlines()[-1] == (
        "Shortened to stay within 65,536 characters; jrh compare --format json has all of it."
    )
    assert "## Cost of the compared verdicts, against how many are correct: the" in document
    assert "| cost of these verdicts |" in document
    assert not re.search(r"\| cost \||Paid", document), "the words of a run's totals"
    assert "p-values are not adjusted" in document


def test_only_the_tests_asked_for_are_compared_and_noise_is_told_all_the_same(planted: Project) -> None:
    pair = found(planted, "good", "poor", "--test", "format")["pairs"][0]
    assert {each["test"] for each in pair["rows"]} == {"format"}
    assert pair["changes"][0]["noise_first"]["rate"] > 0
    assert {flip["test"] for flip in pair["flips"]} == {"format"}


def test_identical_runs_have_no_difference(planted: Project) -> None:
    shutil.copytree(planted.path / "good", planted.path / "copy", dirs_exist_ok=True)
    document = found(planted, "good", "copy", "--margin", "0.05")
    pair = document["pairs"][0]
    assert pair["matching"]["by_id"] == 800
    assert {each["answer"] for each in pair["rows"]} == {"identical"}
    assert {each["equivalence"] for each in pair["rows"]} == {"equivalent"}
    assert {(each["difference"], each["p"]) for each in pair["rows"]} == {(0.0, 1.0)}
    assert (pair["flips"], set(pair["flipped"].values())) == ([], {0})
    assert {each["changed"] for each in pair["changes"]} == {0}


def test_the_same_findings_give_the_same_bytes(planted: Project) -> None:
    for form in ("table", "json"):
        arguments = ("compare", "good", "poor", "--format", form)
        inside, outside = call(planted, *arguments), planted.run(*arguments)
        assert inside.stdout == outside.stdout != ""


def test_scores_are_those_of_the_metrics(project: Project) -> None:
    """Under expectations of every kind the mean over cases equals the estimate of the shipped metric."""
    write_items(project, 12)
    data = {
        "factual": {"data": {"source": "jsonl", "path": "items.jsonl"}, "task": {"scale": {"labels": list(LABELS)}}},
        "coherence": {
            "data": {"source": "examples", "dataset": "coherence", "sample": {"n": 10}},
            "task": {"scale": {"ordinal": [1, 5]}},
        },
    }
    suite = simulated_suite(
        tasks=[{"name": name, **parts} for name, parts in data.items()],
        judges=[
            {"name": "steady", "judge": "simulated", "accuracy": 0.8},
            {"name": "touchy", "judge": "simulated", "accuracy": 0.6, "rerun_noise": 0.2, "format_sensitivity": 0.3},
        ],
        tests=[{"format": {"variants": ["spaces", "trailing"]}}, {"stochastic": {"repeats": 3}}, "label-flip"],
        reference={"repeats": 2},
        metrics=["as-expected", "gold-accuracy", "agreement", "ordinal-errors"],
    )
    del suite["data"], suite["task"]
    write_suite(project, suite)
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0
    pairs = found(project, "run")["pairs"]
    with jrh.open_report(project.path / "run") as report:
        measures = {(each.name, each.judge, each.task, each.test): each for each in report.measures if not each.cell}
    checked = set()
    for each in pairs[0]["rows"]:
        name = each["measure"]
        for judge, value in (("steady", each["first"]), ("touchy", each["second"])):
            measure = measures[name, judge, each["task"], each["test"]]
            if not measure.missing:
                assert value == pytest.approx(measure.estimate), (name, judge, each["task"], each["test"])
                checked.add((name, each["test"]))
    assert {name for name, _ in checked} == {"as-expected", "gold-accuracy", "agreement", "mean-absolute-error"}
    assert {"reference", "format", "label-flip", "stochastic"} <= {test for _, test in checked}


# -- cases: matched, missing, flipped --------------------------------------------------------------------------------


def test_flips_are_counted_all_and_listed_worst_first_as_many_as_were_asked_for(planted: Project) -> None:
    pair = found(planted, "good", "poor", "--flips", "400")["pairs"][0]
    total = sum(pair["flipped"].values())
    assert len(pair["flips"]) == total
    directions = [flip["direction"] for flip in pair["flips"]]
    assert directions == sorted(directions, key=["worse", "moved", "better"].index)
    first = pair["flips"][0]
    assert first["score_after"] - first["score_before"] == min(
        flip["score_after"] - flip["score_before"] for flip in pair["flips"]
    )
    assert re.fullmatch(r"item-\d{3}", first["item"])
    assert set(first["before"]) != set(first["after"])
    fewer = found(planted, "good", "poor", "--flips", "3")["pairs"][0]
    assert fewer["flips"] == pair["flips"][:3]
    assert fewer["flipped"] == pair["flipped"]
    assert f"{total} cases with a different verdict" in compare(planted, "good", "poor", "--flips", "3").stdout


def test_missing_verdicts_are_counted_beside_and_never_scored(project: Project) -> None:
    import_judges(project.path / "a", {"mini": right_with(1.0, missing=0.2)}, items=60)
    import_judges(project.path / "b", {"mini": right_with(1.0, seed="b", missing=0.1)}, items=60)
    document = found(project, "a", "b")
    missing = row(document, "gold-accuracy")
    assert (missing["first"], missing["second"], missing["difference"]) == (1.0, 1.0, 0.0)
    one, two = missing["missing_first"]["unparsable"], missing["missing_second"]["unparsable"]
    told = f"Trials of these cases without a verdict: before unparsable {one}; after unparsable {two}."
    assert told in compare(project, "a", "b").stdout
    assert max(one, two) <= missing["unpaired"] <= one + two
    assert missing["unpaired"] == 60 - missing["cases"] == document["pairs"][0]["missing_cases"] > 0


def test_runs_without_any_verdict_are_compared_to_nothing_and_say_so(project: Project) -> None:
    for name in ("a", "b"):
        import_judges(project.path / name, {"mini": right_with(1.0, missing=1.1)}, items=5)
    nothing = row(found(project, "a", "b", "--margin", "0.1", code=3), "as-expected")
    assert (nothing["difference"], nothing["answer"], nothing["equivalence"]) == (
        None,
        "nothing to compare",
        "undecided",
    )
    done = compare(project, "a", "b", code=3)
    assert "not estimable" in done.stdout
    assert "no case has a score on both sides" in done.stderr


def test_another_scale_is_said_with_the_verdict(project: Project) -> None:
    """A 5 of 1 to 5 and a 5 of 1 to 7 are the same label, and not the same level."""
    for name, scale in (("five", jrh.Scale.of_levels(1, 5)), ("seven", jrh.Scale.of_levels(1, 7))):
        rated = evolve(YES_NO, scale=scale)
        levels = dict.fromkeys(("mini", "other"), lambda test, gold, number: str(1 + number % 5))
        import_judges(project.path / name, levels, items=20, task=rated, gold="3", expected="3")
    said = "The scales differ (1, 2, 3, 4, 5; 1, 2, 3, 4, 5, 6, 7): the same label may mean another level."
    assert said in compare(project, "five:mini", "seven:mini").stdout
    assert found(project, "five:mini", "seven:mini")["pairs"][0]["verdict"].endswith(said)
    assert "The scales differ" not in compare(project, "five:mini", "five:other").stdout


def test_cases_that_one_side_alone_has_are_counted_by_test(project: Project) -> None:
    mine = {"mini": right_with(0.9), "large": right_with(0.9)}
    import_judges(project.path / "a", mine, items=30, tests={"reference": 1, "format": 1})
    theirs = {"mini": right_with(0.9), "small": right_with(0.9)}
    import_judges(project.path / "b", theirs, items=20, tests={"reference": 1, "order": 1})
    document = found(project, "a:mini", "b:mini")
    # One note for all runs.
    assert document["notes"] == ["judges that were not compared: large (in 'a'); small (in 'b')"]
    matching = document["pairs"][0]["matching"]
    assert matching["by_id"] == 20
    assert matching["only_first"] == {"format": 30, "reference": 10}
    assert matching["only_second"] == {"order": 20}


def test_cases_of_another_task_name_are_matched_by_their_place(project: Project) -> None:
    import_judges(project.path / "a", {"mini": right_with(0.9)}, items=30, tests={"reference": 1, "format": 2})
    renamed = jrh.Task(name="renamed", instruction="Another.", scale=YES_NO.scale)
    import_judges(
        project.path / "b", {"mini": right_with(0.9)}, items=30, tests={"reference": 1, "format": 2}, task=renamed
    )
    pair = found(project, "a", "b")["pairs"][0]
    assert (
        "60 cases on both sides, paired: 60 by item and variant.\nTheir text is not stored"
        in project.run("compare", "a", "b").stdout
    )
    assert (pair["matching"]["by_id"], pair["matching"]["by_place"]) == (0, 60)
    assert {each["answer"] for each in pair["rows"]} == {"identical"}
    assert {(cause["kind"], cause["what"]) for cause in pair["causes"]} == {("task", "trial: instruction")}


def test_items_are_compared_whatever_their_ids_and_labels_are_called(project: Project) -> None:
    texts = [f"This is answer number {place:02}." for place in range(20)]
    # Rows without an id are numbered: one row more at the top gives every other row the number of another.
    for name, labels, rows in (("a", LABELS, texts), ("b", ("right", "wrong"), ["This one is new.", *texts])):
        items = [
            {"id": f"row-{number}", "response": text, "label": labels[texts.index(text) % 2 if text in texts else 0]}
            for number, text in enumerate(rows)
        ]
        project.write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items))
        task = {"instruction": "Is it right?", "scale": {"labels": list(labels)}}
        suite = simulated_suite(task=task, tests=[{"format": {"variants": ["spaces"]}}], reports=["json"])
        write_suite(project, suite)
        assert project.run("run", "suite.yaml", "--run-dir", name, "--no-cache").exit_code == 0
    matching = found(project, "a", "b")["pairs"][0]["matching"]
    assert (matching["by_place"], matching["other_ids"]) == (40, 20)
    assert (matching["gold_changed"], matching["only_first"]) == (0, {})
    assert matching["only_second"] == {"format": 1, "reference": 1}
    assert matching["labels"] == {"right": "YES", "wrong": "NO"}
    shown = re.sub(r"\s+", " ", project.run("compare", "a", "b").stdout)
    assert "20 items with the same text and another id: paired by text." in shown
    assert (
        "Labels have other names in b (simulated), and are shown as in a (simulated): right = YES, wrong = NO." in shown
    )


def test_no_case_in_common_ends_with_3(project: Project) -> None:
    import_judges(project.path / "a", {"mini": right_with(0.9)}, items=4, tests={"reference": 1})
    import_judges(project.path / "b", {"mini": right_with(0.9)}, items=4, tests={"order": 1})
    done = project.run("compare", "a", "b")
    assert done.exit_code == 3
    assert "the sides have no cases in common; nothing was compared" in done.stderr
    assert found(project, "a", "b", code=3)["pairs"][0]["rows"] == []


def test_one_judge_on_one_item_is_compared_and_decides_nothing(project: Project) -> None:
    for name, accuracy in (("a", 1.0), ("b", 0.0)):
        import_judges(project.path / name, {"mini": right_with(accuracy)}, items=1, cost=0.001)
    alone = row(found(project, "a", "b", "--margin", "0.1"), "as-expected")
    assert (alone["difference"], alone["items"], alone["p"]) == (-1.0, 1, 1.0)
    assert (alone["answer"], alone["equivalence"]) == ("no difference shown", "undecided")


# -- judges, cost, causes --------------------------------------------------------------------------------------------


def test_the_judges_of_one_run_are_compared_with_the_first_and_simulated_ones_are_marked(project: Project) -> None:
    answers = {"one": right_with(0.9), "two": right_with(0.6, seed=2), "three": right_with(0.8, seed=3)}
    import_judges(project.path / "run", answers, items=40, simulated=True)
    every = found(project, "run")
    assert [pair["second"]["judge"] for pair in every["pairs"]] == ["two", "three"]
    some = found(project, "run", "--judge", "three", "--judge", "two")
    named = found(project, "run:three", "run:two")
    assert some == named
    assert (named["pairs"][0]["first"]["judge"], named["pairs"][0]["second"]["judge"]) == ("three", "two")
    assert compare(project, "run:three", "run:two").stdout.startswith("== three (simulated) -> two (simulated) ==\n")
