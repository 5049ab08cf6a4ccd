"""The statistics: clustered resamples against a plain Python loop, and all default measures over a million records."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from jrh_stats import cluster_sums, clustered_proportion

from tests.benchmarks.processes import seconds
from tests.benchmarks.table import Line

PAIRS = 27_000
ITEMS = 5_400
RESAMPLES = 1_000
LOOPED = 5
"""Resamples the plain loop does; it would take minutes for all."""
RECORDS = 1_000_000


def lines(folder: Path) -> list[Line]:
    """Run both; aims: 100 times faster, under 15 s and 1.5 GB on two cores that have nothing else to do."""
    return [_resamples(), *_records(folder)]


def _resamples() -> Line:
    generator = np.random.default_rng(0)
    items = np.sort(generator.integers(0, ITEMS, PAIRS))
    agrees = generator.binomial(1, 0.85, PAIRS)
    ours = _best(lambda: _clustered(items, agrees), 3)
    theirs = _best(lambda: _plain_loop(items.tolist(), agrees.tolist()), 1) * RESAMPLES / LOOPED
    return Line(
        what=f"{PAIRS:,} pairs, {RESAMPLES:,} clustered resamples",
        ours=f"{ours * 1000:.1f} ms",
        theirs=f"plain Python {theirs:.1f} s",
        result=theirs / ours,
        aim=100.0,
    )


def _clustered(items: np.ndarray, agrees: np.ndarray) -> None:
    sums = cluster_sums(items, agrees, np.ones(len(items)))
    clustered_proportion(sums[:, 0], sums[:, 1])


def _plain_loop(items: list[int], agrees: list[int]) -> None:
    """Draw items with replacement and count their pairs, as one would write it down."""
    by_item: dict[int, list[int]] = {}
    for item, agreed in zip(items, agrees, strict=True):
        by_item.setdefault(item, []).append(agreed)
    names = list(by_item)
    draw = random.Random(0)
    for _ in range(LOOPED):
        drawn = [agreed for name in draw.choices(names, k=len(names)) for agreed in by_item[name]]
        sum(drawn) / len(drawn)


def _best(work: Callable[[], None], times: int) -> float:
    took = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


def _records(folder: Path) -> list[Line]:
    """Measure in a process of its own, so that the peak of memory is its own."""
    _, printed = seconds([sys.executable, "-m", "tests.benchmarks.million", str(RECORDS)], Path.cwd())
    found = json.loads(printed.strip().splitlines()[-1])
    what = f"all {found['metrics']} default metrics over {found['records']:,} records"
    return [
        Line(
            what=f"{what}, seconds",
            ours=f"{found['seconds']:.1f} s",
            theirs=f"{found['measures']:,} measures; {found['processor_seconds']:.1f} s of processor time",
            result=found["seconds"],
            aim=15.0,
            more_is_better=False,
        ),
        Line(
            what=f"{what}, peak memory in GB",
            ours=f"{found['gigabytes']:.2f} GB",
            theirs=f"table alone {found['table_gigabytes']:.2f} GB",
            result=found["gigabytes"],
            aim=1.5,
            more_is_better=False,
        ),
    ]
