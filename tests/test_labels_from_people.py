"""People's labels are gold labels of a run: the majority, with who made them, and no second vote for a repeat."""

from __future__ import annotations

import json
import random
import re

import pytest
from jrh import read_items
from jrh_review.labelling import ScreenDecision, label_desk
from jrh_review.person_labels import LabelAction
from jrh_testing import Inside, Project, call
from support.looking import query, report

pytestmark = [pytest.mark.inside, pytest.mark.slow]

SUITE = """
name: labelled
data: {source: jsonl, path: items.jsonl, labels_from: suite.labels.jsonl}
task: {instruction: Is it right?, scale: {labels: ["YES", "NO"]}}
tests: []
judges: [{judge: simulated, name: made}]
reports: [json]
"""


def _items(project: Project, count: int) -> None:
    lines = [{"id": f"item-{n}", "request": "?", "response": f"This is answer number {n:03}."} for n in range(count)]
    lines[0]["label"] = "NO"
    project.write("items.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    project.write("suite.yaml", SUITE)


def _label(project: Project, said: dict[str, str]) -> None:
    """Let people label the items by their place: `.` leaves one out."""
    with label_desk(project.path / "suite.labels.jsonl") as desk:
        desk.read(read_items(project.path / "suite.yaml"))
        for who, labels in said.items():
            for screen in desk.screens(who):
                letter = labels[int(screen.item.id.partition("-")[2])]
                label = {"Y": "YES", "N": "NO"}.get("N" if screen.again else letter, "")
                if label:
                    desk.decide([ScreenDecision(who, screen, LabelAction.LABEL, label, 0)])


def test_the_majority_is_the_gold_label_and_its_source_is_named(project: Project) -> None:
    _items(project, 6)
    missing = call(project, "run", "suite.yaml", "--run-dir", "run")
    assert missing.exit_code == 2
    assert "`jrh label` creates it" in missing.stderr
    _label(project, {"Ann": "YYYYNY", "Ben": "YYNN..", "Cem": "YYY..."})
    outcome = call(project, "run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    golds = dict(query(project, "run", "SELECT DISTINCT item_id, gold FROM records"))
    # The data's own label stays; an even split has none; one person is enough for a label, and is said to be one.
    assert golds == {"item-0": "NO", "item-1": "YES", "item-2": "YES", "item-3": None, "item-4": "NO", "item-5": "YES"}
    (task,) = report(project, "run")["tasks"]
    assert task["gold_sources"] == {"one-person": 2, "people": 2, "unknown": 1}


CEILING = """
name: ceiling
data: {source: jsonl, path: items.jsonl, labels_from: suite.labels.jsonl}
task: {instruction: Is it right?, scale: {labels: ["YES", "NO"]}}
tests: []
reference: {repeats: 1}
judges:
  - {judge: simulated, name: alike, accuracy: 0.97}
  - {judge: simulated, name: poor, accuracy: 0.7}
reports: [json, html, markdown]
"""
N = 300


@pytest.fixture(scope="module")
def ceiling(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a run of two judges on items that three people labelled, each right with probability .92."""
    project = Inside(tmp_path_factory.mktemp("ceiling"))
    draws = random.Random(11)
    truth = [draws.choice("YN") for _ in range(N)]
    lines = [
        {"id": f"item-{n}", "request": "?", "response": f"Answer {n}.", "label": {"Y": "YES", "N": "NO"}[truth[n]]}
        for n in range(N)
    ]
    project.write("items.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    project.write("suite.yaml", CEILING)
    wrong = {"Y": "N", "N": "Y"}
    people = ("Ann", "Ben", "Cem")
    _label(project, {who: "".join(t if draws.random() < 0.92 else wrong[t] for t in truth) for who in people})
    outcome = call(project, "run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    full = project.run("report", "run", "--format", "terminal", "--full", env={"COLUMNS": "200"})
    project.write("terminal.txt", full.output)
    return project


def _text(project: Project, name: str) -> str:
    """Return what a report says, without tags and escapes."""
    return " ".join(re.sub(r"<[^>]*>|\\", "", (project.path / name).read_text()).split())


def _shown(measure: dict, sign: str, places: int) -> str:
    low, high = (f"{measure['interval'][end]:.{places}f}" for end in ("low", "high"))
    return f"{measure['estimate']:{sign}.{places}f} [{low}, {high}]"


def test_every_report_has_the_agreement_of_people_beside_that_of_the_judge(ceiling: Project) -> None:
    found = report(ceiling, "run")
    measures = {(each["judge"], each["name"]): each for each in found["measures"] if not each["cell"]}
    texts = [_text(ceiling, name) for name in ("terminal.txt", "run/report.html", "run/report.md")]
    for judge in ("alike", "poor"):
        people, own, difference = (
            measures[judge, name] for name in ("people-kappa", "judge-people-kappa", "people-kappa-difference")
        )
        assert difference["estimate"] == pytest.approx(own["estimate"] - people["estimate"])
        assert (people["n_items"], people["n_clusters"]) == (N, N)
        for measure in (people, own, difference):
            sign = "+" if measure is difference else ""
            for text in texts:
                assert any(_shown(measure, sign, places) in text for places in (2, 3))
    assert people["estimate"] == pytest.approx((2 * 0.92 - 1) ** 2, abs=0.12)  # kappa of two people of accuracy .92


def test_a_judge_that_agrees_as_well_as_people_is_said_to_and_another_is_not(ceiling: Project) -> None:
    said = {each["judge"]: each for each in report(ceiling, "run")["findings"] if each["kind"] == "human-ceiling"}
    assert said["alike"]["severity"] == "good"
    assert said["alike"]["statement"].startswith("Agrees with people as well as people agree with each other")
    assert said["poor"]["severity"] == "bad"
    assert said["poor"]["statement"] == "Agrees with people less than people agree with each other"
    for name in ("terminal.txt", "run/report.html", "run/report.md"):
        text = _text(ceiling, name)
        assert all(each["statement"] in text for each in said.values()), name


def test_a_judge_without_labels_of_two_people_has_no_ceiling(project: Project) -> None:
    _items(project, 6)
    _label(project, {"Ann": "YYYYNY"})
    assert call(project, "run", "suite.yaml", "--run-dir", "run").exit_code == 0
    found = report(project, "run")
    assert not any("people" in each["name"] for each in found["measures"])
