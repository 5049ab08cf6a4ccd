"""A run says whose replies it rests on: how many another run paid for, and which models providers say they served."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from jrh_measuring import served_note
from jrh_review.stored_runs import Measured
from jrh_testing import ChatServer, Inside, Project, loop_over
from support.batch_server import BatchServer
from support.keys import KEY, KEY_VARIABLE
from support.looking import report
from support.suites import llm_suite, openai_http, write_items, write_suite

pytestmark = pytest.mark.inside

ITEMS = 5


@define
class Served:
    """What answers at one address: the model that it says it is changes, and so does its answer."""

    model: str = "old-1"
    answer: str = "YES"
    fingerprint: str = ""

    def __call__(self, _body: dict[str, Any]) -> dict[str, Any]:
        stated = {"system_fingerprint": self.fingerprint} if self.fingerprint else {}
        return {"role": "assistant", "content": self.answer, "model": self.model, **stated}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    write_items(project, ITEMS)
    return project


def run(project: Project, model: dict[str, Any], run_dir: str, *variants: str, also: Sequence[str] = ()) -> str:
    """Run the reference, and a test with these variants; return what is printed."""
    tests = [{"format": {"variants": list(variants)}}] if variants else []
    write_suite(project, llm_suite(model, tests=tests, reports=["terminal", "json", *also], metrics=["missing"]))
    outcome = project.run("run", "suite.yaml", "--run-dir", run_dir, "--yes")
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def found(project: Project, run_dir: str) -> list[tuple[str, str]]:
    """Return the findings about served models."""
    findings = report(project, run_dir)["findings"]
    return [(each["severity"], each["sentence"]) for each in findings if each["kind"] == "served-model"]


def served(project: Project, run_dir: str) -> list[list[Any]]:
    """Return the rows of the block "This run" in the JSON report: the model served, its replies, those reused."""
    sections = [each for each in report(project, run_dir)["sections"] if each["name"] == "this-run"]
    tables = [part for section in sections for part in section["parts"] if part["kind"] == "table"]
    return [row["cells"][:3] for table in tables for row in table["rows"]]


def test_a_cache_that_mixes_two_models_behind_one_name_is_a_warning(project: Project) -> None:
    """Another model at the same address: the cache's replies are the old one's, and verdicts change with the model."""
    model = Served()
    with ChatServer(model) as server:
        first = run(project, openai_http(server.url), "first")
        model.model, model.answer = "new-2", "NO"
        second = run(project, openai_http(server.url), "second", "trailing", also=["markdown", "html"])
    day = datetime.now(UTC)
    assert ("reused" in first, found(project, "first")) == (False, [])
    sentence = f"5 of 10 replies reused from earlier runs, the oldest of {day.day} {day:%B %Y}."
    for place, text in {
        "terminal": second,
        "markdown": project.read("second/report.md"),
        "page": project.read("second/report.html"),
    }.items():
        assert sentence in text, place
        assert "This run" in text or place == "terminal"
    ((severity, what),) = found(project, "second")
    assert severity == "warning"
    told = "Several models answered under the name 'mini': "
    assert f"{told}new-2 gave 5 replies; old-1 gave 5 replies (5 reused)" in what
    assert "`jrh run SUITE --no-cache --run-dir NEW`" in what
    assert "Several models answered" in " ".join(second.split())
    assert served(project, "second") == [["new-2", 5, 0], ["old-1", 5, 5]]


def test_a_run_that_is_resumed_reuses_nothing_and_a_change_within_it_is_a_warning(project: Project) -> None:
    model = Served()
    with ChatServer(model) as server:
        run(project, openai_http(server.url), "run")
        # Local servers name models in several words: the first one is not the model.
        model.model = "old-1 q4"
        resumed = run(project, openai_http(server.url), "run", "trailing")
    assert "reused" not in resumed
    assert [severity for severity, _ in found(project, "run")] == ["warning"]
    assert sorted(served(project, "run")) == [["old-1", 5, 0], ["old-1 q4", 5, 0]]


def test_another_system_fingerprint_of_the_same_model_is_worth_knowing_and_no_warning(project: Project) -> None:
    model = Served(fingerprint="fp_1")
    with ChatServer(model) as server:
        run(project, openai_http(server.url), "first")
        model.fingerprint = "fp_2"
        run(project, openai_http(server.url), "second", "trailing")
    ((severity, what),) = found(project, "second")
    assert severity == "info"
    assert "The system fingerprint changed under the name 'mini': old-1 fp_2 gave 5 replies; old-1 fp_1 gave 5" in what


def test_replies_that_the_cache_has_no_day_of_are_of_an_unknown_day(project: Project) -> None:
    with ChatServer(Served()) as server:
        run(project, openai_http(server.url), "first")
        (cache,) = project.path.rglob("replies.sqlite")
        with sqlite3.connect(cache) as connection:
            connection.execute("UPDATE replies SET payload = json_remove(payload, '$.answered')")
        assert "5 of 5 replies reused from earlier runs, the oldest of an unknown day." in run(
            project, openai_http(server.url), "second"
        )


@loop_over("provider", ["openai-batch", "anthropic-batch"])
def test_replies_of_batches_say_which_model_was_served(provider: str, tmp_path: Path) -> None:
    project = Inside(tmp_path / provider, env={KEY_VARIABLE: KEY})
    write_items(project, ITEMS)
    with BatchServer(key=KEY) as server:
        model = {**openai_http(server.url, max_tokens=20), "provider": provider}
        model |= {"collect_seconds": 0.1, "poll_seconds": 0.1, "settle_seconds": 0.2}
        server.spoil = lambda rows: [_renamed(row) for row in rows]  # of the first batch alone
        run(project, model, "first")
        run(project, model, "second", "trailing")
    assert served(project, "second") == [["loopback-1", 5, 0], ["old-1", 5, 5]]
    assert [severity for severity, _ in found(project, "second")] == ["warning"]


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of results of either protocol as another model's."""
    if "response" in row:
        response = row["response"]
        return {**row, "response": {**response, "body": {**response["body"], "model": "old-1"}}}
    result = row["result"]
    return {**row, "result": {**result, "message": {**result["message"], "model": "old-1"}}}


def test_the_times_of_stages_are_in_run_json_and_in_no_report(project: Project) -> None:
    with ChatServer(Served()) as server:
        for run_dir in ("run", "run", "whole"):
            run(project, openai_http(server.url), run_dir, "trailing", also=["markdown"])
    processes = json.loads(project.read("run/run.json"))["processes"]
    assert [process["exit_code"] for process in processes] == [0, 0]
    assert set(processes[0]["seconds"]) >= {"load", "judge", "measure", "report"}
    assert all(seconds >= 0 for process in processes for seconds in process["seconds"].values())
    assert abs(datetime.fromisoformat(processes[1]["ended"]) - datetime.now(UTC)) < timedelta(days=1)
    assert (project.path / "run/run.json").stat().st_mode & 0o077 == 0


def test_a_run_json_that_is_not_jrhs_is_begun_again(project: Project) -> None:
    with ChatServer(Served()) as server:
        for text in ("[]", "{", '{"processes": 1}'):
            project.write("run/run.json", text)
            run(project, openai_http(server.url), "run")
            assert len(json.loads(project.read("run/run.json"))["processes"]) == 1


SNAPSHOTS = {
    "kestrel": ("gpt-kestrel-2025-05-13 fp_1",),
    "merlin": ("gpt-merlin-2025-05-13 fp_1", "gpt-merlin-2025-08-06 fp_1"),
}
NOTES = ("gpt-kestrel-2025-05-13", "gpt-merlin-2025-05-13 and gpt-merlin-2025-08-06")


def _serve(body: dict[str, Any]) -> dict[str, Any]:
    """Answer as another snapshot than the one that is asked for; of one model, as another in the second half."""
    # Three digits, which every layout keeps in one piece; the question before the run has none.
    number = int((re.findall(r"\d{3}", body["messages"][-1]["content"]) or ["0"])[-1])
    day = "2025-08-06" if body["model"] == "gpt-merlin" and number >= ITEMS else "2025-05-13"
    answer = "YES" if number % 4 else "NO"
    return {"role": "assistant", "content": answer, "model": f"{body['model']}-{day}", "system_fingerprint": "fp_1"}


def _named(text: str) -> set[str]:
    """Return the judges that a table names, by the rule of a reader: the name as a word."""
    return {name for name in SNAPSHOTS if re.search(rf"(?<![\w-]){name}(?![\w-])", text)}


def _states(named: set[str], text: str) -> bool:
    said = " ".join(text.split())
    return all(note in said for name, note in zip(SNAPSHOTS, NOTES, strict=True) if name in named)


def test_every_table_that_names_a_judge_says_which_snapshot_was_served(project: Project) -> None:
    """Tables are those of the documents: a new one that names a judge is held to the same."""
    rows = [
        {
            "id": f"i{place}",
            "request": "What is it?",
            "response": f"This is answer number {place:03}.",
            "system": f"s{place % 2}",
        }
        | {"label": "YES" if place % 3 else "NO"}
        for place in range(4 * ITEMS)
    ]
    project.write("items.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with ChatServer(_serve) as server:
        models = {name: openai_http(server.url, model=f"gpt-{name}") for name in SNAPSHOTS}
        judges = [{"name": name, "judge": "llm", "model": name} for name in models]
        judges.append({"name": "sim", "judge": "simulated", "accuracy": 0.8})
        formats = ["terminal", "markdown", "json", "html", "notebook", "latex", "papers"]
        changes = {"tests": [{"format": {"variants": ["trailing"]}}], "reports": formats, "reference": {"repeats": 2}}
        data = {"source": "jsonl", "path": "items.jsonl", "covariates": ["system"]}
        suite = llm_suite({}, **changes, data=data, judges=judges, gate={"rules": ["as-expected >= 0.1"]})
        write_suite(project, suite | {"models": models})
        done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
        assert done.exit_code in (0, 1, 5), done.output
    assert {judge: tuple(names) for judge, names in report(project, "run")["served"].items()} == SNAPSHOTS
    full = project.run("report", "run", "--format", "terminal", "--full").stdout
    texts = {
        "page": re.findall(r"<table.*?</table>", project.read("run/report.html"), re.DOTALL),
        "notebook": re.findall(r"<table.*?</table>", project.read("run/notebook.html"), re.DOTALL),
        "markdown": re.findall(r"(?:[^\n]+\n\n)?(?:\|[^\n]*\n)+", project.read("run/report.md")),
        "latex": re.findall(r"\\begin\{table\}.*?\\end\{table\}", project.read("run/tables.tex"), re.DOTALL),
        "papers": project.read("run/papers/index.md").split("\n## ")[1:],
        "terminal": [
            part for part in full.split("\n\n") if re.search(r"^ +(kestrel|merlin)\b.*\d", part, re.MULTILINE)
        ],
        "first screen": [done.stdout],
    }
    for place, tables in texts.items():
        plain = [table.replace("\\", "") for table in tables]
        naming = [table for table in plain if _named(table)]
        assert len(naming) >= (1 if place == "first screen" else 4), place
        assert [table for table in naming if not _states(_named(table), table)] == [], place
    assert _states(set(SNAPSHOTS), Measured().overview(project.path / "run").served)
    for words in (
        "compare run:kestrel run:merlin",
        "compare run:kestrel run:merlin --full",
        "gate run",
        "swap run --old kestrel --new merlin",
        "rank run --resamples 100",
        "gate-risk run --nights 10",
        "automate run --judge merlin --judge kestrel",
    ):
        said = project.run(*words.split())
        assert said.exit_code in (0, 1, 3, 5), said.output
        assert _states(set(SNAPSHOTS), said.stdout), (words, said.stdout)
    assert "Served by: gpt-kestrel-2025" in project.run("card", "run", "--judge", "kestrel").stdout


def test_judges_that_were_served_the_same_are_named_together() -> None:
    same = {"a": ("m-1 fp_1",), "b": ("m-1",), "c": ("m-2",), "d": ()}
    assert served_note(same, ["a", "b"]) == "Served: m-1."
    assert served_note(same, ["a b", "c"]) == "Served: a, b m-1; c m-2."
    assert served_note(same, ["a", "d"]) == "Served: a m-1; d not stated."
    assert served_note(same, ["a", "m-1"]) == served_note(same, ["d"]) == ""
