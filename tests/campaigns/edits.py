"""Edit a finished suite: the run redoes exactly what it must, and its report is that of a fresh run.

One round is one edit of a copy of a finished run. The server counts the questions that are asked again; a fresh run of
the edited suite in another directory, without the cache, says what the report has to be.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen
from jrh_testing import ChatServer, Inside, LabelAnswers
from support.keys import KEY, KEY_VARIABLE
from support.suites import LABELS, llm_suite, openai_http, write_suite

from campaigns.rounds import Round

ITEMS = 8
SECOND = {"format": {"name": "f2", "variants": ["indent"]}}
OWN = {"name": "own", "judge": "function", "function": "rules.py:judge"}
RULES = 'def judge(question):\n    return "YES"  # {}\n'
Suite = dict[str, Any]
Rows = list[dict[str, Any]]
Edit = Callable[[Suite, Rows], None]


def _judges(suite: Suite, **changes: Any) -> None:
    suite["judges"][0].update(changes)


def _model(suite: Suite, **changes: Any) -> None:
    suite["models"]["mini"].update(changes)


def _item(rows: Rows, place: int, **changes: Any) -> None:
    rows[place].update(changes)


def _relabel(suite: Suite, rows: Rows) -> None:
    suite["task"]["scale"]["labels"][0] = "RIGHT"
    for row in rows:
        row["label"] = {"YES": "RIGHT"}.get(row["label"], row["label"])


def _new(place: int) -> dict[str, Any]:
    text = f"This is answer number {place:03}."
    return {"id": f"item-{place:03}", "request": "What is it?", "response": text, "label": LABELS[place % 2]}


TRIALS = 2 + 1
"""Questions per item: the reference twice, and one layout."""
ALL = ITEMS * TRIALS
EDITS: Mapping[str, tuple[int, Edit]] = {
    "nothing": (0, lambda suite, rows: None),
    "rename the judge": (0, lambda suite, rows: _judges(suite, name="another")),
    "edit the instruction": (ALL, lambda suite, rows: suite["task"].update(instruction="Is the reply right?")),
    "add a rubric": (ALL, lambda suite, rows: suite["task"].update(rubric="YES: right. NO: wrong.")),
    "edit an item's text": (TRIALS, lambda suite, rows: _item(rows, 3, response="Another answer.")),
    "edit an item's request": (TRIALS, lambda suite, rows: _item(rows, 3, request="What else is it?")),
    "edit an item's label": (0, lambda suite, rows: _item(rows, 3, label="YES")),
    "add an item": (TRIALS, lambda suite, rows: rows.append(_new(ITEMS))),
    "add an item in front": (TRIALS, lambda suite, rows: rows.insert(0, _new(ITEMS))),
    "remove an item": (0, lambda suite, rows: rows.__delitem__(2)),
    "order of the items": (0, lambda suite, rows: rows.reverse()),
    "set a temperature": (ALL, lambda suite, rows: _model(suite, temperature=0.5)),
    "set max_tokens": (ALL, lambda suite, rows: _model(suite, max_tokens=30)),
    "another model": (ALL, lambda suite, rows: _model(suite, model="loopback-2")),
    "another concurrency": (0, lambda suite, rows: _model(suite, concurrency=2)),
    "another timeout": (0, lambda suite, rows: _model(suite, timeout=30)),
    "more repeats": (ITEMS, lambda suite, rows: suite["reference"].update(repeats=3)),
    "fewer repeats": (0, lambda suite, rows: suite["reference"].update(repeats=1)),
    "add a test": (
        ITEMS,
        lambda suite, rows: suite["tests"].append({"format": {"name": "f2", "variants": ["indent"]}}),
    ),
    "remove a test": (0, lambda suite, rows: suite["tests"].clear()),
    "add a variant": (ITEMS, lambda suite, rows: suite["tests"][0]["format"]["variants"].append("trailing")),
    "choose metrics": (0, lambda suite, rows: suite.update(metrics=["as-expected", "missing"])),
    "set a margin": (0, lambda suite, rows: suite.update(metrics=[{"accuracy-equivalence": {"margin": 0.1}}])),
    "more resamples": (0, lambda suite, rows: suite.update(resamples=150)),
    "order of the keys": (0, lambda suite, rows: suite.update(judges=suite.pop("judges"), name=suite.pop("name"))),
    "another report": (0, lambda suite, rows: suite.update(reports=["json", "markdown", "csv"])),
    "add a budget": (0, lambda suite, rows: suite.update(budget={"usd": 50.0})),
    "order of the labels": (ALL, lambda suite, rows: suite["task"]["scale"]["labels"].reverse()),
    "add a judge": (
        0,
        lambda suite, rows: suite["judges"].append({"name": "own", "judge": "function", "function": "rules.py:judge"}),
    ),
    "a comment": (0, lambda suite, rows: None),
    "the price": (0, lambda suite, rows: _model(suite, price={"input": 3.0, "output": 5.0})),
    "no price": (0, lambda suite, rows: _model(suite, price=None)),
    "rename a label": (ALL, _relabel),
}
"""Edit -> questions that are asked again, and the edit."""
PRICES = ("the price", "no price")


@frozen(kw_only=True)
class Finished:
    """The run whose suite is edited."""

    project: Inside
    server: ChatServer
    suite: Suite
    rows: Rows


@cache
def finished() -> Finished:
    """Make the run once; it stays to the end of the process."""
    server = ChatServer(LabelAnswers(labels=LABELS))
    server.__enter__()
    model = openai_http(server.url, price={"input": 1.0, "output": 2.0}, max_tokens=20)
    tests = [{"format": {"variants": ["spaces"]}}]
    suite = llm_suite(model, tests=tests, reference={"repeats": 2}, reports=["json", "markdown"])
    rows = [_new(place) for place in range(ITEMS)]
    project = Inside(Path(tempfile.mkdtemp(prefix="jrh-edited-")), env={KEY_VARIABLE: KEY})
    _write(project, suite, rows)
    project.write("rules.py", RULES.format("one"))
    assert _run(project, "run") == (0, "")
    assert server.count == ALL
    return Finished(project=project, server=server, suite=suite, rows=rows)


def campaign(played: Round) -> None:
    """Make the edit that the seed says, or two after another."""
    names = list(EDITS)
    name = names[played.seed % len(names)]
    whole = finished()
    shutil.copytree(whole.project.path, played.place, dirs_exist_ok=True)
    project = Inside(played.place, env={KEY_VARIABLE: KEY})
    suite, rows = deepcopy(whole.suite), deepcopy(whole.rows)
    due, edit = EDITS[name]
    edit(suite, rows)
    _write(project, suite, rows)
    if name == "a comment":
        project.write("suite.yaml", f"# A comment.\n{project.read('suite.yaml')}")
    asked = whole.server.count
    code, said = _run(project, "run")
    asked = whole.server.count - asked
    played.check(code == 0, f"{name}: exit code {code}: {said}")
    played.check(asked == due, f"{name}: {asked} questions were asked, {due} are due")
    fresh, said = _run(project, "fresh")
    played.check(fresh == 0, f"{name}: a fresh run ends with {fresh}: {said}")
    if name in PRICES:
        # A fresh run pays the new price. What was paid stays paid; all else is the same.
        paid, costs = _costs_apart(project.read("run/report.json"))
        played.check(paid == _costs_apart(project.read("fresh/report.json"))[0], f"{name}: more than costs changed")
        played.check(costs == _costs_apart(whole.project.read("run/report.json"))[1], f"{name}: costs changed: {costs}")
    for file in () if name in PRICES else ("report.json", "report.md"):
        same = project.read(f"run/{file}") == project.read(f"fresh/{file}")
        played.check(same, f"{name}: {file} is not that of a fresh run")
    played.counted["questions asked again"] += asked
    played.counted["edits"] += 1


def _costs_apart(report: str) -> tuple[Any, list[Any]]:
    """Return a report without its costs, and without the sections made of them, and its costs."""
    costs: list[Any] = []

    def without(mapping: dict[str, Any]) -> dict[str, Any]:
        costs.extend((key, mapping.pop(key)) for key in ("cost", "unknown") if key in mapping)
        if "sections" in mapping:
            mapping["sections"] = [each for each in mapping["sections"] if not each["name"].startswith("cost-")]
        if "cells" in mapping:  # the table of answers ends in a cost
            cells = mapping["cells"]
            mapping["cells"] = [cell for cell in cells if not str(cell).startswith("$") and cell != "unknown"]
        return mapping

    return json.loads(report, object_hook=without), costs


def _write(project: Inside, suite: Suite, rows: Rows) -> None:
    write_suite(project, suite)
    project.write("items.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def _run(project: Inside, run_dir: str) -> tuple[int, str]:
    outcome = project.run("run", "suite.yaml", "--run-dir", run_dir, "--no-cache", "--yes")
    return outcome.exit_code, outcome.stderr if outcome.exit_code else ""
