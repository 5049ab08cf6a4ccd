"""What stands in tables, stored runs, suites and replies reaches the terminal without its control sequences."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping

import pytest
from jrh_testing import Outcome, Project, call
from support.echoing import echoing_server
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite

EVIL = "x\x1b]52;c;cHduZWQ=\x07\x1b[2J\u202e\x9b31my\x9d8;;u\x9cz"
CLEAN = "xyz"
ACTIVE = {"\x1b", "\x07", "\x9b", "\x9c", "\x9d", "\u202e"}


def _labels(project: Project) -> None:
    project.write("items.csv", f"id,request,response,label\na,What?,An answer.,YES\nb,What?,Another.,{EVIL}\n")
    write_suite(project, simulated_suite(data={"source": "csv", "path": "items.csv"}))


def _run_of_labels(project: Project) -> Outcome:
    _labels(project)
    return call(project, "run", "suite.yaml", "--run-dir", "r")


def _audit_of_labels(project: Project) -> Outcome:
    _labels(project)
    return call(project, "audit", "suite.yaml")


def _key(project: Project) -> Outcome:
    write_suite(project, simulated_suite())
    project.write("suite.yaml", project.read("suite.yaml") + json.dumps(EVIL) + ": 1\n")
    return call(project, "run", "suite.yaml", "--run-dir", "r")


def _gate(project: Project) -> Outcome:
    return call(project, "gate", "stored", "--rule", "as-expected[nope] >= 0.1")


def _side(project: Project) -> Outcome:
    return call(project, "compare", "stored:nope", "stored")


def _judge(project: Project) -> Outcome:
    return call(project, "compare", "stored", "stored", "--judge", "zzz")


def _reply(project: Project, *more: str) -> Outcome:
    write_items(project, 2)
    with echoing_server({"evil": lambda _: (401, EVIL.encode(), {})}) as url:
        write_suite(project, llm_suite(openai_http(f"{url}/evil/v1", max_attempts=1)))
        return call(project, "run", "suite.yaml", "--run-dir", "r", "--yes", *more)


def _argument(project: Project) -> Outcome:
    return call(project, EVIL)


CHANNELS: Mapping[str, Callable[[Project], Outcome]] = {
    "gold label, run": _run_of_labels,
    "gold label, audit": _audit_of_labels,
    "suite": _key,
    "names in a run, gate": _gate,
    "names in a run, side of a comparison": _side,
    "names in a run, judge of a comparison": _judge,
    "reply to the preflight": _reply,
    "reply in the run": lambda project: _reply(project, "--no-preflight"),
    "argument": _argument,
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a run whose judge has a name that acts on a terminal."""
    project = Project(tmp_path_factory.mktemp("evil"))
    rows = [
        {"item": f"i{n}", "judge": EVIL, "test": test, "label": "YES", "gold": "YES"}
        for n in range(8)
        for test in ("reference", EVIL)
    ]
    project.write("log.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    columns = {name: name for name in rows[0]}
    task = {"scale": {"labels": ["YES", "NO"]}}
    project.write(
        "log.yaml", json.dumps({"name": "evil", "path": "log.jsonl", "task": task, "columns": columns}) + "\n"
    )
    done = call(project, "import", "log.yaml", "--run-dir", "stored")
    assert done.exit_code == 0, done.output
    return project


@pytest.mark.parametrize("channel", CHANNELS)
def test_errors_quote_untrusted_text_without_what_acts_on_a_terminal(
    channel: str, project: Project, stored: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    shutil.copytree(stored.path / "stored", project.path / "stored")
    done = CHANNELS[channel](project)
    assert done.exit_code != 0
    assert CLEAN in done.output, done.output
    assert ACTIVE & set(done.output) == set(), ascii(done.output)


def test_a_plan_that_warns_of_a_model_family_shows_no_control_sequence_of_the_data(project: Project) -> None:
    project.write(
        "items.csv", f"id,request,response,label,by\na,What?,One.,YES,gpt-4o {EVIL}\nb,What?,Two.,NO,gpt-4o\n"
    )
    data = {"source": "csv", "path": "items.csv", "columns": {"author": "by"}}
    model = {**openai_http("http://127.0.0.1:9/v1"), "model": "gpt-4o-mini"}
    write_suite(project, llm_suite(model, data=data))
    done = call(project, "plan", "suite.yaml", "--run-dir", "new")
    assert done.exit_code == 0, done.output
    assert "Warning: " in done.stdout
    assert not ACTIVE & set(done.output)
