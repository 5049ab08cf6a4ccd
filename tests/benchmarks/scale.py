"""Time, memory and disk of whole runs of 1,000 to 1,000,000 trials: items x `format`, one judge over loopback HTTP."""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
import time
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.benchmarks.processes import chat_server, environment
from tests.benchmarks.table import Line

TRIALS_OF_ITEM = 10
"""Two of the reference condition and eight of `format`."""
SIZES = (1_000, 10_000, 100_000)
LARGEST = 1_000_000
WORDS = [f"word{number}" for number in range(3000)]

SUITE = """\
name: scale
data: {{source: csv, path: "{data}", columns: {{id: id, request: question, response: answer, label: label}}}}
task: {{instruction: Is the answer right?, scale: {{labels: ["YES", "NO"]}}}}
models:
  m: {{provider: openai-http, model: bench, base_url: "{base}", api_key_env: BENCH_KEY, concurrency: 64,
       max_tokens: 10, price: {{input: 1, output: 1}}, timeout: 60}}
tests: [format]
judges: [{{judge: llm, model: m}}]
reports: [terminal, json]
"""


@frozen(kw_only=True)
class Whole:
    """What one process took."""

    trials: int
    wall: float
    processor: float
    megabytes: float
    """Peak memory."""
    store: int = 0
    """Bytes of `run.sqlite`."""


def lines(folder: Path, *, largest: bool = False) -> list[Line]:
    """Run every size and report it again; the slopes are those of processor time, the aim is 1.05."""
    sizes = (*SIZES, LARGEST) if largest else SIZES
    with chat_server("--labels", "YES,NO", "--lifetime", "7200") as base:
        runs = [_run(folder, base, size) for size in sizes]
    reports = [_whole(_report(folder, size), folder, size) for size in sizes]
    return [*map(_per_trial, runs), *_slopes("run", runs), *map(_whole_report, reports), *_slopes("report", reports)]


def million(folder: Path) -> list[Line]:
    """Run 1,000,000 trials as well; it takes half an hour."""
    return lines(folder, largest=True)


def _per_trial(found: Whole) -> Line:
    return Line(
        what=f"run of {found.trials:,} trials, processor ms per trial",
        ours=f"{found.processor:.1f} s, wall {found.wall:.1f} s",
        theirs=f"memory {found.megabytes:.0f} MB, run.sqlite {found.store / 2**20:.1f} MB",
        result=1000 * found.processor / found.trials,
        aim=0.4,
        more_is_better=False,
    )


def _whole_report(found: Whole) -> Line:
    return Line(
        what=f"report of {found.trials:,} trials again, processor s",
        ours=f"{found.processor:.1f} s, wall {found.wall:.1f} s",
        theirs=f"memory {found.megabytes:.0f} MB",
        result=found.processor,
        aim=6.0,
        more_is_better=False,
    )


def _slopes(what: str, found: list[Whole]) -> list[Line]:
    return [_slope(what, one, other) for one, other in pairwise(found)]


def _slope(what: str, small: Whole, large: Whole) -> Line:
    """Return the exponent of time between two sizes: 1 is linear, and below 1 the start still counts."""
    steps = log(large.trials / small.trials)
    return Line(
        what=f"{what}: log-log slope, {small.trials:,} to {large.trials:,}",
        ours=f"time {log(large.processor / small.processor) / steps:.2f}",
        theirs=f"memory {log(large.megabytes / small.megabytes) / steps:.2f}",
        result=log(large.processor / small.processor) / steps,
        aim=1.05,
        more_is_better=False,
    )


def _run(folder: Path, base: str, trials: int) -> Whole:
    data = folder / f"{trials}.csv"
    _write(data, trials // TRIALS_OF_ITEM)
    (folder / f"{trials}.yaml").write_text(SUITE.format(data=data.name, base=base), encoding="utf-8")
    command = ["run", f"{trials}.yaml", "--yes", "--no-cache", "--run-dir", f"run-{trials}"]
    found = _whole(command, folder, trials)
    planned = json.loads((folder / f"run-{trials}" / "report.json").read_text(encoding="utf-8"))["planned"]
    store = (folder / f"run-{trials}" / "run.sqlite").stat().st_size
    return Whole(trials=planned, wall=found.wall, processor=found.processor, megabytes=found.megabytes, store=store)


def _report(folder: Path, trials: int) -> list[str]:
    return ["report", str(folder / f"run-{trials}")]


def _write(path: Path, items: int) -> None:
    draw = random.Random(1)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "question", "answer", "label"])
        for item in range(items):
            writer.writerow([item, _text(draw, 2), f"{_text(draw, 20)} It is {item}.", ("YES", "NO")[item % 2]])


def _text(draw: random.Random, sentences: int) -> str:
    return " ".join(" ".join(draw.choices(WORDS, k=12)).capitalize() + "." for _ in range(sentences))


def _whole(arguments: list[str], folder: Path, trials: int) -> Whole:
    """Run jrh to its end and return what this one process took."""
    started = time.perf_counter()
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(
        [sys.executable, "-m", "jrh", *arguments], cwd=folder, env=environment(folder), **options
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"jrh {' '.join(arguments)} ended with {process.returncode}")
    return Whole(
        trials=trials,
        wall=time.perf_counter() - started,
        processor=used.ru_utime + used.ru_stime,
        megabytes=used.ru_maxrss / 1024,
    )
