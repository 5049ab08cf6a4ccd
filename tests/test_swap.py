"""`jrh swap` through the command: its four answers, what moved, the marks, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jrh_testing import Inside, Project
from support import schemas
from support.suites import simulated_suite, write_items, write_suite

pytestmark = pytest.mark.inside
ROOT = Path(__file__).resolve().parents[1]

JUDGES = [
    {"name": "old", "judge": "simulated", "accuracy": 0.9},
    {"name": "twin", "judge": "simulated", "accuracy": 1.0},
    {"name": "poor", "judge": "simulated", "accuracy": 0.6},
    {"name": "silent", "judge": "simulated", "accuracy": 0.9, "refusals": 0.3},
]


def planted(project: Project, run: str = "run", items: int = 120, **suite: Any) -> None:
    """Run four judges on the same items: one better, one worse, one that often gives no verdict."""
    write_items(project, items)
    write_suite(project, simulated_suite(judges=JUDGES, tests=[], reports=["json"]) | suite)
    done = project.run("run", "suite.yaml", "--run-dir", run, "--yes")
    assert done.exit_code in (0, 3), done.output


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Inside(tmp_path_factory.mktemp("swap"))
    planted(project)
    return project


def answer(project: Project, *words: str) -> Any:
    done = project.run("swap", *words, "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    schemas.validate(found, "swap")
    return found


def swapped(project: Project, old: str, new: str, *words: str) -> Any:
    return answer(project, "run", "--old", old, "--new", new, *words)


def test_the_answer_is_one_of_four(project: Project) -> None:
    assert swapped(project, "old", "poor")["answer"] == "worse"
    assert swapped(project, "poor", "twin")["answer"] == "better"
    wide = swapped(project, "old", "twin", "--margin", "0.4")
    assert wide["answer"] == "equivalent"
    narrow = swapped(project, "old", "silent", "--margin", "0.01")
    assert narrow["answer"] in ("worse", "too few items")


def test_without_labels_two_judges_that_never_move_are_not_equal(tmp_path: Path) -> None:
    """Both are as expected in a test of layout, and give different verdicts on the same items."""
    project = Inside(tmp_path)
    rows = "".join(f"i{n},question {n},The answer is {n}. It follows from the question.\n" for n in range(200))
    project.write("items.csv", "id,request,response\n" + rows)
    judges = [{"name": name, "judge": "simulated", "accuracy": 0.9} for name in ("old", "new")]
    data = {"source": "csv", "path": "items.csv"}
    suite = simulated_suite(judges=judges, tests=[{"format": {"variants": ["blank-lines"]}}], reports=["json"])
    write_suite(project, suite | {"data": data})
    assert project.run("run", "suite.yaml", "--run-dir", "run", "--yes").exit_code == 0
    found = swapped(project, "old", "new")
    assert not found["labelled"]
    assert found["answer"] == "too few items"
    assert found["sentence"].startswith("Open: no labels say which judge is right. 'new' keeps the old verdict in ")
    shown = {(row["test"], row["about"]): row["answer"] for row in found["rows"]}
    assert shown["format", "as expected"] == "equivalent"
    assert (
        shown["reference", "same verdict as before"] == shown["format", "same verdict as before"] == "verdicts change"
    )


def test_a_missing_verdict_is_no_wrong_one(project: Project) -> None:
    found = swapped(project, "old", "silent")
    (agreement,) = [row for row in found["rows"] if row["about"] == "agrees with people"]
    (given,) = [row for row in found["rows"] if row["about"] == "verdict given"]
    assert agreement["answer"] != "worse"
    assert agreement["unpaired"] > 0
    assert given["answer"] == found["answer"] == "worse"
    assert found["bills"][0]["missing"] == {}
    assert sum(found["bills"][1]["missing"].values()) > 0


def test_the_text_says_what_the_document_says(project: Project) -> None:
    found, text = swapped(project, "old", "poor"), project.run("swap", "run", "--old", "old", "--new", "poor").stdout
    assert text.splitlines()[0] == found["sentence"]
    assert found["sentence"].startswith("No: 'poor' is worse")
    (row,) = [row for row in found["rows"] if row["about"] == "agrees with people"]
    assert f"on {row['after'] * row['cases']:g} of {row['cases']} cases" in found["sentence"]
    assert f"{found['agreement'][0]['changed']} of {found['agreement'][0]['trials']} verdicts change" in " ".join(
        text.split()
    )
    assert found["flips"][0]["direction"] == "worse"
    assert "Next: jrh view run" in text


def test_which_judges_are_meant_has_to_be_said(project: Project) -> None:
    refused = project.run("swap", "run")
    assert refused.exit_code == 2
    assert "old, twin, poor, silent" in refused.output
    assert project.run("swap", "run", "--old", "old", "--new", "nobody").exit_code == 2
    assert project.run("swap", "run", "--old", "old", "--new", "old").exit_code == 2


def test_a_changed_response_is_left_out_and_named(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    planted(project, "first", 40)
    rows = [json.loads(line) for line in project.read("items.jsonl").splitlines()]
    for row in rows[:10]:
        row["response"] += " And more."
    project.write("items.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    done = project.run("run", "suite.yaml", "--run-dir", "second", "--yes")
    assert done.exit_code in (0, 3), done.output
    found = answer(project, "first", "second", "--old", "old", "--new", "old")
    moved = {part["what"]: part["before"] != part["after"] for part in found["moved"]}
    moved_parts = [part for part, differs in moved.items() if differs]
    assert moved_parts == ["responses"]
    assert list(moved) == ["judge", "items", "responses", "prompts and scales", "tests"]
    assert {part["what"]: part["changed"] for part in found["moved"]}["responses"] == found["other_text"] == 10
    assert all(row["cases"] == 30 for row in found["rows"])


def test_a_baseline_without_a_fingerprint_is_refused(project: Project) -> None:
    rows = "".join(f"i{place},{'YES' if place % 2 else 'NO'},YES\n" for place in range(30))
    project.write("verdicts.csv", f"id,human,judge\n{rows}")
    project.run("check", "verdicts.csv", "--judge", "judge", "--human", "human", "--write-import", "import.yaml")
    done = project.run("import", "import.yaml", "--run-dir", "stored")
    assert done.exit_code == 0, done.output
    refused = project.run("swap", "stored", "run", "--new", "old")
    assert refused.exit_code == 2
    assert "no fingerprint" in refused.output


def test_an_ordinal_mark_and_a_share_are_translated(tmp_path: Path, project: Project) -> None:
    (share,) = swapped(project, "old", "poor", "--mark", "0.6")["marks"]
    (mark,) = share["marks"]
    assert share["kind"] == "share"
    assert mark["low"] <= mark["after"] <= mark["high"]
    # A judge that is right less often passes a share closer to one half.
    assert 0.45 < mark["after"] < 0.6


def test_counts_are_written_in_full() -> None:
    from jrh_decide.swap_text import format_part

    assert [format_part(*each) for each in ((0.83675, 20_000), (0.5, 103), (1.0, 7), (1 / 3, 3))] == [
        "16,735", "51.5", "7", "1",
    ]  # fmt: skip


def test_levels_that_were_renamed_are_translated_as_those_of_the_old_run(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    for name, levels in (("a", ["1", "2", "3"]), ("b", ["poor", "fair", "good"])):
        items = [{"id": f"i{at}", "response": f"Answer {at}.", "label": levels[at % 3]} for at in range(30)]
        project.write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items))
        task = {"instruction": "How good is it?", "scale": {"ordinal": levels}}
        judges = [{"name": "sim", "judge": "simulated", "accuracy": 0.9}]
        write_suite(project, simulated_suite(task=task, judges=judges, tests=[], reports=["json"]))
        assert project.run("run", "suite.yaml", "--run-dir", name, "--no-cache").exit_code == 0
    found = answer(project, "a", "b")
    assert found["matching"]["labels"] == {"poor": "1", "fair": "2", "good": "3"}
    assert found["marks"][0]["labels"] == [["1", "2", "3"]] * 2
