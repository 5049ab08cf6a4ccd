"""The search for the canary key finds what it has to find (point 7)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CANARY = Path(__file__).with_name("canary.py")
PREPARE = (
    "import base64, os, pathlib, sqlite3; key = os.environ['JRH_TEST_KEY']; "
    "file = pathlib.Path(os.environ['TMPDIR'], 'kept'); "
)


def canary(tmp_path: Path, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    return run(tmp_path, *options, sys.executable, "-c", PREPARE + program)


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CANARY), *arguments]
    # What is kept of a leak goes with the test; and these tests may be run by a canary themselves.
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60)


LEAKS = {
    "in a file": "file.write_text('Authorization: Bearer ' + key)",
    "in a file that is not text": "file.write_bytes(bytes(range(256)) + key.encode() + bytes(5))",
    "in a name's directory": "file.mkdir(); (file / 'deep').mkdir(); (file / 'deep' / 'log').write_text(key)",
    "cut off at the end": "file.write_text(key[:-9])",
    "cut off at the start": "file.write_text(key[20:])",
    "in base64": "file.write_bytes(base64.b64encode(b'Basic user:' + key.encode() + b'@'))",
    "in a database": (
        "connection = sqlite3.connect(file); connection.execute('PRAGMA journal_mode=WAL'); "
        "connection.execute('CREATE TABLE t (a)'); "
        "connection.execute('INSERT INTO t VALUES (?)', ('x' * 4050 + key + 'x' * 9000,)); "
        "connection.commit(); os._exit(0)"
    ),
    "of another variable": "file.write_text(os.environ['OPENAI_API_KEY'])",
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found_and_named(tmp_path: Path, leak: str) -> None:
    done = canary(tmp_path, LEAKS[leak], "--at-least", "1")
    assert done.returncode == 1, done.stdout
    assert re.search(r"canary: the key is in \d+ places; they are kept:\ncanary:   \S+/kept", done.stdout)
    assert not re.search(r"[0-9a-f]{16}", done.stdout), "the key itself is shown"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_key_that_is_printed_is_found(tmp_path: Path, stream: str) -> None:
    done = canary(
        tmp_path, f"import sys; file.write_text('harmless'); print(key, file=sys.{stream})", "--at-least", "1"
    )
    assert done.returncode == 1
    assert re.search(r"canary:   \S+/output\n", done.stdout)


def test_without_a_leak_the_output_and_the_exit_code_are_the_commands_own(tmp_path: Path) -> None:
    done = canary(tmp_path, "file.write_text('harmless'); print('5 of 5 fine'); raise SystemExit(7)", "--at-least", "1")
    assert done.returncode == 7
    assert done.stdout == "5 of 5 fine\ncanary: the key is not in what was printed and in none of 1 files\n"


def test_a_search_through_next_to_nothing_does_not_count(tmp_path: Path) -> None:
    done = canary(tmp_path, "file.write_text('harmless')", "--at-least", "2")
    assert done.returncode == 1
    assert "only 1 files were written, at least 2 were expected" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [(), ("--numprocesses", "1")], ids=["alone", "in a worker"])
def test_pytest_writes_where_the_search_looks(tmp_path: Path, parallel: tuple[str, ...]) -> None:
    (tmp_path / "test_leak.py").write_text(
        "import os\n\ndef test_leak(tmp_path):\n    (tmp_path / 'kept').write_text(os.environ['OPENAI_API_KEY'])\n"
    )
    done = run(tmp_path, "--at-least", "1", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *parallel)
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert re.search(r"canary:   \S+/pytest/(popen-gw0/)?test_leak0/kept", done.stdout)
