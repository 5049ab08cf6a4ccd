"""Suites and data that mean harm: one message with its place, in bounded time and memory; clean bytes everywhere."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh_testing import ChatServer, Inside
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite

pytestmark = pytest.mark.slow
SECONDS = 30.0
"""Generous, for busy machines: what is not bounded takes hours."""
MEGABYTES = 400.0
GROWN = 12
Made = Callable[[dict[str, Any]], str]


def _dumped(suite: dict[str, Any], **changes: Any) -> str:
    return yaml.safe_dump({**suite, **changes}, sort_keys=False)


def _laughs(suite: dict[str, Any]) -> str:
    lines = ['l0: &l0 ["ha", "ha"]']
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * GROWN)}]" for n in range(1, GROWN)]
    return _dumped(suite) + "\n".join(lines)


SUITES: dict[str, Made] = {
    "a billion laughs": _laughs,
    "an alias of itself": lambda suite: _dumped(suite) + "x: &x [*x]\n",
    "deep nesting": lambda suite: _dumped(suite) + "x: " + "[" * 20_000 + "]" * 20_000 + "\n",
    "deep mappings": lambda suite: _dumped(suite) + "x: " + "{a: " * 5_000 + "1" + "}" * 5_000 + "\n",
    "a tag": lambda suite: _dumped(suite) + "x: !!python/object/apply:os.system ['true']\n",
    "NaN as a number": lambda suite: _dumped(suite, level=float("nan")),
    "infinity as a number": lambda suite: _dumped(suite, resamples=float("inf")),
    "a huge number": lambda suite: _dumped(suite) + f"seed: {'9' * 5_000}\n",
    "a key twice": lambda suite: _dumped(suite) + "name: again\n",
    "a path as its name": lambda suite: _dumped(suite, name="../../x"),
    "control characters": lambda suite: _dumped(suite) + 'x: "\x1b]52;c;x\x07"\n',
    "null bytes": lambda suite: _dumped(suite) + "x: \x00\n",
    "a lone surrogate": lambda suite: _dumped(suite, name="a\ud800"),
    "a list of nothing": lambda suite: "[]",
    "two documents": lambda suite: _dumped(suite) + "---\na: 1\n",
    "a merge of itself": lambda suite: _dumped(suite) + "x: &m {<<: *m}\n",
}


def _lines(*rows: str) -> str:
    good = {"id": "i", "request": "What?", "response": "This.", "label": "YES"}
    return "\n".join([json.dumps(good), *rows]) + "\n"


DATA: dict[str, str | bytes] = {
    "half a line": _lines('{"id": "j", "resp'),
    "deep nesting": _lines('{"id": "j", "response": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "NaN": _lines('{"id": "j", "request": "What?", "response": NaN, "label": "YES"}'),
    "a key twice": _lines('{"id": "j", "id": "k", "request": "What?", "response": "x", "label": "YES"}'),
    "a list": _lines("[1, 2]"),
    "a huge number": _lines('{"id": ' + "9" * 10_000 + ', "request": "What?", "response": "x", "label": "YES"}'),
    "no UTF-8": b'{"id": "\xff\xfe"}\n',
    "UTF-16": _lines().encode("utf-16"),
}


@pytest.fixture
def project(tmp_path: Path) -> Inside:
    return Inside(tmp_path, env={KEY_VARIABLE: KEY})


def check(project: Inside, place: str) -> None:
    """Plan: exit code 2, one mistake with its place, nothing that a terminal obeys, bounded time and memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = project.run("plan", "suite.yaml")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert outcome.exit_code == 2, outcome.output
    assert place in outcome.stderr
    assert "Traceback" not in outcome.output
    assert not controls(outcome.output.encode())
    assert len(outcome.stderr) < 3_000
    assert (outcome.duration < SECONDS, grown < MEGABYTES) == (True, True), f"{outcome.duration} s, {grown} MB"


@pytest.mark.parametrize("what", SUITES)
def test_a_hostile_suite_is_one_message_with_its_place(project: Inside, what: str) -> None:
    write_items(project, 2)
    text = SUITES[what](simulated_suite())
    project.write("suite.yaml", text.encode("utf-8", "surrogatepass"))
    check(project, "suite.yaml")


@pytest.mark.parametrize("what", DATA)
def test_hostile_data_are_one_message_with_their_place(project: Inside, what: str) -> None:
    project.write("items.jsonl", DATA[what])
    write_suite(project, simulated_suite())
    check(project, "items.jsonl")


HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\x00\x7f"
ALLOWED = {0x09, 0x0A, 0x0D}


def controls(data: bytes) -> list[str]:
    """Return the control characters and direction marks in a text file, line ends and tabs left out."""
    marks = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
    found = {ord(sign) for sign in data.decode("utf-8", "replace")}
    return (
        [hex(code) for code in sorted(found) if code in marks or (code < 0xA0 and not 0x20 <= code < 0x7F)][:9]
        if (found - ALLOWED) & {*range(0x20), *range(0x7F, 0xA0), *marks}
        else []
    )


def test_no_channel_carries_control_bytes(project: Inside) -> None:
    """Items, replies and labels of a provider and an item author who mean harm, in every file a run writes."""
    rows = [
        {
            "id": f"=cmd{place}<script>",  # ids hold no control characters: a run refuses them
            "author": f"a{HOSTILE}",
            "request": HOSTILE,
            "response": f"{place} {HOSTILE}",
            "label": label,
        }
        for place, label in enumerate(("YES", "NO", "YES", "NO"))
    ]
    project.write("items.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    judge = {"name": "mini", "judge": "llm", "model": "mini", "parser": "json", "rationale": True}
    with ChatServer(json.dumps({"rationale": f"Because {HOSTILE}", "verdict": "NO"})) as server:
        reports = ["terminal", "markdown", "json", "csv", "html", "latex", "papers"]
        changes = {"judges": [judge], "gate": {"rules": ["missing <= 1.0"]}}
        changes["tests"] = [{"format": {"variants": ["spaces"]}}]
        write_suite(project, llm_suite(openai_http(server.url), reports=reports, **changes))
        done = project.run("run", "suite.yaml", "--run-dir", "run")
        assert done.exit_code == 0, done.output
    gated = project.run("gate", "run", "--junit", "gate.xml", "--markdown", "gate.md", "--json", "gate.json")
    exported = [
        project.run("review", "run", "--export", "review.csv"),
        project.run("label", "suite.yaml", "--export", "gold.csv"),
        project.run("label", "suite.yaml", "--name", "ann", "--export", "sheet.csv"),
    ]
    assert [outcome.exit_code for outcome in exported] == [0, 0, 0]
    for outcome in (done, gated, *exported):
        assert not controls(outcome.output.encode())
    files = [path for path in project.path.rglob("*") if path.name not in {"items.jsonl", "suite.yaml"}]
    text = {".md", ".json", ".jsonl", ".csv", ".html", ".xml", ".tex", ".svg"}
    read = [path for path in files if path.suffix in text]
    assert len(read) >= 15, files
    assert {path.name: controls(path.read_bytes()) for path in read} == {path.name: [] for path in read}
    cells = [path for path in read if path.suffix == ".csv" and re.search(rb'^=|,"?=', path.read_bytes(), re.MULTILINE)]
    assert cells == [], "a cell is a formula"
