"""The score in a record: of the canonical question, never without a label, and the same from a log."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
import yaml
from jrh_interchange import imported_record
from jrh_testing import Inside, sample_task

pytestmark = pytest.mark.inside
SCORER = """
def score(question):
    text = question["fields"]["response"]
    return float("nan") if "broken" in text else len(text)
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Two pairs in both orders; one response of the second has no score."""
    project = Inside(tmp_path_factory.mktemp("pairs"))
    items = [
        {"id": "1", "request": "?", "response_a": "long answer", "response_b": "short", "label": "A"},
        {"id": "2", "request": "?", "response_a": "broken", "response_b": "short", "label": "B"},
    ]
    project.write("items.jsonl", "".join(f"{json.dumps(item)}\n" for item in items))
    project.write("rm.py", SCORER)
    suite = {
        "name": "pairs",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"mode": "pairwise", "scale": {"pairwise": True}},
        "tests": ["option-order"],
        "judges": [{"judge": "score-function", "name": "rm", "function": "rm.py:score"}],
    }
    project.write("suite.yaml", yaml.safe_dump(suite))
    done = project.run("run", "suite.yaml", "--yes")
    assert done.exit_code == 0, done.output
    with closing(sqlite3.connect(project.path / "runs" / "pairs" / "run.sqlite")) as store:
        store.row_factory = sqlite3.Row
        return [dict(row) for row in store.execute("SELECT * FROM records")]


def test_a_swapped_pair_has_the_same_score(records):
    of = {
        (row["option_order"], row["presented"], row["canonical"], row["score"])
        for row in records
        if row["item_id"] == "1"
    }
    assert {float(score) for *_, score in of} == {6.0}
    assert {canonical for _, _, canonical, _ in of} == {"A"}
    assert {presented for order, presented, _, _ in of if order == "BA"} == {"B"}


def test_what_is_no_number_is_a_status_and_no_score(records):
    of = {(row["status"], row["canonical"], row["score"]) for row in records if row["item_id"] == "2"}
    assert of == {("unparsable", None, None)}


def test_a_log_can_bring_scores():
    assert imported_record(task=sample_task(), item_id="1", judge="rm", label="YES", score=1.5).score == 1.5
