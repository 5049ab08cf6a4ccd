"""Run a user-supplied program as a judge."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from jrh import BuildContext
from jrh.plugins import Judge
from jrh_authoring import MAX_ANSWER, Call, Outcome, decoded, failed

from jrh_judges.inhouse import InHouseJudge
from jrh_judges.options import CommandOptions

_CHUNK = 65_536
_KEPT_ERRORS = 4_096


def command_judge(options: CommandOptions, context: BuildContext) -> Judge:
    """Make a judge of the program, which is started in the suite's directory."""
    return InHouseJudge(
        _caller(options.command, context.base), options, fingerprint=f"command/{' '.join(options.command)}"
    )


def _caller(command: tuple[str, ...], base: Path) -> Call:
    async def call(values: dict[str, object]) -> Outcome:
        try:
            # A new session, so that the program's own child processes can be killed with it.
            process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=base, start_new_session=True
            )
        except OSError as error:
            return failed(f"'{command[0]}' cannot be started: {error.strerror or error}", retry=False)
        except ValueError as error:
            return failed(f"'{command[0]}' cannot be started: {error}", retry=False)
        try:
            return await _talk(process, json.dumps(values).encode("ascii"))
        finally:
            await _end(process)

    return call


async def _talk(process: Process, question: bytes) -> Outcome:
    _, output, errors = await asyncio.gather(
        _write(process, question),
        _answer(process),
        _errors(process),
    )
    if output is None:
        return failed(f"the answer is longer than {MAX_ANSWER} bytes", retry=False)
    code = await process.wait()
    if code != 0:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        return failed(f"exit code {code}" + (f": {lines[-1]}" if lines else ""))
    text = output.decode("utf-8", "replace")
    return Outcome(value=decoded(text), text=text)


async def _write(process: Process, question: bytes) -> None:
    assert process.stdin is not None
    # A program that never reads its question may still answer.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(question)
        await process.stdin.drain()
    process.stdin.close()


async def _answer(process: Process) -> bytes | None:
    """Read the program's output; if it is too long, kill the program and return None."""
    assert process.stdout is not None
    kept = bytearray()
    while chunk := await process.stdout.read(_CHUNK):
        kept += chunk
        if len(kept) > MAX_ANSWER:
            _kill(process)
            return None
    return bytes(kept)


async def _errors(process: Process) -> bytes:
    """Read stderr to the end, so that the program never blocks, and keep the last part."""
    assert process.stderr is not None
    kept = b""
    while chunk := await process.stderr.read(_CHUNK):
        kept = (kept + chunk)[-_KEPT_ERRORS:]
    return kept


async def _end(process: Process) -> None:
    _kill(process)
    await process.wait()


def _kill(process: Process) -> None:
    # Kill the whole group, even after the program itself has exited: it may have left children behind.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
