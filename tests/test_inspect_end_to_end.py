"""Logs of Inspect read, edited by rules, judged over the wire, and written back as a log."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh import JrhError, open_report, read_transcript
from jrh_testing import ChatServer, Project
from support.looking import query, report
from support.suites import openai_http

ROOT = Path(__file__).resolve().parents[1]
RUBRIC = """\
- id: truthful
  instructions: What the assistant says agrees with what its tools returned.
- id: thorough
  instructions: How thorough is the search for a table?
  score_levels:
    - {level: 0, label: it is not searched}
    - {level: 1, label: it is searched once}
    - {level: 2, label: it is searched more than once}
"""
NOTICE = "characters left out here]"


def suite(url: str) -> dict[str, Any]:
    return {
        "name": "restaurant",
        "data": {
            "source": "inspect",
            "path": "made.eval",
            "stratum": "language",
            "gold": {"restaurant.truthful": "includes"},
            "gold_labels": {"C": "satisfies", "I": "violates"},
        },
        "task": {
            "mode": "transcript",
            "instruction": "Judge how the assistant acted.",
            "criteria": {"file": "rubric.yaml"},
        },
        "models": {"mini": openai_http(url)},
        "tests": ["agent-perturbation"],
        "judges": [{"name": "mini", "judge": "llm", "model": "mini", "transcript_limit": 2_000}],
        "resamples": 100,
    }


def answer(body: dict[str, Any]) -> str:
    return "1" if "Levels:" in body["messages"][-1]["content"] else "satisfies"


@pytest.fixture
def made(project: Project, inspect_logs: Path) -> Project:
    """A project with a log and a rubric."""
    shutil.copy(inspect_logs / "made.eval", project.path / "made.eval")
    project.write("rubric.yaml", RUBRIC)
    return project


@pytest.mark.inside
def test_a_log_is_read_edited_judged_and_written_back(made: Project) -> None:
    with ChatServer(answer) as server:
        made.write("suite.yaml", yaml.safe_dump(suite(server.url), sort_keys=False))
        done = made.run("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
        assert done.exit_code == 0, done.output
        prompts = [body["messages"][-1]["content"] for body in server.requests]

    judged = [prompt for prompt in prompts if "[7] assistant" in prompt]
    assert len(judged) >= 8
    assert all("\n[4] tool find_table (call " in prompt and NOTICE in prompt for prompt in judged)
    assert all("[2] user\n    Book a table for two.\n" in prompt for prompt in judged)
    assert not any("iVBOR" in prompt for prompt in prompts)
    found = report(made, "run")
    (note,) = [note for note in found["notes"] if "saw only part of the transcript" in note]
    ((shown, most),) = query(made, "run", "SELECT sum(left_out > 0), max(left_out) FROM records")
    assert shown == len(judged)
    assert note == (
        f"judge 'mini' saw only part of the transcript in {shown} of {len(prompts)} questions because of "
        f"its length limit; at most {most:,} characters were left out"
    )
    assert {task["task"]["name"] for task in found["tasks"]} == {"restaurant.truthful", "restaurant.thorough"}
    strata = {row[0] for row in query(made, "run", "SELECT DISTINCT stratum FROM records")}
    assert strata == {"en", "fr"}

    done = made.run("export-transcripts", "run", "--log", "out.eval", "--jsonl", "out.jsonl")
    assert done.exit_code == 0, done.output
    assert messages(made.path / "out.eval") == with_edits(messages(made.path / "made.eval"), made)


def messages(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Return sample and epoch -> role and text of its messages, as Inspect reads them."""
    from inspect_ai.log import read_eval_log

    samples = read_eval_log(str(path)).samples or []
    return {f"{sample.id}#{sample.epoch}": [(one.role, one.text) for one in sample.messages] for sample in samples}


def with_edits(before: dict[str, list[tuple[str, str]]], made: Project) -> dict[str, list[tuple[str, str]]]:
    """Return the messages with the edits that the run's cases hold."""
    edited = 0
    with open_report(made.path / "run") as run:
        for case in run.evidence.cases(sorted({case or "" for case in run.records.text("case_id")})).values():
            if case.test == "agent-perturbation":
                transcript = read_transcript(case.fields["transcript"])
                before[case.item_id] = [(message.role, message.content) for message in transcript]
                edited += 1
    assert edited == 2
    return before


def test_long_transcripts_pass_in_bounded_memory(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
    logs = {"2,000 messages": tmp_path / "many.eval", "5 MB": tmp_path / "large.eval"}
    for action in ("make", "take"):
        places = [word for shape, path in logs.items() for word in (shape, str(path))]
        command = [sys.executable, "-m", "tests.benchmarks.transcripts", action, *places]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [(line["messages"], line["characters"] > 5_000_000) for line in lines] == [(1_999, False), (199, True)]
    assert all(300_000 < line["shown_characters"] <= 400_000 for line in lines)
    # The second peak is counted from the first: together they are what the process needed.
    assert sum(line["megabytes"] for line in lines) < 150


@pytest.mark.inside
def test_mistakes_are_said_with_file_and_place(made: Project) -> None:
    made.write("rubric.yaml", RUBRIC.replace("level: 2", "level: 5"))
    made.write("suite.yaml", yaml.safe_dump(suite("http://127.0.0.1:9/v1"), sort_keys=False))
    done = made.run("run", "suite.yaml")
    assert done.exit_code == 2
    assert "rubric.yaml:8:8: level: level 5 follows level 1; levels go up one by one, without gaps" in done.stderr
    made.write("rubric.yaml", RUBRIC)
    made.write("made.eval", "no archive")
    done = made.run("run", "suite.yaml")
    assert done.exit_code == 2
    assert done.stderr.strip().endswith(
        "made.eval is not an Inspect log: an .eval file is a zip archive, and this is not one"
    )
    assert "Traceback" not in done.output


@pytest.mark.inside
def test_a_run_without_transcripts_has_nothing_to_export(project: Project) -> None:
    done = project.run("export-transcripts", "nowhere", "--jsonl", "out.jsonl")
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    with pytest.raises(JrhError), open_report(project.path / "nowhere"):
        pass
