"""People's labels are gold labels of a run: the majority, with who made them, and no second vote for a repeat."""

from __future__ import annotations

import json

import pytest
from jrh import read_items
from jrh.running import label_desk
from jrh.values import LabelAction
from jrh_testing import Project
from support.inside import call
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
                    desk.decide(who, screen, LabelAction.LABEL, label=label, version=0)


def test_the_majority_is_the_gold_label_and_its_source_is_named(project: Project) -> None:
    _items(project, 6)
    missing = call(project, "run", "suite.yaml", "--run-dir", "run")
    assert missing.exit_code == 2
    assert "cannot read the labels" in missing.stderr
    _label(project, {"Ann": "YYYYNY", "Ben": "YYNN..", "Cem": "YYY..."})
    outcome = call(project, "run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.output
    golds = dict(query(project, "run", "SELECT DISTINCT item_id, gold FROM records"))
    # The data's own label stays; an even split has none; one person is enough for a label, and is said to be one.
    assert golds == {"item-0": "NO", "item-1": "YES", "item-2": "YES", "item-3": None, "item-4": "NO", "item-5": "YES"}
    (task,) = report(project, "run")["tasks"]
    assert task["gold_sources"] == {"one-person": 2, "people": 2, "unknown": 1}
