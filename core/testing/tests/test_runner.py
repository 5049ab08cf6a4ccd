"""The runner runs the real program, apart from the user's own cache, keys and terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from jrh_testing import Project, Running, run_jrh, sample_records, start_jrh

pytest_plugins = ["jrh_testing.plugin"]

SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ), sys.stdin.read()]))"


@pytest.fixture
def shadow(tmp_path):
    """Put a package `jrh` that shows how it was called where `-m jrh` finds it first."""
    home = tmp_path / "shadow"
    (home / "jrh").mkdir(parents=True)
    (home / "jrh" / "__init__.py").write_text("")
    (home / "jrh" / "__main__.py").write_text(SHOW)
    return {"PYTHONPATH": str(home)}


def test_the_real_program_runs(project):
    outcome = project.run("--version")
    assert outcome.exit_code == 0, outcome.output
    assert "0.1.0" in outcome.stdout
    assert outcome.duration > 0


def test_a_usage_error_is_an_exit_code_and_a_message(tmp_path):
    outcome = run_jrh("no-such-command", cwd=tmp_path)
    assert outcome.exit_code == 2
    assert "no-such-command" in outcome.stderr


def test_arguments_and_input_arrive(tmp_path, shadow):
    outcome = run_jrh("run", tmp_path / "a suite.yaml", "--yes", cwd=tmp_path, env=shadow, input="y\nß")
    arguments, _, standard_input = json.loads(outcome.stdout)
    assert arguments == ["run", str(tmp_path / "a suite.yaml"), "--yes"]
    assert standard_input == "y\nß"


def test_keys_of_the_machine_do_not_arrive_but_those_of_the_test_do(tmp_path, shadow, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "costs money")
    monkeypatch.setenv("HF_TOKEN", "private")
    outcome = run_jrh(cwd=tmp_path, env={**shadow, "ACME_API_KEY": "canary"})
    _, environment, _ = json.loads(outcome.stdout)
    assert "OPENAI_API_KEY" not in environment
    assert "HF_TOKEN" not in environment
    assert environment["ACME_API_KEY"] == "canary"
    assert environment["NO_COLOR"] == "1"
    assert os.environ["OPENAI_API_KEY"] == "costs money"


def test_a_project_has_a_cache_of_its_own(tmp_path, shadow):
    project = Project(tmp_path, env={"SOME": "thing"})
    _, environment, _ = json.loads(project.run(env=shadow).stdout)
    assert environment["JRH_CACHE_DIR"] == str(tmp_path / ".cache")
    assert environment["SOME"] == "thing"


def test_a_project_writes_exactly_what_it_is_given(project):
    path = project.write("data/items.csv", "id\r\nä\n")
    assert path == project.path / "data" / "items.csv"
    assert path.read_bytes() == "id\r\nä\n".encode()
    assert project.write("raw.bin", b"\xff").read_bytes() == b"\xff"
    assert project.read("data/items.csv") == "id\nä\n"


def sleeping(tmp_path, code="import time; print('up', flush=True); time.sleep(60)"):
    return Running([sys.executable, "-c", code], tmp_path)


def test_a_program_can_be_killed(tmp_path):
    with sleeping(tmp_path) as program:
        assert program.is_running
        program.kill()
        assert program.wait(60).exit_code == -signal.SIGKILL


LAST_WORDS = """
import time
try:
    open('up', 'w').close(); time.sleep(60)
except KeyboardInterrupt:
    print('bye'); raise SystemExit(130)
"""


@pytest.mark.parametrize("disposition", [signal.default_int_handler, signal.SIG_IGN], ids=["foreground", "background"])
def test_a_program_can_be_interrupted_and_say_its_last_words(tmp_path, disposition):
    """Also where this process ignores Ctrl-C, as a job does that a script started in the background."""
    before = signal.signal(signal.SIGINT, disposition)
    try:
        assert interrupted(tmp_path) == (130, "bye\n")
        assert signal.getsignal(signal.SIGINT) == disposition
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted(tmp_path):
    with sleeping(tmp_path, LAST_WORDS) as program:
        deadline = time.monotonic() + 60
        while not (tmp_path / "up").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        program.interrupt()
        outcome = program.wait(60)
    return outcome.exit_code, outcome.stdout


def test_a_program_that_takes_too_long_is_ended(tmp_path):
    program = sleeping(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(0.2)
    assert not program.is_running


def test_a_program_that_still_runs_at_the_end_of_the_test_is_ended(tmp_path):
    with sleeping(tmp_path) as program:
        pass
    assert not program.is_running


def test_the_program_can_be_started_and_waited_for(tmp_path, shadow):
    with start_jrh("plan", cwd=tmp_path, env=shadow) as program:
        arguments, _, standard_input = json.loads(program.wait().stdout)
    assert (arguments, standard_input) == (["plan"], "")


def test_the_records_of_a_run_can_be_read(project):
    from jrh.store.records_table import TrialRow
    from jrh.store.run_store import Store

    rows = sample_records(items=2)
    store = Store.open(project.path / "run", "suite")
    try:
        trials = [
            TrialRow(place, row.trial_id, row.case_id, row.judge, row.repeat, 0) for place, row in enumerate(rows)
        ]
        store.trials.replace("d", trials)
        store.records.put([(row, None, None) for row in rows])
        store.flush()
        during = project.records("run")
    finally:
        store.close()
    after = project.records("run")
    assert after.text("trial_id") == during.text("trial_id") == [row.trial_id for row in rows]
    assert after.text("status") == [row.status.value for row in rows]


def test_the_fixture_serves(chat_server):
    assert chat_server.url.startswith("http://127.0.0.1:")
    assert chat_server.url.endswith("/v1")
    assert chat_server.count == 0
