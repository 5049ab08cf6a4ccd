"""Calls per second of a whole `jrh run`, store on, against the bare client on the same server."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tests.benchmarks.processes import chat_server, seconds
from tests.benchmarks.table import Line

ROUNDS = 3
"""Both sides in turn; the median ratio counts."""

SUITE = """\
name: bench
data: {{source: jsonl, path: items.jsonl}}
task: {{instruction: Is the answer right?, scale: {{labels: ["YES", "NO"]}}}}
models:
  m: {{provider: {provider}, model: {model}, {url}: "{base}", api_key_env: BENCH_KEY, concurrency: {concurrency},
       max_tokens: 10, price: {{input: 1, output: 1}}, timeout: 60}}
reference: {{repeats: 1}}
metrics: [missing]
reports: [terminal, json]
judges: [{{judge: llm, model: m}}]
"""


def openai_http(folder: Path, calls: int = 6000, concurrency: int = 64) -> list[Line]:
    """Compare with a bare aiohttp client; aim 0.35."""
    with chat_server("--labels", "YES,NO") as base:
        suite = SUITE.format(provider="openai-http", model="bench", url="base_url", base=base, concurrency=concurrency)
        ratios = _ratios(folder, suite, "aiohttp", base, calls, concurrency)
    return [_line(f"jrh run over openai-http / bare aiohttp, {calls} calls", ratios, 0.35)]


def litellm(folder: Path, calls: int = 1500, concurrency: int = 64) -> list[Line]:
    """Compare with bare litellm.acompletion; aim 0.9."""
    with chat_server("--labels", "YES,NO") as base:
        suite = SUITE.format(
            provider="litellm", model="openai/bench", url="api_base", base=base, concurrency=concurrency
        )
        ratios = _ratios(folder, suite, "litellm", base, calls, concurrency)
    return [_line(f"jrh run over litellm / bare litellm.acompletion, {calls} calls", ratios, 0.9)]


def latency(folder: Path, calls: int = 256 * 30, concurrency: int = 256) -> list[Line]:
    """Compare with the ideal at 300 ms latency and concurrency 256; aim 0.95."""
    with chat_server("--labels", "YES,NO", "--latency", "0.3") as base:
        suite = SUITE.format(provider="openai-http", model="bench", url="base_url", base=base, concurrency=concurrency)
        whole, printed = _run(folder, suite, calls, "latency")
    ideal = calls / concurrency * 0.3
    rate = float(re.findall(r"judge: \d+/\d+ done \((\d+)/s", printed)[-1])
    return [
        Line(
            what=f"judge stage at 300 ms, concurrency {concurrency} / ideal",
            ours=f"{rate:.0f} calls/s",
            theirs=f"{calls / ideal:.0f} calls/s",
            result=rate * ideal / calls,
            aim=0.95,
        ),
        Line(
            what="the same, whole process with start-up and report / ideal",
            ours=f"{whole:.1f} s",
            theirs=f"{ideal:.1f} s",
            result=ideal / whole,
            aim=0.9,
        ),
    ]


def _ratios(
    folder: Path, suite: str, client: str, base: str, calls: int, concurrency: int
) -> list[tuple[float, float]]:
    """Return (our calls per second, the bare client's) of every round."""
    bare = [sys.executable, "-m", f"tests.benchmarks.bare_{client}", base, str(calls), str(concurrency)]
    root = Path(__file__).resolve().parents[2]
    found = []
    for turn in range(ROUNDS):
        theirs, _ = seconds(bare, root)
        ours, _ = _run(folder, suite, calls, f"{client}-{turn}")
        found.append((calls / ours, calls / theirs))
    return found


def _run(folder: Path, suite: str, calls: int, name: str) -> tuple[float, str]:
    items = (
        json.dumps(
            {"id": str(n), "request": f"What is {n} + {n}?", "response": f"It is {2 * n}. " * 20, "label": "YES"}
        )
        for n in range(calls)
    )
    (folder / "items.jsonl").write_text("\n".join(items), encoding="utf-8")
    (folder / "suite.yaml").write_text(suite, encoding="utf-8")
    command = [sys.executable, "-m", "jrh", "run", "suite.yaml", "--yes", "--no-cache", "--run-dir", name]
    return seconds(command, folder)


def _line(what: str, ratios: list[tuple[float, float]], aim: float) -> Line:
    ours, theirs = sorted(ratios, key=lambda pair: pair[0] / pair[1])[len(ratios) // 2]
    return Line(what=what, ours=f"{ours:.0f} calls/s", theirs=f"{theirs:.0f} calls/s", result=ours / theirs, aim=aim)
