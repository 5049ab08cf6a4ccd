"""Ask user-supplied judges (a function, an address, a program) for verdicts, and read their answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve
from jrh import BuildContext, Judgement, Question, Reply, Scale, Status, Verdict
from jrh.plugins import Judge
from jrh_authoring import (
    MAX_ANSWER,
    Asker,
    Bounds,
    Call,
    Outcome,
    as_values,
    build_endpoint,
    failure,
    function_call,
    parse_answer,
)

from jrh_judges.options import CommandOptions, FunctionOptions, HttpOptions

_SHOWN = 60
_WORD_BITS = 64
_LABEL_KEYS: Final = ("label", "verdict")
_STATUSES: Final = frozenset({Status.UNPARSABLE, Status.OFF_SCALE, Status.ABSTAINED, Status.REFUSED})
"""Statuses a judge may return itself; jrh decides about timeouts and failures."""


def verdict_of(answer: object, scale: Scale) -> Verdict:
    """Return the verdict of an answer, which is a label, number, mapping, `Verdict` or `Judgement`; never raises.

    A mapping has `label` (or `verdict`) and may have `rationale`, `probabilities`, `score`, `status` and `detail`.
    None is an abstention.
    """
    if isinstance(answer, Judgement):
        answer = answer.verdict
    if isinstance(answer, Verdict):
        return _check_verdict(answer, scale)
    if isinstance(answer, Mapping):
        return _from_mapping(answer, scale)
    return _from_value(answer, scale)


def _check_verdict(verdict: Verdict, scale: Scale) -> Verdict:
    if verdict.status is not Status.OK:
        # A judge that claims a timeout would hide jrh's own.
        if verdict.status not in _STATUSES or verdict.presented is not None:
            return _unparsable(f"a verdict with status '{verdict.status.value}' cannot be returned by a judge")
        return Verdict(status=verdict.status, rationale=verdict.rationale, detail=verdict.detail)
    if verdict.presented not in scale:
        return _off_scale(verdict.presented)
    checked = _with_probabilities(verdict.presented or "", verdict.rationale, verdict.probabilities, scale)
    return _with_score(checked, verdict.score)


def _from_mapping(answer: Mapping[object, object], scale: Scale) -> Verdict:
    status = answer.get("status")
    if status is not None and status != Status.OK.value:
        return _from_status(status, answer)
    key = next((key for key in _LABEL_KEYS if key in answer), None)
    if key is None:
        return _unparsable("the answer has no `label`")
    verdict = _from_value(answer[key], scale)
    if verdict.presented is None:
        return verdict
    checked = _with_probabilities(verdict.presented, answer.get("rationale"), answer.get("probabilities"), scale)
    return _with_score(checked, answer.get("score"))


def _with_score(verdict: Verdict, score: object) -> Verdict:
    if score is None or verdict.presented is None:
        return verdict
    # `bool` is an `int` in Python; the comparison refuses infinity and NaN, which JSON cannot hold.
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) <= sys.float_info.max:
        return _unparsable(f"`score` is not a finite number but {type(score).__name__}")
    return evolve(verdict, score=float(score))


def _from_status(status: object, answer: Mapping[object, object]) -> Verdict:
    named = next((known for known in _STATUSES if known.value == status), None)
    if named is None:
        return _unparsable(f"the answer has the status {_short(status)}, which a judge cannot return")
    return Verdict(status=named, detail=_text(answer.get("detail")) or "returned by the judge")


def _from_value(value: object, scale: Scale) -> Verdict:
    if value is None:
        return Verdict(status=Status.ABSTAINED, detail="the judge returned nothing")
    text = _as_text(value)
    if text is None:
        return _unparsable(f"the answer is {type(value).__name__}, not a label")
    if not text.strip():
        return _unparsable("the answer is empty")
    label = scale.match(text)
    return Verdict(status=Status.OK, presented=label) if label is not None else _off_scale(text)


def _as_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        # As JSON writes it, and before `int`, of which `bool` is a kind.
        return "true" if value else "false"
    if isinstance(value, int):
        # Python refuses to write integers of thousands of digits, and no label is one.
        return str(value) if value.bit_length() <= _WORD_BITS else None
    if isinstance(value, float):
        # Programs write 4.0 for the level 4.
        return str(int(value)) if value.is_integer() else str(value)
    return None


def _with_probabilities(label: str, rationale: object, probabilities: object, scale: Scale) -> Verdict:
    if probabilities is None:
        return Verdict(status=Status.OK, presented=label, rationale=_text(rationale))
    if not isinstance(probabilities, Mapping):
        return _unparsable("`probabilities` is not a mapping of labels to numbers")
    read: dict[str, float] = {}
    for name, value in probabilities.items():
        if name not in scale or isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            return _unparsable(f"`probabilities` holds {_short(name)}: {_short(value)}")
        read[str(name)] = float(value)
    return Verdict(status=Status.OK, presented=label, rationale=_text(rationale), probabilities=read)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _short(value: object) -> str:
    return repr(value)[:_SHOWN]


def _off_scale(value: object) -> Verdict:
    return Verdict(status=Status.OFF_SCALE, detail=f"{_short(value)} is not a label of the scale")


def _unparsable(detail: str) -> Verdict:
    return Verdict(status=Status.UNPARSABLE, detail=detail)


class InHouseJudge:
    """Asks a user-supplied judge, with limited concurrency and time."""

    def __init__(
        self, call: Call, bounds: Bounds, *, fingerprint: str, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Keep the call for one question, its limits, and the clean-up for the end."""
        self._asker = Asker(call, bounds)
        self._close = close
        self._bounds = bounds
        self._fingerprint = fingerprint

    async def judge(self, question: Question) -> Judgement:
        """Ask; timeouts and failures become statuses."""
        outcome, attempts, latency = await self._asker.ask(lambda: as_values(question))
        reply = Reply(
            status=outcome.status,
            text=outcome.text,
            # Failed attempts cost as much as the last one.
            cost=None if self._bounds.cost is None else self._bounds.cost * attempts,
            latency=latency,
            fingerprint=self._fingerprint,
            detail=outcome.detail,
            attempts=attempts,
        )
        if not reply.ok:
            return Judgement(verdict=Verdict(status=outcome.status, detail=outcome.detail), reply=reply)
        return Judgement(verdict=verdict_of(outcome.value, question.task.scale), reply=reply)

    async def aclose(self) -> None:
        """Close the judge's resources; asking again reopens them."""
        if self._close is not None:
            await self._close()


def function_judge(options: FunctionOptions, context: BuildContext) -> Judge:
    """Load the callable and make a judge of it.

    Raises:
        JrhError: The module or name does not exist, or is not callable.
    """
    return InHouseJudge(function_call(options, context), options, fingerprint=f"function/{options.function}")


def http_judge(options: HttpOptions, context: BuildContext) -> Judge:
    """Make a judge of the endpoint.

    Raises:
        JrhError: The environment variable for the token is not set.
    """
    endpoint = build_endpoint(options, context)
    return InHouseJudge(endpoint.call, options, fingerprint=endpoint.fingerprint, close=endpoint.aclose)


_CHUNK = 65_536
_KEPT_ERRORS = 4_096
_LAST_PATIENCE = 1.0


def command_judge(options: CommandOptions, context: BuildContext) -> Judge:
    """Make a judge of the program, which is started in the suite's directory."""
    return InHouseJudge(
        _caller(options.command, context.base), options, fingerprint=f"command/{' '.join(options.command)}"
    )


def _caller(command: tuple[str, ...], base: Path) -> Call:
    async def call(values: dict[str, object]) -> Outcome:
        try:
            # A new session, so that the program's own child processes can be killed with it.
            # An argument list and no shell: nothing in a suite is expanded.
            process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=base, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            return failure(f"'{command[0]}' cannot be started: {reason}", retry=False)
        try:
            # ASCII with escapes, so that the locale of the program does not matter.
            return await _talk(process, json.dumps(values).encode("ascii"))
        finally:
            await _end(process)

    return call


async def _talk(process: Process, question: bytes) -> Outcome:
    # All three at once: a program that fills one pipe while jrh waits on another would never end.
    _, output, errors = await asyncio.gather(_write(process, question), _answer(process), _errors(process))
    if output is None:
        return failure(f"the answer is longer than {MAX_ANSWER} bytes", retry=False)
    # Only after both pipes are at their end; the exit code decides over the text.
    code = await process.wait()
    if code != 0:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        return failure(f"exit code {code}" + (f": {lines[-1]}" if lines else ""))
    text = output.decode("utf-8", "replace")
    return Outcome(value=parse_answer(text), text=text)


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
    buffer = bytearray()
    while chunk := await process.stdout.read(_CHUNK):
        buffer += chunk
        if len(buffer) > MAX_ANSWER:
            _kill(process)
            return None
    return bytes(buffer)


async def _errors(process: Process) -> bytes:
    """Read stderr to the end, so that the program never blocks, and keep the last part."""
    assert process.stderr is not None
    tail = b""
    while chunk := await process.stderr.read(_CHUNK):
        tail = (tail + chunk)[-_KEPT_ERRORS:]
    return tail


async def _end(process: Process) -> None:
    _kill(process)
    # A pipe that still holds something is closed only when it is read; what left the group may hold one open.
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(asyncio.gather(_drain(process.stdout), _drain(process.stderr)), _LAST_PATIENCE)
    await process.wait()


async def _drain(pipe: asyncio.StreamReader | None) -> None:
    while pipe is not None and await pipe.read(_CHUNK):
        pass


def _kill(process: Process) -> None:
    # Kill the whole group, even after the program itself has exited: it may have left children behind.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
