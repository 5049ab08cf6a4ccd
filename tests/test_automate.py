"""`jrh automate` through the command: the answer from tables and runs, its refusals, and the guarantee."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from jrh_decide.automate import Measured, choose_threshold, search_threshold
from jrh_decide.cascade import Judged, any_decision, choose_cascade, search_cascade
from jrh_decide.cascade_text import cascade_text
from jrh_decide.decisions import Basis, Decisions
from jrh_measuring import Coded
from jrh_stats import binomial_limits
from jrh_testing import Inside, Project, loop_over
from support import schemas
from support.suites import simulated_suite, write_items, write_suite
from xlsxwriter import Workbook

pytestmark = pytest.mark.inside
ROOT = Path(__file__).resolve().parents[1]

COLUMNS = ("id", "human", "judge", "p", "topic")
STATED = ("--judge", "judge", "--human", "human", "--confidence", "p")
Rows = Sequence[Sequence[object]]


def write_table(project: Project, rows: Rows, columns: Sequence[str] = COLUMNS, name: str = "table.csv") -> None:
    project.write(name, "\n".join(",".join(map(str, row)) for row in (columns, *rows)) + "\n")


def labelled(number: int, wrong: int, *, sure: float = 0.9, topic: str = "all") -> list[list[object]]:
    """Return rows of a judge that is sure, and wrong on the first ones."""
    human = ["YES" if at % 2 else "NO" for at in range(number)]
    other = {"YES": "NO", "NO": "YES"}
    return [[f"{topic}{at}", human[at], other[human[at]] if at < wrong else human[at], sure, topic]
            for at in range(number)]  # fmt: skip


def test_the_first_line_counts_and_json_has_the_same_numbers(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_table(project, [*labelled(200, 0), *labelled(100, 50, sure=0.4, topic="hard"), ["x", "YES", "", 0.9, "all"]])
    text = project.run("automate", "table.csv", *STATED, "--by", "topic")
    found = json.loads(project.run("automate", "table.csv", *STATED, "--by", "topic", "--format", "json").output)
    schemas.validate(found, "automation")
    issued = found["issued"]
    assert text.exit_code == 0
    assert found["sentence"] == text.output.splitlines()[0] == (
        "The judge may decide 200 of 301 items alone (stated probability at least 0.9): of the "
        f"{issued['wrong']['of']} held-out ones none was wrong, at most 5% with 95% confidence."
    )  # fmt: skip
    assert issued["wrong"]["high"] == pytest.approx(binomial_limits(0, issued["wrong"]["of"], alpha=0.05)[1])
    assert "no verdict 1" in text.output
    assert found["basis"]["reasons"] == {"no verdict": 1}
    assert "Worst segment of 1: all, 0 of " in text.output
    words = text.output.split()
    for threshold in found["curve"]:
        for share in (threshold["decided"], threshold["wrong"]):
            assert f"{share['count']:,}" in words
            assert f"[{share['low']:.3f}," in text.output or not share["low"]
    assert text.output.splitlines()[-1].startswith("Next: jrh check table.csv ")


def test_items_without_a_group_share_nothing(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    rows = [[*row[:4], "" if at % 2 else "shared"] for at, row in enumerate(labelled(100, 0))]
    write_table(project, rows)
    text = project.run("automate", "table.csv", *STATED, "--group", "topic", "--format", "json").output
    assert json.loads(text)["clusters"] == 51


def test_none_says_how_many_labels_it_takes_and_the_next_command_issues_a_threshold(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_table(project, labelled(60, 0))
    text = project.run("automate", "table.csv", *STATED).output
    assert text.startswith("None: no threshold is shown to keep the judge below 5% wrong decisions.")
    assert "at most 9.6% with 95% confidence. About 210 more labelled items would do" in text
    assert "An error chosen after this answer is promised for what was tested first alone" in text
    words = text.splitlines()[-1].removeprefix("Next: jrh ").split()
    assert words[-2:] == ["--error", "0.1"]
    assert project.run(*words).output.startswith("The judge may decide 60 of 60 items alone")
    # A judge that errs too often at every threshold.
    write_table(project, labelled(100, 40))
    assert "More labels alone would not help" in project.run("automate", "table.csv", *STATED).output


def test_people_who_differ_are_the_ceiling_and_divided_ones_count_as_wrong(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    rows = [[at, "AB"[at % 2], "AB"[at % 2] if at % 5 else "BA"[at % 2], "AB"[at % 2], 0.9] for at in range(100)]
    write_table(project, rows, ("id", "ann", "bob", "judge", "p"))
    command = ("automate", "table.csv", "--judge", "judge", "--human", "ann", "--human", "bob", "--confidence", "p")
    text = project.run(*command)
    assert text.exit_code == 0, text.output
    assert "The labels are the ceiling: most other people contradict a person on 40 of 200 labels" in text.output
    found = json.loads(project.run(*command, "--format", "json").output)
    assert found["basis"]["contested"] == 20
    assert 0 < found["first"]["wrong"]["count"] <= 20


def test_a_panel_and_repeats_decide_by_their_majority(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    rows = [[at, "AB"[at % 2], "AB"[at % 2], "A", "AB"[at % 2]] for at in range(80)]
    write_table(project, rows, ("id", "human", "x", "y", "z"))
    panel = ("--judge", "x", "--judge", "y", "--judge", "z", "--human", "human", "--error", "0.1")
    assert project.run("automate", "table.csv", *panel).output.startswith(
        "The panel may decide 80 of 80 items alone (agreement of the panel at least 2 of 3): of the 40 held-out ones"
    )
    # Four verdicts of an item: one is missing and agrees with nothing, or two say either.
    times = [[at, "AB"[at % 2], ["AB"[at % 2]] * 3 + [""] if at < 80 else [*"AABB"]] for at in range(90)]
    write_table(project, [[at, human, text] for at, human, texts in times for text in texts], ("id", "human", "judge"))
    text = project.run("automate", "table.csv", *STATED[:4], "--item", "id", "--error", "0.1").output
    assert "may decide 80 of 90 items alone (agreement of repeats at least 3 of 4)" in text
    assert "tied verdicts 10" in text


def test_a_segment_that_is_sure_and_wrong_is_named(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_table(project, [*labelled(900, 0), *labelled(40, 20, topic="[red]tax")])
    text = project.run("automate", "table.csv", *STATED, "--by", "topic").output
    assert "Worst segment of 2: [red]tax, " in text
    assert "corrected for 2 segments (Bonferroni); the promise is for the mix of segments, and broken here." in text


@loop_over(
    "rows, more, said",
    [
        ([["1", "YES", "YES", 0.9, ""]] * 3, (), "all 3 labels are 'YES'"),
        ([["1", "", "YES", 0.9, ""]], (), "no item has a label of people"),
        (labelled(9, 1, sure=90), (), "9 confidences outside 0 to 1, such as 90; divide percentages by 100"),
        (labelled(9, 1), ("--by", "topik"), "there is no column 'topik' (--by); did you mean 'topic'?"),
        ([["1", "YES", "ja", 0.9, ""], ["2", "NO", "nein", 0.9, ""]], (), "no label in common: people use 'YES', 'NO'"),
        (
            [["1", "YES", "YES", "high", ""]],
            (),
            "column 'p' is not a probability: could not convert",
        ),
        ([["1", "YES", "YES", 1, ""], ["1", "NO", "YES", 1, ""]], ("--item", "id"), "item '1' has another label"),
        (
            [["", "YES", "YES", 1, ""], [" ", "YES", "YES", 1, ""], ["2", "NO", "NO", 1, ""]],
            ("--item", "id"),
            "table.csv:2: 2 rows without an item in 'id'",
        ),
        ([["1", "YES", "YES", 1, ""], ["2", "NO", "", 1, ""]], (), "1 cluster with a label and a decision"),
        (labelled(9, 1), ("--judge", "topic"), "--confidence belongs to one judge"),
    ],
)
def test_bad_input_is_one_message(tmp_path: Any, rows: Rows, more: tuple[str, ...], said: str) -> None:
    project = Inside(tmp_path)
    write_table(project, rows)
    refused = project.run("automate", "table.csv", *STATED, *more)
    assert refused.exit_code == 2
    assert said in refused.output


def test_a_table_without_any_confidence_is_refused_with_the_ways_to_have_one(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_table(project, labelled(20, 2))
    assert "nothing tells how sure the judge is" in project.run("automate", "table.csv", *STATED[:4]).output
    assert "is a table; name its columns" in project.run("automate", "table.csv").output
    # Advice that a cascade refuses would send its reader in a circle.
    cascade = ("automate", "table.csv", *STATED[2:4], "--cascade", f"{STATED[1]},topic")
    assert "tells how sure each judge is: name the item with --item" in project.run(*cascade).output
    assert "agreement of each judge's repeats (--item)" in project.run(*cascade, "--confidence", "p").output


def test_a_run_answers_from_its_repeats_or_its_panel(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_items(project, 60)
    judges = [{"name": name, "judge": "simulated", "accuracy": 0.95, "rerun_noise": 0.1} for name in ("a", "b")]
    write_suite(project, {**simulated_suite(judges=judges, tests=[], reports=["json"]), "reference": {"repeats": 3}})
    project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    one = json.loads(project.run("automate", "run", "--judge", "a", "--error", "0.3", "--format", "json").output)
    assert (one["basis"]["kind"], one["basis"]["votes"], one["items"]) == ("repeats", 3, 60)
    assert one["basis"]["simulated"] == ["a"]
    both = project.run("automate", "run", "--judge", "a", "--judge", "b", "--error", "0.3")
    assert both.output.startswith("The panel may decide ")
    assert both.output.splitlines()[-1] == "Next: jrh view run"
    for words, said in (
        ((), "the run has the judges 'a', 'b'; pass --judge for one"),
        (("--judge", "c"), "the run has no judge 'c'"),
        (("--judge", "a", "--by", "mood"), "there is no column 'mood' (--by)"),
        (("--judge", "a", "--confidence", "probability"), "the run has no confidence for any verdict"),
        (("--judge", "a", "--item", "id"), "--item, --group and --missing belong to a table"),
    ):
        refused = project.run("automate", "run", *words)
        assert refused.exit_code == 2
        assert said in refused.output


def planted(number: int, chance: float, seed: int, *, shared: int = 1) -> Decisions:
    draw = random.Random(seed)
    luck = [draw.random() < chance for _ in range(number // shared)]
    wrong = np.array([float(luck[at // shared]) for at in range(number)])
    confidence = np.array([draw.choice((0.6, 0.8, 1.0)) for _ in range(number)])
    names = [f"c{at}" for at in range(number)]
    return Decisions(
        basis=Basis(judges=("j",), kind="stated"), confidence=confidence, wrong=wrong,
        cluster=Coded(codes=np.arange(number) // shared, names=names),
    )  # fmt: skip


def test_equal_confidences_and_clusters_stay_whole() -> None:
    decisions = planted(80, 0.1, 1, shared=4)
    measured = Measured(decisions=decisions, alpha=0.05)
    held_out = measured.held_out(1)
    for cluster in range(20):
        assert len(set(held_out[decisions.cluster.codes == cluster].tolist())) == 1
    assert held_out.sum() == 40
    assert (measured.held_out(2) != held_out).any()
    found = choose_threshold(decisions, error=0.5, alpha=0.05, seed=1)
    assert [threshold.at for threshold in found.curve] == [1.0, 0.8, 0.6]
    assert found.curve[-1].decided.count == 80
    # Four equal items say as much as one.
    assert found.curve[-1].wrong.high is not None
    assert found.curve[-1].wrong.high > binomial_limits(found.curve[-1].wrong.count, 40, alpha=0.05)[1]


def test_a_judge_that_errs_more_often_than_promised_is_seldom_issued_a_threshold() -> None:
    broken = 0
    for study in range(100):
        measured = Measured(decisions=planted(160, 0.21, study), alpha=0.05)
        broken += search_threshold(measured, measured.held_out(1), 0.2)[2] is not None
    # 5 are allowed on average; more than 11 would come up once in 200 tries.
    assert broken <= 11


def test_a_cascade_asks_the_dear_judge_where_the_cheap_one_is_not_sure_and_people_last(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    write_items(project, 120)
    judges = [
        {"name": "mini", "judge": "simulated", "accuracy": 0.98, "rerun_noise": 0.5, "cost": 0.0002},
        {"name": "maxi", "judge": "simulated", "rerun_noise": 0.05, "cost": 0.004, "refusals": 0.1},
        {"name": "mute", "judge": "simulated", "refusals": 1.0},
    ]
    write_suite(project, {**simulated_suite(judges=judges, tests=[], reports=["json"]), "reference": {"repeats": 5}})
    project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    words = ("automate", "run", "--cascade", "mini,maxi", "--error", "0.12")
    text, found = project.run(*words).output, json.loads(project.run(*words, "--format", "json").output)
    schemas.validate(found, "cascade")
    cheap, dear = found["stages"]
    assert text.startswith(found["sentence"].partition(":")[0])
    assert cheap["reached"] == 120
    assert cheap["decided"]["count"] > 60
    assert dear["reached"] == 120 - cheap["decided"]["count"]
    assert found["left"] == dear["reached"] - dear["decided"]["count"]
    assert found["decided"]["count"] == cheap["decided"]["count"] + dear["decided"]["count"]
    # Five verdicts of each; refused calls are charged by this judge.
    assert cheap["per_thousand"] == pytest.approx(1.0)
    assert found["per_thousand"] == pytest.approx(1.0 + dear["per_thousand"] * dear["reached"] / 120)
    sides = {side["name"]: side for side in found["plane"]}
    assert sides["cascade"]["correct"]["of"] == found["held_out"] == 60
    assert sides["mini"]["per_thousand"] < sides["cascade"]["per_thousand"] < sides["maxi"]["per_thousand"]
    assert f"{found['left']:,} go to people: of the {found['wrong']['of']:,} held-out ones" in text
    assert text.splitlines()[-1] == "Next: jrh view run"
    # A judge without a verdict passes every item on; as the last one, to people.
    last = json.loads(
        project.run("automate", "run", "--cascade", "mute,mini", "--error", "0.2", "--format", "json").output
    )
    assert last["stages"][0]["decided"]["count"] == 0
    assert last["stages"][1]["reached"] == 120
    assert last["bases"][0]["reasons"] == {"no verdict": 120}
    none = project.run("automate", "run", "--cascade", "mini,maxi", "--error", "0.01").output
    assert none.startswith("None: no thresholds are shown to keep 'mini' then 'maxi' below 1% wrong decisions.")
    assert none.splitlines()[-1].startswith("Next: jrh automate run --cascade mini,maxi --error 0.")
    for more, said in (
        ((*words[:3], "mini,nobody"), "no judge 'nobody'"),
        ((*words[:3], "mini,maxi,mini"), "judge 'mini' is named twice"),
        ((*words[:3], "mute"), "0 clusters with a label and a decision (items without a decision: no verdict 120)"),
        ((*words, "--judge", "mini"), "leave --judge out"),
        ((*words[:3], " ,"), "--cascade names the judges"),
        ((*words[:3], 'mini, "a, b"'), "no judge 'a, b'"),
    ):
        refused = project.run(*more)
        assert refused.exit_code == 2
        assert said in refused.output


def test_a_simulated_judge_in_the_middle_of_a_cascade_is_named() -> None:
    judges = [Judged(decisions=planted(80, 0.1, seed), cost=np.zeros(80)) for seed in (1, 2, 3)]
    found = choose_cascade(judges, error=0.2, alpha=0.05, seed=1)
    one, two, three = found.bases
    text = cascade_text(evolve(found, bases=(one, evolve(two, simulated=("made-up",)), three)))
    assert "Simulated judges: made-up." in text


def test_a_cascade_of_a_table_has_no_price_and_a_broken_one_is_seldom_issued(tmp_path: Any) -> None:
    project = Inside(tmp_path)
    rows = [
        [at, "AB"[at % 2], "AB"[(at + (vote == at % 3)) % 2], "AB"[at % 2]] for at in range(60) for vote in range(2)
    ]
    write_table(project, rows, ("id", "human", "x", "y"))
    words = ("automate", "table.csv", "--cascade", "x,y", "--human", "human", "--item", "id", "--error", "0.2")
    done = project.run(*words)
    following = done.output.splitlines()[-1].removeprefix("Next: jrh ").split()
    assert following == ["check", "table.csv", "--item", "id", "--judge", "y", "--human", "human", "--reruns"]
    assert project.run(*following).exit_code == done.exit_code == 0
    assert done.output.startswith(
        "'x' then 'y' may decide 60 of 60 items alone (20, 40), and 0 go to people: of the 30 held-out ones none was "
        "wrong, at most 20% with 95% confidence; price unknown."
    )
    with Workbook(str(project.path / "table.xlsx")) as book:
        sheet = book.add_worksheet()
        for at, cells in enumerate([("id", "human", "x", "y"), *rows]):
            sheet.write_row(at, 0, cells)
    assert project.run(words[0], "table.xlsx", *words[2:], "--format", "json").stdout == (
        project.run(*words, "--format", "json").stdout
    )
    issued = 0
    for study in range(60):
        stages = [planted(160, 0.21, study)] * 2
        tested = any_decision(stages, 0.05).held_out(1)
        issued += search_cascade(stages, tested, error=0.2, alpha=0.05)[1] is not None
    # 3 are allowed on average; more than 8 would come up once in 200 tries.
    assert issued <= 8
