"""Run a user-supplied program as a judge."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import jrh_judges.inhouse
import jrh_judges.plugin
import pytest
from jrh import Question, Scale, Status, Task
from jrh_testing import build

TASK = Task(name="facts", scale=Scale.of_labels("YES", "NO"))
QUESTION = Question(trial_id="t", task=TASK, fields={"response": "Zażółć \ud800"})
BIG = Question(trial_id="t", task=TASK, fields={"response": "x" * 1_000_000})


@pytest.fixture
def judge(tmp_path):
    def make(program, **options):
        (tmp_path / "own.py").write_text(program, encoding="utf-8")
        command = options.pop("command", [sys.executable, "-S", "own.py"])
        return build(jrh_judges.plugin, "command", options={"command": command, **options}, task=TASK, base=tmp_path)

    return make


@pytest.mark.parametrize(
    ("program", "status", "label"),
    [
        ("print('NO')", Status.OK, "NO"),
        ('print(\'{"label": "NO"}\')', Status.OK, "NO"),
        ("import json, sys; print(json.load(sys.stdin)['labels'][1])", Status.OK, "NO"),
        ("print('MAYBE')", Status.OFF_SCALE, None),
        ("", Status.UNPARSABLE, None),
        ("print('null')", Status.ABSTAINED, None),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", Status.OFF_SCALE, None),
        ("print('YES'); raise SystemExit(1)", Status.PROVIDER_ERROR, None),
        ("import sys; sys.exit('no key')", Status.PROVIDER_ERROR, None),
        ("print('Y' * 3_000_000)", Status.PROVIDER_ERROR, None),
        ("while True: print('YES' * 1000)", Status.PROVIDER_ERROR, None),
    ],
)
async def test_what_it_writes_is_a_verdict_or_a_status(judge, program, status, label):
    verdict = (await judge(program, timeout=20).judge(QUESTION)).verdict

    assert (verdict.status, verdict.presented) == (status, label), verdict.detail


async def test_its_last_line_of_errors_says_why_it_failed(judge):
    verdict = (await judge("import sys; print('first', file=sys.stderr); sys.exit('no key')").judge(QUESTION)).verdict

    assert verdict.detail == "exit code 1: no key"


def number_of_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_no_pipe_stays_open_after_an_answer_that_is_too_long(judge, monkeypatch):
    # It reads slower than the program writes, so that the pipe is full when the program is killed.
    monkeypatch.setattr(jrh_judges.inhouse, "_CHUNK", 16)
    monkeypatch.setattr(jrh_judges.inhouse, "MAX_ANSWER", 4_000)
    before = number_of_open_files()
    verdict = (await judge("while True: print('YES' * 100_000)", timeout=20).judge(QUESTION)).verdict

    assert verdict.status is Status.PROVIDER_ERROR
    assert number_of_open_files() == before


async def test_a_program_that_does_not_read_its_question_may_answer(judge):
    assert (await judge("print('YES')").judge(BIG)).verdict.presented == "YES"


async def test_a_program_that_fills_its_errors_is_not_blocked(judge):
    program = "import sys\nfor _ in range(2000): sys.stderr.write('x' * 1000)\nprint('YES')"

    assert (await judge(program, timeout=20).judge(BIG)).verdict.presented == "YES"


async def test_a_late_program_and_what_it_started_are_ended(judge, tmp_path):
    program = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])\n"
        "pathlib.Path('pids').write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )

    pids = tmp_path / "pids"
    for seconds in (1.5, 6, 24):  # on a busy machine, it is late before it has started anything
        judgement = await judge(program, timeout=seconds).judge(QUESTION)
        assert judgement.verdict.status is Status.TIMEOUT
        if pids.exists() and pids.read_text():
            break

    assert await _gone(int(pids.read_text()))


async def test_a_run_that_is_interrupted_leaves_no_program_behind(judge, tmp_path):
    program = "import os, time, pathlib\npathlib.Path('pids').write_text(str(os.getpid()))\ntime.sleep(60)\n"
    asking = asyncio.create_task(judge(program).judge(QUESTION))
    for _ in range(1000):
        if (tmp_path / "pids").exists() and (tmp_path / "pids").read_text():
            break
        await asyncio.sleep(0.01)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert await _gone(int((tmp_path / "pids").read_text()))


async def _gone(pid):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if _zombie(pid):
            return True
        await asyncio.sleep(0.02)
    return False


def _zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


@pytest.mark.parametrize("command", [["./no-such-program"], ["a\0b"]])
async def test_a_program_that_cannot_be_started_is_a_status(judge, command):
    verdict = (await judge("", command=command).judge(QUESTION)).verdict

    assert verdict.status is Status.PROVIDER_ERROR
    assert "cannot be started" in verdict.detail


async def test_no_shell_reads_the_command(judge):
    program = "import sys; print('YES' if sys.argv[1:] == ['$HOME; echo NO'] else 'NO')"

    one = judge(program, command=[sys.executable, "-S", "own.py", "$HOME; echo NO"])

    assert (await one.judge(QUESTION)).verdict.presented == "YES"


async def test_it_is_asked_again_only_where_the_suite_says_so(judge, tmp_path):
    program = (
        "import pathlib, sys\n"
        "path = pathlib.Path('calls'); calls = int(path.read_text()) + 1 if path.exists() else 1\n"
        "path.write_text(str(calls))\n"
        "sys.exit(1) if calls < 3 else print('YES')\n"
    )

    judgement = await judge(program, attempts=3, wait=0).judge(QUESTION)

    assert judgement.verdict.presented == "YES"
    assert judgement.reply is not None
    assert judgement.reply.attempts == 3
