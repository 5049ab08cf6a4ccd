"""Kill the real program at random moments, let it continue, and compare with a run that nobody disturbed.

One round is one run directory: up to `MOST` kills or signals, then a run to the end. The server counts what it
answers and what it bills; nothing that jrh says is believed without it.
"""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import define, frozen
from jrh.store.records_table import GROWING
from jrh_testing import ChatServer, Outcome, Project
from jrh_testing.runner import Running
from jrh_testing.server.bodies import prompt_of, tokens
from support.keys import KEY, KEY_VARIABLE
from support.looking import report_bytes
from support.preloaded import Preloaded
from support.rewording import Rewording
from support.suites import LABELS, llm_suite, openai_http, write_items, write_suite

from campaigns.rounds import Round

MOST = 14
"""Kills of one run."""
CONCURRENCY = 6
PRICE = {"input": 1.0, "output": 2.0}
MOMENTS = ("time", "start", "request", "request", "report", "report")
GENTLE = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
INTERRUPTED = 130
WORDS = ("The river runs north past the old mill", "A comet was seen twice above the harbour", "Copper melts near one")


class Provider(Rewording):
    """Adds up what it bills."""

    def __init__(self) -> None:
        super().__init__()
        self.billed: Counter[str] = Counter()
        """Prompt -> millionths of a dollar."""

    def __call__(self, body: dict[str, Any]) -> str:
        prompt, reply = prompt_of(body), super().__call__(body)
        self.billed[prompt] += tokens(prompt) * 1 + tokens(reply) * 2
        return reply

    def total(self) -> int:
        """Return what was billed so far, in millionths of a dollar."""
        return sum(self.billed.values())


def _judging(model: Mapping[str, Any]) -> dict[str, Any]:
    tests = [{"format": {"variants": ["spaces"]}}, {"stochastic": {"repeats": 3, "vary_seed": False}}]
    return llm_suite(model, tests=tests, reference={"repeats": 2})


def _writing(model: Mapping[str, Any]) -> dict[str, Any]:
    task = {"instruction": "Right?", "rubric": "YES: it is true. NO: it is false.", "scale": {"labels": list(LABELS)}}
    return llm_suite(model, tests=[{"paraphrase": {"model": "mini"}}, {"label-flip": {"model": "mini"}}], task=task)


def _overlapping(model: Mapping[str, Any]) -> dict[str, Any]:
    """Write drafts nearly to the end, so that two judges are asked meanwhile about the cases of earlier tests."""
    tests: list[dict[str, Any]] = [{"format": {"variants": ["spaces", "trailing"]}}]
    tests += [{"paraphrase": {"model": "mini", "name": name}} for name in ("first", "second")]
    tests += [{"label-flip": {"model": "mini"}}, {"paraphrase": {"model": "mini", "name": "last"}}]
    judges = [{"name": "mini", "judge": "llm", "model": "mini"}, {"name": "sim", "judge": "simulated"}]
    return {**_writing(model), "tests": tests, "judges": judges, "reference": {"repeats": 2}}


SUITES: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "judging": _judging,
    "writing": _writing,
    "overlapping": _overlapping,
}


@frozen(kw_only=True)
class Undisturbed:
    """The run that nobody stopped, and its server."""

    suite: dict[str, Any]
    server: ChatServer
    provider: Provider
    calls: int
    written: int
    """Calls that write drafts."""
    prompts: Counter[str]
    billed: int
    cost: float
    reports: dict[str, bytes]
    files: frozenset[str]
    seconds: float
    """How long a whole run takes."""
    again: float
    """How long a run takes that has nothing to ask."""


def prepared(suite: str, place: Path) -> Undisturbed:
    """Make the run that all others are compared with; its server goes on to the end of the process."""
    provider = Provider()
    server = ChatServer(provider, latency=0.01, jitter=0.02)
    server.__enter__()
    model = openai_http(server.url, concurrency=CONCURRENCY, price=PRICE, max_tokens=100)
    made = SUITES[suite](model)
    project = _project(place, made)
    first, again = (_started(project, whole=False, arguments=_command()).wait() for _ in range(2))
    assert first.exit_code == again.exit_code == 0, first.output + again.output
    return Undisturbed(
        suite=made,
        server=server,
        provider=provider,
        calls=server.count,
        written=provider.asked.count("write"),
        prompts=server.proper_answers,
        billed=provider.total(),
        cost=_paid(project.path / "run"),
        reports=report_bytes(project, "run"),
        files=_files(project),
        seconds=first.duration,
        again=again.duration,
    )


@cache
def undisturbed(suite: str) -> Undisturbed:
    """Return the run to compare with, made once for the whole process."""
    with tempfile.TemporaryDirectory() as place:
        return prepared(suite, Path(place))


def _project(place: Path, suite: Mapping[str, Any]) -> Project:
    project = Project(place, env={KEY_VARIABLE: KEY})
    write_items(project, [f"{WORDS[number % 3]}, and the number of it is {number + 100}." for number in range(20)])
    write_suite(project, suite)
    return project


def _command() -> tuple[str, ...]:
    return ("run", "suite.yaml", "--run-dir", "run", "--no-preflight", "--yes")


def _started(project: Project, *, whole: bool, arguments: tuple[str, ...]) -> Running:
    with patch.object(Running, "popen", subprocess.Popen if whole else Preloaded):
        return project.start(*arguments)


def _files(project: Project) -> frozenset[str]:
    return frozenset(str(path.relative_to(project.path)) for path in (project.path / "run").rglob("*"))


@define
class Seen:
    """What a store held after a kill, read from a copy so that nothing is repaired by looking."""

    calls: dict[int, tuple[Any, ...]]
    """Id -> key, outcome, cost and payload of a call whose outcome is known."""
    open: int
    """Calls that were in flight."""
    records: dict[str, tuple[Any, ...]]
    planning: bool = False
    """Cases were still being made."""

    @classmethod
    def of(cls, run_dir: Path) -> Seen:
        """Look at a run directory."""
        if not (run_dir / "run.sqlite").exists():
            return cls({}, 0, {})
        with tempfile.TemporaryDirectory() as folder:
            for path in run_dir.glob("run.sqlite*"):
                shutil.copy(path, folder)
            with closing(sqlite3.connect(Path(folder) / "run.sqlite")) as store:
                if not store.execute("SELECT count(*) FROM sqlite_master WHERE name = 'records'").fetchone()[0]:
                    return cls({}, 0, {})
                calls = store.execute("SELECT id, key, outcome, cost, payload FROM calls").fetchall()
                records = store.execute("SELECT trial_id, canonical, status, checksum FROM records").fetchall()
                plan = store.execute("SELECT digest FROM stages WHERE name = 'trials'").fetchone()
        known = {row[0]: tuple(row[1:]) for row in calls if row[2] is not None}
        return cls(known, len(calls) - len(known), {row[0]: tuple(row[1:]) for row in records}, plan == (GROWING,))

    def lost(self, before: Seen) -> list[str]:
        """Say what was there before and is not, or is another."""
        gone = [f"call {key}" for key, row in before.calls.items() if self.calls.get(key) != row]
        return gone + [f"record {key}" for key, row in before.records.items() if self.records.get(key) != row]


def campaign(played: Round) -> None:
    """Kill one run at random moments, continue it, and compare."""
    played.counted.update({"kills": 0, "lost": 0, "asked twice": 0})
    suite = played.dice.choice([*SUITES, "overlapping"])
    whole = undisturbed(suite)
    project = _project(played.place, whole.suite)
    before = _Before(whole)
    seen = Seen({}, 0, {})
    kills = played.dice.randint(2, MOST)
    for _ in range(kills):
        outcome, number = _disturbed(played, project, whole, before)
        # Ctrl-C before Python itself has started is Python's own to say.
        played.check("Traceback" not in outcome.stderr or "init_import_site" in outcome.stderr, outcome.stderr)
        found = Seen.of(project.path / "run")
        for lost in found.lost(seen):
            played.counted["lost"] += 1
            played.problems.append(f"lost: {lost}")
        # A verdict of the process that was killed, and the cases of the run were not all made.
        played.counted["judged and made cases"] += found.planning and len(found.records) > len(seen.records)
        seen = found
        sent = before.sent()
        played.check(
            sent <= len(seen.calls) + seen.open, f"{sent} requests arrived, {len(seen.calls)} are in the store"
        )
        played.check(seen.open <= CONCURRENCY, f"{seen.open} calls in flight")
        if number in GENTLE and outcome.exit_code == INTERRUPTED and seen.records:
            played.check(not seen.open or "again to leave" not in outcome.stderr, "it left calls in flight")
        if outcome.exit_code == 0:
            break
    _finish(played, project, whole, before)


class _Before:
    """What the server had counted when a round began."""

    def __init__(self, whole: Undisturbed) -> None:
        self.whole = whole
        self.count, self.billed, self.answered = whole.server.count, whole.provider.total(), whole.server.proper_answers
        self.written = whole.provider.asked.count("write")

    def sent(self) -> int:
        return self.whole.server.count - self.count

    def drafts_left(self) -> int:
        return self.whole.written - (self.whole.provider.asked.count("write") - self.written)


def _disturbed(played: Round, project: Project, whole: Undisturbed, before: _Before) -> tuple[Outcome, signal.Signals]:
    """Start the run and send it a signal at a random moment."""
    dice = played.dice
    number = signal.SIGKILL if dice.random() < 0.85 else dice.choice(GENTLE)
    judged = whole.provider.asked.count("judge")
    running = _started(project, whole=dice.random() < 0.1, arguments=_command())
    drafting = ("time", "start", "request", "report", *["overlap"] * 8)
    moment = dice.choice(drafting if before.drafts_left() > 0 else MOMENTS)
    if moment == "overlap":
        # Judges are asked, and drafts are still to be written.
        while running.is_running and whole.provider.asked.count("judge") == judged:
            time.sleep(0.002)
        time.sleep(dice.uniform(0.0, 0.1))
    elif moment in ("time", "start"):
        time.sleep(dice.uniform(0.0, whole.seconds * (0.7 if moment == "time" else 0.2)))
    else:
        # "report": everything is asked, and what is left is to measure and to write.
        left = whole.calls - min(before.sent(), whole.calls)
        wanted = before.sent() + (dice.randint(0, left // 3) if moment == "request" else left)
        while running.is_running and before.sent() < wanted:
            time.sleep(0.002)
        time.sleep(dice.uniform(0.0, 0.05 if moment == "request" else whole.again * 0.8))
    was_running = running.is_running
    running.send(number)
    outcome = running.wait()
    killed = was_running and outcome.exit_code in (-number, INTERRUPTED)
    if killed:
        played.counted["kills" if number == signal.SIGKILL else number.name] += 1
        played.counted[f"at {moment}"] += 1
    else:
        played.counted["ran to its end"] += 1
    return outcome, number


def _finish(played: Round, project: Project, whole: Undisturbed, before: _Before) -> None:
    """Let the run come to its end, and compare it with the one that nobody disturbed."""
    done = _started(project, whole=False, arguments=_command()).wait()
    played.check(done.exit_code == 0, f"exit code {done.exit_code}: {done.output}")
    if done.exit_code:
        return
    run = project.path / "run"
    same = report_bytes(project, "run") == whole.reports
    played.counted["reports byte-identical"] += same
    played.check(same, "the report is another")
    played.check(_files(project) == whole.files, f"files: {sorted(_files(project) ^ whole.files)}")
    with closing(sqlite3.connect(run / "run.sqlite")) as store:
        outcomes = Counter(dict(store.execute("SELECT outcome, count(*) FROM calls GROUP BY outcome")))
        repeated = store.execute(
            "SELECT key FROM calls c WHERE outcome = 'ok' "
            "AND EXISTS (SELECT 1 FROM calls d WHERE d.key = c.key AND d.id > c.id)"
        ).fetchall()
        bound = store.execute("SELECT total(worst) FROM calls WHERE outcome = 'unknown'").fetchone()[0]
    unknown = outcomes.pop("unknown", 0)
    played.counted["in flight at a kill"] += unknown
    played.counted["asked twice"] += len(repeated)
    played.check(outcomes == {"ok": whole.calls}, f"calls: {outcomes}, unknown {unknown}")
    played.check(not repeated, f"{len(repeated)} questions with an answer were asked again")
    said = re.search(r"(\d+) calls? interrupted by a kill, outcome unknown", done.stdout)
    played.check(unknown == (int(said[1]) if said else 0), f"{unknown} calls are unknown, it says {said and said[0]}")
    _compare_bills(played, whole, before, unknown, bound, _paid(run))


def _compare_bills(played: Round, whole: Undisturbed, before: _Before, unknown: int, bound: float, paid: float) -> None:
    """What the server billed is what the run says it paid, and calls in flight at a kill."""
    more = whole.server.proper_answers - before.answered - whole.prompts
    missed = whole.prompts - (whole.server.proper_answers - before.answered)
    played.check(not missed, f"{sum(missed.values())} questions were never answered")
    played.check(sum(more.values()) <= unknown, f"{sum(more.values())} answers too many, {unknown} calls unknown")
    billed = whole.provider.total() - before.billed
    played.check(abs(paid - whole.cost) < 1e-9, f"paid {paid}, undisturbed {whole.cost}")
    played.check(
        -1e-9 < billed / 1e6 - paid < bound + 1e-9, f"billed {billed / 1e6}, paid {paid}, at most {bound} more"
    )
    played.counted["billed in flight"] += sum(more.values())


def _paid(run: Path) -> float:
    with closing(sqlite3.connect(run / "run.sqlite")) as store:
        return float(store.execute("SELECT total(cost) FROM calls").fetchone()[0])


def seeds(first: int) -> Iterator[int]:
    """Count from a seed."""
    while True:
        yield first
        first += 1
