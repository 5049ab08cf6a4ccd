"""Damage the files of a finished run at random: one message or the same report, and nothing is ever made up.

One round is one damage to one file of a copied run directory; then `jrh report`, `jrh run` and `jrh salvage`.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen
from jrh_testing import ChatServer, Inside, LabelAnswers, Outcome
from support.keys import KEY, KEY_VARIABLE
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

from campaigns.rounds import Round

PAGE = 4096
UNSEALED = 0.3
"""Share of the damaged stores that have no checksum of the whole file."""
FILES = ("run.sqlite",) * 6 + ("log.jsonl", "run.lock", "cache")
RUN = ("run", "suite.yaml", "--run-dir", "run")
REPORTS = ("report.md", "report.json")


def _flipped(data: bytes, dice: Random) -> bytes:
    bits = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 3, 20))):
        place = dice.randrange(len(bits))
        bits[place] ^= 1 << dice.randrange(8)
    return bytes(bits)


def _truncated(data: bytes, dice: Random) -> bytes:
    return data[: dice.choice((0, dice.randrange(len(data)), len(data) // PAGE // 2 * PAGE))]


def _swapped(data: bytes, dice: Random) -> bytes:
    pages = [data[place : place + PAGE] for place in range(0, len(data), PAGE)]
    if len(pages) > 2:
        one, two = dice.sample(range(1, len(pages)), 2)
        pages[one], pages[two] = pages[two], pages[one]
    return b"".join(pages)


def _zeroed(data: bytes, dice: Random) -> bytes:
    start = dice.randrange(0, len(data), 512)
    return data[:start] + bytes(len(data[start : start + 512])) + data[start + 512 :]


def _noisy(data: bytes, dice: Random) -> bytes:
    start = dice.randrange(0, len(data), 512)
    return data[:start] + dice.randbytes(len(data[start : start + 512])) + data[start + 512 :]


def _longer(data: bytes, dice: Random) -> bytes:
    return data + dice.randbytes(dice.randrange(1, 10_000))


def _digit(data: bytes, dice: Random) -> bytes:
    """Change one digit: what is most like a number that nobody notices."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    place = dice.choice(places) if places else 0
    return data[:place] + bytes([48 + dice.randrange(10)]) + data[place + 1 :]


DAMAGES: Mapping[str, Callable[[bytes, Random], bytes]] = {
    "bit flip": _flipped,
    "digit": _digit,
    "truncation": _truncated,
    "page swap": _swapped,
    "zeros": _zeroed,
    "noise": _noisy,
    "longer": _longer,
}


@frozen(kw_only=True)
class Sound:
    """The run that is damaged."""

    project: Inside
    server: ChatServer
    reports: dict[str, bytes]
    records: dict[str, tuple[Any, ...]]
    replies: frozenset[str]


@cache
def sound() -> Sound:
    """Make the run once; it stays to the end of the process."""
    place = Path(tempfile.mkdtemp(prefix="jrh-sound-"))
    server = ChatServer(LabelAnswers(labels=LABELS))
    server.__enter__()
    project = Inside(place, env={KEY_VARIABLE: KEY})
    write_items(project, 30)
    model = openai_http(server.url, price={"input": 1.0, "output": 2.0}, max_tokens=20)
    write_suite(project, llm_suite(model, tests=[{"format": {"variants": ["spaces"]}}], reports=["markdown", "json"]))
    outcome = project.run(*RUN)
    assert outcome.exit_code == 0, outcome.output
    return Sound(
        project=project,
        server=server,
        reports=_reports(project),
        records=_records(project, "run"),
        replies=frozenset(_replies(project, "run")),
    )


def campaign(played: Round) -> None:
    """Damage one file, then read, continue and salvage the run."""
    whole = sound()
    shutil.copytree(whole.project.path, played.place, dirs_exist_ok=True)
    project = Inside(played.place, env={KEY_VARIABLE: KEY})
    file = played.dice.choice(FILES)
    path = next(iter(sorted(project.cache.rglob("*.sqlite")))) if file == "cache" else project.path / "run" / file
    how = played.dice.choice(list(DAMAGES))
    unsealed = file == "run.sqlite" and played.dice.random() < UNSEALED
    if unsealed:
        _unseal(path)
    data = path.read_bytes()
    damaged = DAMAGES[how](data, played.dice) if data else played.dice.randbytes(100)
    path.write_bytes(damaged)
    played.counted[how] += 1
    if damaged == data:
        return
    asked = whole.server.count
    for command in (("report", "run"), RUN):
        outcome = project.run(*command)
        _check(played, whole, project, outcome, f"{command[0]} after {how} of {file}", unsealed=unsealed)
    played.check(whole.server.count == asked or file == "run.sqlite", "calls were made again")
    if file == "run.sqlite":
        _salvage(played, whole, project, f"salvage after {how}")


def _unseal(path: Path) -> None:
    """Take away the checksum of the whole file, as a kill does: then only records have one."""
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA application_id = 0")


def _check(played: Round, whole: Sound, project: Inside, outcome: Outcome, what: str, *, unsealed: bool) -> None:
    """Check that there is one message, or the same report."""
    played.check("Traceback" not in outcome.output, f"{what}: {outcome.output}")
    played.check(outcome.exit_code in (0, 2), f"{what}: exit code {outcome.exit_code}: {outcome.output}")
    played.counted["refused" if outcome.exit_code else "as before"] += 1
    if outcome.exit_code == 2:
        lines = outcome.stderr.strip().splitlines()
        if unsealed:  # a run may get as far as its measures before it reads the page
            lines = [line for line in lines if line.startswith("jrh: ")]
        played.check(len(lines) == 1, f"{what}: {len(lines)} lines: {outcome.stderr}")
    elif _reports(project) != whole.reports:
        played.counted["another report, unsealed" if unsealed else "another report"] += 1
        played.check(unsealed, f"{what}: another report without a word: {outcome.stderr}")


def _salvage(played: Round, whole: Sound, project: Inside, what: str) -> None:
    outcome = project.run("salvage", "run")
    played.check("Traceback" not in outcome.output, f"{what}: {outcome.output}")
    played.check(outcome.exit_code in (0, 2, 3), f"{what}: exit code {outcome.exit_code}: {outcome.output}")
    if not (project.path / "run-salvaged" / "run.sqlite").exists():
        return
    saved = _records(project, "run-salvaged")
    made_up = {key: row for key, row in saved.items() if whole.records.get(key) != row}
    played.check(not made_up, f"{what}: records that never were: {made_up}")
    played.counted["salvaged"] += 1
    played.counted["records saved"] += len(saved)
    invented = set(_replies(project, "run-salvaged")) - whole.replies
    played.check(not invented, f"{what}: replies that never were: {invented}")


def _reports(project: Inside) -> dict[str, bytes]:
    return {name: (project.path / "run" / name).read_bytes() for name in REPORTS}


def _records(project: Inside, run: str) -> dict[str, tuple[Any, ...]]:
    with closing(sqlite3.connect(project.path / run / "run.sqlite")) as store:
        rows = store.execute("SELECT trial_id, item_id, judge, status, presented, canonical, gold, cost FROM records")
        return {row[0]: row for row in rows}


def _replies(project: Inside, run: str) -> list[str]:
    with closing(sqlite3.connect(project.path / run / "run.sqlite")) as store:
        return [row[0] for row in store.execute("SELECT payload FROM calls WHERE payload IS NOT NULL")]
