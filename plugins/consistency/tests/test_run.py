"""Whole runs of planted judges: one is consistent, one prefers in circles, one scores against its preferences."""

from __future__ import annotations

import json
import random

import jrh_consistency.plugin
import pytest
import yaml
from jrh import JrhError, Mode, Scale
from jrh_testing import Inside, build, sample_task

pytestmark = pytest.mark.inside
ORDERS = ["A>B>C", "A>C>B", "B>A>C", "B>C>A", "C>A>B", "C>B>A"]
REQUESTS, RESPONSES = 30, 5


def rows():
    chance = random.Random(3)
    for q in range(REQUESTS):
        for r, score in enumerate(chance.sample(range(1, 7), RESPONSES)):
            about = {"request_id": f"q{q:02d}", "response_id": f"r{r}", "request": f"Question {q}?", "score": score}
            yield {**about, "response": f"Answer {r} to {q}.", "reference": f"Answer 9 to {q}." if q else ""}


def written(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def suite_of(**more):
    data = {"source": "response-sets", "path": "sets.jsonl", "most": 5}
    suite = {
        "name": "own",
        "tasks": [
            {"name": "scores", "data": data, "task": {"scale": {"ordinal": [1, 6]}}, "tests": ["reference-guided"]},
            {
                "name": "pairs",
                "data": data,
                "task": {"mode": "pairwise", "scale": {"pairwise": True}},
                "tests": ["option-order"],
            },
            {"name": "order", "data": data, "task": {"scale": {"labels": ORDERS}}},
        ],
        "metrics": ["transitivity", "pointwise-pairwise", "listwise-pairwise", "score-ranking", "flip-rate"],
        "reports": ["json", "terminal"],
    }
    return yaml.safe_dump({**suite, **more})


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    project = Inside(tmp_path_factory.mktemp("own"))
    project.write("sets.jsonl", written(rows()))
    judges = [
        {"judge": "simulated", "name": "clean", "rerun_noise": 0.03},
        {"judge": "simulated", "name": "circles", "circular": 0.8},
        {"judge": "simulated", "name": "contrary", "contrary": 0.5},
        {"judge": "simulated", "name": "mute", "abstentions": 1.0},
    ]
    project.write("suite.yaml", suite_of(judges=judges))
    done = project.run("run", "suite.yaml", "--yes")
    assert done.exit_code in (0, 3), done.output
    return json.loads(project.read("runs/own/report.json")), done


def of(report, name, judge, **cell):
    (found,) = [m for m in report["measures"] if (m["name"], m["judge"], m["cell"]) == (name, judge, cell)]
    return found


def kinds(report, judge):
    own = ("cycles", "transitive", "pairwise", "ranking")
    return {f["kind"]: f for f in report["findings"] if f["judge"] == judge and any(part in f["kind"] for part in own)}


def test_circles_are_found_and_told_with_interval_n_and_what_noise_explains(ran):
    report, done = ran
    share = of(report, "cycle-share", "circles")
    assert (share["n_clusters"], share["n_items"]) == (REQUESTS, REQUESTS * 10)
    # 80% of the requests follow a circle on which a quarter of all triples are cycles; judges draw by hash.
    assert share["estimate"] == pytest.approx(0.2, abs=0.1)
    sentence = kinds(report, "circles")["preference-cycles"]["sentence"]
    assert sentence.startswith("Preferences run in circles more often than noise explains (share of triples): 0.")
    assert "by noise at most 0.00, n = 300 items in 30 clusters" in sentence
    assert "Preferences run in circles more often than noise explains" in " ".join(done.stdout.split())


def test_scores_against_preferences_are_found_in_both_comparisons(ran):
    report, _ = ran
    assert {"pointwise-pairwise-conflict", "score-ranking-conflict"} <= set(kinds(report, "contrary"))
    assert of(report, "pointwise-pairwise", "contrary", **{"compared-with": "scores"})["estimate"] < 0.8


def test_a_consistent_judge_is_acquitted(ran):
    report, _ = ran
    assert not [f for f in kinds(report, "clean").values() if f["severity"] == "bad"]
    # Gold labels of all three tasks say the same, so a judge that is right agrees with itself.
    found = of(report, "pointwise-pairwise", "clean", **{"compared-with": "scores"})
    assert found["estimate"] > 0.9
    assert of(report, "listwise-pairwise", "clean", **{"compared-with": "order"})["estimate"] > 0.85


def test_verdicts_that_never_came_are_counted(ran):
    report, _ = ran
    mute = of(report, "cycle-share", "mute")
    assert (mute["estimate"], mute["missing"]) == (None, {"abstained": 900})
    assert mute["note"] == "300 triples, each without a verdict on a pair"
    assert of(report, "pointwise-pairwise", "mute", **{"compared-with": "scores"})["missing"] == {"abstained": 1200}
    assert not kinds(report, "mute")


def test_the_reference_answer_is_shown_in_the_rubric_of_that_test_only(ran):
    report, _ = ran
    measured = [m for m in report["measures"] if m["name"] == "flip-rate" and m["test"] == "reference-guided"]
    assert {m["n_items"] for m in measured if m["judge"] == "clean"} == {(REQUESTS - 1) * RESPONSES}


def test_the_plan_says_which_requests_are_sampled_or_left_out(tmp_path):
    """A thousand responses would make 499,500 pairs."""
    project = Inside(tmp_path)
    many = [{"request_id": "q", "response_id": str(n), "response": f"Text {n}"} for n in range(1000)]
    few = [{"request_id": "alone", "response_id": "1", "response": "One"}]
    twice = [{"request_id": "twice", "response_id": n, "response": "Same  text"} for n in "abc"]
    project.write("sets.jsonl", written([*many, *few, *twice]))
    project.write("suite.yaml", suite_of(judges=[{"judge": "simulated", "name": "j"}]))
    done = project.run("plan", "suite.yaml")
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "Data of task 'pairs': 1 of 3 requests have more than 5 responses, up to 1,000. A random 5 of each" in said
    assert "Data of task 'order': 2 of 3 requests have fewer than 3 different responses and are left out." in said
    assert "Data of task 'scores': 2 responses left out: same text as another response to the request." in said


def test_every_task_takes_the_same_requests_and_responses(tmp_path):
    (tmp_path / "sets.jsonl").write_text(written(rows()), encoding="utf-8")
    seen = []
    for task in (sample_task(Mode.POINTWISE, Scale.of_levels(1, 6)), sample_task(Mode.PAIRWISE, Scale.of_pairs())):
        options = {"path": tmp_path / "sets.jsonl", "requests": 3, "most": 3, "seed": 5}
        items = list(build(jrh_consistency.plugin, "response-sets", options=options, base=tmp_path, task=task).read())
        seen.append({(item.group, member) for item in items for member in item.metadata["members"]})
        assert len(items) == 9
    assert seen[0] == seen[1]


def test_scores_written_as_decimal_numbers_are_gold_labels(tmp_path):
    """Tables of numbers write the level 4 as `4.0`."""
    task = sample_task(Mode.POINTWISE, Scale.of_levels(1, 6))

    def read(scores):
        lines = [{"request_id": "q", "response_id": f"r{n}", "response": f"T {n}", "score": s} for n, s in scores]
        (tmp_path / "sets.jsonl").write_text(written(lines), encoding="utf-8")
        options = {"path": tmp_path / "sets.jsonl"}
        source = build(jrh_consistency.plugin, "response-sets", options=options, base=tmp_path, task=task)
        items = list(source.read())
        return [item.gold for item in items], list(source.remarks(items))

    assert read([(1, 4.0), (2, 5.0)]) == (["4", "5"], [])
    golds, remarks = read([(1, 4.5), (2, 5.0)])
    assert golds == [None, None]
    assert "so these items have no gold label" in remarks[0]


def test_a_scale_with_some_orders_only_is_refused(tmp_path):
    task = sample_task(Mode.POINTWISE, Scale.of_labels("A>B>C", "C>B>A"))
    with pytest.raises(JrhError, match="must list every order, such as six labels for three responses"):
        build(jrh_consistency.plugin, "response-sets", options={"path": "s.jsonl"}, base=tmp_path, task=task)


def bad(**changed):
    good = {"request_id": "q", "response_id": "a", "response": "Text"}
    return written([good, {**good, "response_id": "b", "response": "Other", **changed}])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (bad(response_id="a"), "response 'a' of request 'q' is also on line 1"),
        (bad(response=" "), "response 'b' of request 'q' is empty"),
        (bad(response=None), "response 'b' of request 'q' is empty"),
        (bad(response_id="x|y"), "response_id 'x|y' contains '::' or '|'"),
        (bad(response_id=":x"), "response_id ':x' contains '::' or '|' or starts with ':'"),
        (bad(response_id="x\u0007"), "'response_id' must be printable text of 1 to 200 characters"),
        (bad(request_id=""), "'request_id' must be printable text"),
        (bad(score="high"), "'score' must be a finite number, got 'high'"),
        (bad(rank="nan"), "'rank' must be a finite number, got 'nan'"),
        (bad(response="\ud800"), "half of a surrogate pair"),
        (bad() + bad(request="A", response_id="c") + bad(request="B", response_id="d"), "is also on line"),
        (written([{"request_id": "q", "response_id": "a", "response": "x"}]), "no request has enough responses"),
        ('{"request_id": "q"}\n', "no column 'response_id'"),
        ("[" * 100_000 + "\n", "nested too deeply"),
        ("", "the file is empty"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path, text, told):
    project = Inside(tmp_path)
    project.write("sets.jsonl", text)
    project.write("suite.yaml", suite_of(judges=[{"judge": "simulated", "name": "j"}]))
    done = project.run("plan", "suite.yaml")
    assert done.exit_code == 2
    assert told in done.output.replace("\n", " ")
    assert "Traceback" not in done.output


def test_verdicts_from_elsewhere_are_measured_by_the_ids_of_their_items(tmp_path):
    """Every request has three responses that beat each other in a circle, and the scores 1, 2 and 3."""
    project = Inside(tmp_path)
    said = {"a|b": "A", "b|c": "A", "a|c": "B", "a": "1", "b": "2", "c": "3"}
    lines = [
        f"{'pairs' if '|' in members else 'scores'},mine,q{number}::{members},{label},{repeat},q{number}"
        for number in range(12)
        for members, label in said.items()
        for repeat in range(2)
    ]
    project.write("log.csv", "\n".join(["task,judge,item,label,repeat,group", *lines]))
    project.write(
        "log.yaml",
        "name: log\npath: log.csv\n"
        "columns: {task: task, judge: judge, item: item, label: label, repeat: repeat, group: group}\n"
        "tasks:\n  pairs: {mode: pairwise, scale: {pairwise: true}}\n  scores: {scale: {ordinal: [1, 3]}}\n",
    )
    done = project.run("import", "log.yaml")
    assert done.exit_code == 0, done.output
    assert project.run("report", "runs/log").exit_code == 0
    report = json.loads(project.read("runs/log/report.json"))
    assert of(report, "cycle-share", "mine")["estimate"] == 1.0
    # Comparisons say a > b, b > c, c > a; scores c > b > a: one pair of three agrees.
    assert of(report, "pointwise-pairwise", "mine", **{"compared-with": "scores"})["estimate"] == pytest.approx(1 / 3)
