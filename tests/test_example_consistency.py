"""The suite in `examples/consistency`, over a loopback model that scores by correctness and compares in circles."""

from __future__ import annotations

import json
import re
import shutil
from itertools import permutations
from pathlib import Path

import pytest
from jrh_testing import ChatServer, Inside
from support.described import undescribed

pytestmark = pytest.mark.inside
EXAMPLE = Path(__file__).parents[1] / "examples" / "consistency"
CIRCLE = {"full": "short", "short": "wrong", "wrong": "full"}
"""Who beats whom; everybody beats `vague`."""


def rows():
    return [json.loads(line) for line in (EXAMPLE / "responses.jsonl").read_text(encoding="utf-8").splitlines()]


NAMED = {row["response"]: row for row in rows()}


class Model:
    """Answers, and counts what it was shown."""

    def __init__(self):
        self.with_reference = self.without = 0

    def __call__(self, body):
        asked = body["messages"][-1]["content"]
        shown = re.findall(r"<response[^>]*>\n(.*?)\n</response", asked, re.DOTALL)
        if len(shown) == 2:
            one, other = (NAMED[text]["response_id"] for text in shown)
            return "A" if CIRCLE.get(one) == other or other == "vague" else "B"
        if "A>B>C" in asked:
            parts = re.split(r"\n*Response [ABC]:\n", shown[0])[1:]
            score = {letter: NAMED[text.strip()]["score"] for letter, text in zip("ABC", parts, strict=True)}
            return max(
                (">".join(order) for order in permutations("ABC")), key=lambda text: [score[c] for c in text[::2]]
            )
        row = NAMED[shown[0]]
        if f"known to be right:\n{row['reference']}" in asked:
            self.with_reference += 1
            return "5" if row["reference"] in row["response"] else "1"
        self.without += 1
        return str(row["score"])


def test_the_example_tells_circles_agreement_and_what_the_reference_changes(tmp_path):
    project = Inside(tmp_path)
    shutil.copytree(EXAMPLE, project.path / "consistency")
    model = Model()
    with ChatServer(model) as server:
        done = project.run(
            *("run", "consistency/suite.yaml", "--yes", "--set", "reports=[json, markdown]"),
            *("--set", f"models.judge.base_url={server.url}"),
        )
    assert done.exit_code == 0, done.output
    assert undescribed(project.path) == set()
    report = json.loads(project.read("runs/consistency/report.json"))
    assert report["planned"] == 32 * 3 + 48 * 3 + 8 * 2
    assert (model.with_reference, model.without) == (32, 64)
    told = {f["kind"]: f["sentence"] for f in report["findings"]}
    # One of the four triples of every request is a cycle.
    start = "Preferences run in circles more often than noise explains: 25.0%"
    assert told["preference-cycles"].startswith(start)
    assert start in project.read("runs/consistency/report.md")
    flips = [
        m for m in report["measures"] if (m["name"], m["test"]) == ("flip-rate", "reference-guided") and not m["cell"]
    ]
    assert [m["estimate"] for m in flips] == [0.5]  # 4 becomes 5, and 2 becomes 1
    # Gold labels are the scores: with the reference every second verdict becomes wrong.
    change = [m for m in report["measures"] if (m["name"], m["test"]) == ("accuracy-change", "reference-guided")]
    assert [m["estimate"] for m in change if not m["cell"]] == [-0.5]
    assert any("reference-guided" in f["tests"] and f["severity"] in ("bad", "warning") for f in report["findings"])
    taus = {m["name"]: m["estimate"] for m in report["measures"] if m["name"].endswith("tau-b")}
    assert taus["score-ranking-tau-b"] == 1.0
