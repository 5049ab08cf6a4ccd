"""Whole processes, timed from outside."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def environment(folder: Path) -> dict[str, str]:
    """Return an environment with a cache of its own and byte code written, as on a user's machine."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return inherited | {"JRH_CACHE_DIR": str(folder / "cache"), "BENCH_KEY": "none"}


def seconds(command: Sequence[str], folder: Path) -> tuple[float, str]:
    """Run a command to its end; return its wall-clock seconds and what it printed."""
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), check=False, capture_output=True, text=True, timeout=600
    )
    elapsed = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return elapsed, done.stdout + done.stderr


def median_seconds(command: Sequence[str], folder: Path, times: int) -> float:
    """Run a command once to warm up and then some times; return the median wall-clock seconds."""
    seconds(command, folder)
    return statistics.median(seconds(command, folder)[0] for _ in range(times))


@contextmanager
def chat_server(*options: str) -> Iterator[str]:
    """Serve chat completions from a process of its own; yield the base URL."""
    command = [sys.executable, "-m", "jrh_testing.server", "--port", "0", "--lifetime", "900", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
