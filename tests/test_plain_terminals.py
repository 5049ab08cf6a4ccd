"""What a terminal or an output cannot show degrades; it never ends a command (issue 16)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from jrh_testing import Project
from support.suites import simulated_suite, write_items, write_suite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("ran"))
    write_items(project, 6)
    write_suite(project, simulated_suite(name="r\u00e9sum\u00e9s", tests=[{"format": {"variants": ["spaces"]}}]))
    assert project.run("run", "suite.yaml", "--run-dir", "run").exit_code == 0
    return project


def on_a_terminal(project: Project, term: str, *arguments: str) -> bytes:
    """Run `jrh` with a terminal as its output; return what it wrote there."""
    master, slave = pty.openpty()
    env = {key: value for key, value in {**os.environ, **project.env}.items() if key != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "jrh", *arguments],
        cwd=project.path,
        env={**env, "TERM": term, "COLUMNS": "120"},
        stdout=slave,
        stderr=slave,
        stdin=subprocess.DEVNULL,
    ):
        os.close(slave)
        said = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux, once the other side is closed
                break
            if not part:
                break
            said += part
    os.close(master)
    return said


@pytest.mark.parametrize(
    "arguments", [("report", "run"), ("run", "suite.yaml", "--run-dir", "run"), ("plan", "suite.yaml")]
)
def test_a_dumb_terminal_gets_no_colour(ran: Project, arguments: tuple[str, ...]) -> None:
    said = on_a_terminal(ran, "dumb", *arguments)
    assert len(said) > 100
    assert b"\x1b" not in said


def test_any_other_terminal_gets_colour(ran: Project) -> None:
    assert b"\x1b[" in on_a_terminal(ran, "xterm-256color", "report", "run")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437"])
def test_an_encoding_without_a_character_gets_another(ran: Project, encoding: str) -> None:
    for arguments in (("report", "run", "--full"), ("plan", "suite.yaml"))[: 2 if encoding == "ascii" else 1]:
        done = subprocess.run(
            [sys.executable, "-m", "jrh", *arguments],
            cwd=ran.path,
            env={**os.environ, **ran.env, "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        said = done.stdout.decode(encoding)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
        assert ("r?sum?s" if encoding == "ascii" else "r\u00e9sum\u00e9s") in said
        assert "\u2500" not in said or encoding == "cp437"


def test_data_in_an_encoding_without_a_character_stays_data() -> None:
    words = {"name": "r\u00e9sum\u00e9", "face": "\U0001f600"}
    script = "import json, sys; from jrh.text import terminal; terminal.say(sys.stdin.read(), data=True)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(words, ensure_ascii=False),
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-8:strict", "LC_ALL": "C"},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == words
    ascii_only = script.replace("terminal.say(", "sys.stdout.reconfigure(encoding='ascii'); terminal.say(")
    done = subprocess.run(
        [sys.executable, "-c", ascii_only],
        input=json.dumps(words, ensure_ascii=False),
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.isascii()
    assert json.loads(done.stdout) == words
