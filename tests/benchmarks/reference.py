"""Whole runs of the shapes that were once timed with the reference harness, over loopback HTTP.

The harness is not run here. Its seconds were measured earlier, on another day, against a server like this one; they
stand beside ours to show the size of the difference, and say so.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh_testing import ChatServer
from jrh_testing.server.answers import share
from jrh_testing.server.bodies import prompt_of

from tests.benchmarks.processes import seconds
from tests.benchmarks.table import Line

ROUNDS: Final = 3
WORDS: Final = tuple(
    f"{first}{last}" for first in ("sun", "rain", "wood", "stone", "bird") for last in ("fall", "light", "work", "way")
)

MODELS: Final = """\
models:
  writer: {{provider: openai-http, model: writer, base_url: "{base}", api_key_env: BENCH_KEY, concurrency: 64,
    max_tokens: 200, price: {{input: 1, output: 1}}, timeout: 60}}
  checker: {{provider: openai-http, model: checker, base_url: "{base}", api_key_env: BENCH_KEY, concurrency: 64,
    max_tokens: 200, price: {{input: 1, output: 1}}, timeout: 60}}
  judge: {{provider: openai-http, model: judge, base_url: "{base}", api_key_env: BENCH_KEY, concurrency: 64,
    max_tokens: 200, price: {{input: 1, output: 1}}, timeout: 60}}
reference: {{repeats: 1}}
judges: [{{judge: llm, model: judge}}]
"""
FLIPS: Final = """\
name: rows
data: {{source: jsonl, path: items.jsonl}}
task: {{instruction: Is the answer right?, scale: {{labels: ["YES", "NO"], positive: "YES"}}}}
tests: [label-flip: {{model: writer, variants: [flip], validate: [llm-label: {{model: checker}}]}}]
"""
LEVELS: Final = """\
name: levels
data: {{source: jsonl, path: items.jsonl}}
task: {{instruction: How good is the answer?, scale: {{ordinal: [1, 6]}}}}
tests: [synthetic-ordinal: {{model: writer, grader: checker}}]
"""


@frozen(kw_only=True)
class Shape:
    """A run that both sides made."""

    what: str
    suite: str
    items: int
    labels: tuple[str, ...]
    latency: float
    theirs: float
    """Seconds of the reference harness, measured earlier."""
    their_calls: int
    aim: float


SHAPES: Final = (
    Shape(
        what="596 rows: write, validate, judge",
        suite=FLIPS,
        items=596,
        labels=("YES", "NO"),
        latency=0.0,
        theirs=20.0,
        their_calls=1788,
        aim=12,
    ),
    Shape(
        what="1,600 rows: write, validate, judge",
        suite=FLIPS,
        items=1600,
        labels=("YES", "NO"),
        latency=0.0,
        theirs=59.3,
        their_calls=4800,
        aim=25,
    ),
    Shape(
        what="synthetic ordinal at 300 ms",
        suite=LEVELS,
        items=7,
        labels=tuple("123456"),
        latency=0.3,
        theirs=122.0,
        their_calls=416,
        aim=25,
    ),
)


def lines(folder: Path) -> list[Line]:
    """Time each shape and compare with what the reference harness took once."""
    return [_line(folder, shape) for shape in SHAPES]


def _line(folder: Path, shape: Shape) -> Line:
    took, busy, calls = zip(*(_once(folder, shape, number) for number in range(ROUNDS)), strict=True)
    ours = statistics.median(took)
    return Line(
        what=f"{shape.what}, reference harness / jrh (median of {ROUNDS})",
        ours=f"{ours:.2f} s ({statistics.median(busy):.2f} s of processor time), {calls[0]:,} calls",
        theirs=f"{shape.theirs:g} s, {shape.their_calls:,} calls, measured earlier and not in this run",
        result=shape.theirs / ours,
        aim=shape.aim,
    )


def _once(folder: Path, shape: Shape, number: int) -> tuple[float, float, int]:
    items = (
        {
            "id": str(each),
            "request": f"What is {each} + {each}?",
            "response": f"It is {2 * each}. {_text('item', str(each))}",
            "label": shape.labels[each % len(shape.labels)],
        }
        for each in range(shape.items)
    )
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    asked: list[str] = []

    def answer(body: Mapping[str, Any]) -> str:
        model, prompt = str(body["model"]), prompt_of(body)
        asked.append(model)
        if model == "writer":
            return json.dumps({"response": _text(prompt, str(body.get("seed"))), "changes": ["the answer"]})
        label = shape.labels[int(share(model, prompt) * len(shape.labels))]
        return json.dumps({"rationale": "because", "level": label}) if len(shape.labels) > 2 else label

    with ChatServer(answer, latency=shape.latency) as server:
        suite = (shape.suite + MODELS).format(base=server.url)
        (folder / "suite.yaml").write_text(suite, encoding="utf-8")
        run = f"run-{shape.items}-{number}"
        command = [sys.executable, "-m", "jrh", "run", "suite.yaml", "--yes", "--no-cache", "--run-dir", run]
        before = _processor_seconds()
        took, _ = seconds(command, folder)
    return took, _processor_seconds() - before, len(asked)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _text(*parts: str) -> str:
    return " ".join(WORDS[int(share(str(place), *parts) * len(WORDS))] for place in range(40)).capitalize() + "."
