"""Measure what every test file costs: `make times` writes `tests/times.txt`, which conftest.py reads.

Seconds are processor time, of the test's process and of the programs it starts: the time on the clock doubles where
somebody else uses the machine.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMES = ROOT / "tests" / "times.txt"
TOGETHER = ("tests/browser",)
"""Directories whose files share the fixtures of a session: one line, and one worker."""
HEAD = """\
# Processor time of the tests, by file: seconds in all, and milliseconds of a test that is not marked `slow` or
# `browser` (`-`: all are). Slow files are begun first, and `make quick` runs those with cheap tests (conftest.py).
# `make times` writes it.
"""

_started = pytest.StashKey[float]()
_slow = pytest.StashKey[bool]()


def processor_seconds() -> float:
    """Return the processor time of this process and of the programs it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note when a test begins."""
    item.stash[_started] = processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Send with the last report of a test what it has cost."""
    if call.when == "teardown":
        slow = any(item.get_closest_marker(mark) for mark in ("slow", "browser"))
        item.user_properties.append(("processor", (processor_seconds() - item.stash[_started], slow)))
    return (yield)


class Times:
    """What has been measured; in the process that hands out the tests."""

    def __init__(self) -> None:
        self.costs: dict[str, list[tuple[float, bool]]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Collect what a test has cost."""
        if report.when == "teardown":
            self.costs[report.nodeid.partition("::")[0]] += [
                cost for name, cost in report.user_properties if name == "processor"
            ]

    def pytest_sessionfinish(self) -> None:
        """Write the table."""
        rows: dict[str, list[tuple[float, bool]]] = defaultdict(list)
        for file, costs in self.costs.items():
            rows[next((place for place in TOGETHER if file.startswith(place)), file)] += costs
        lines = {name: line for name, line in read_lines().items() if (ROOT / name).exists()}
        lines |= {name: (f"{sum(seconds for seconds, _ in of):.1f}", _milliseconds(of)) for name, of in rows.items()}
        ordered = sorted(lines.items(), key=lambda line: (-float(line[1][0]), line[0]))
        TIMES.write_text(HEAD + "".join(f"{seconds} {each} {name}\n" for name, (seconds, each) in ordered), "utf-8")


def read_lines() -> dict[str, tuple[str, str]]:
    """Return what is written of each file: a run of a few files leaves the others as they are."""
    lines = (line.split() for line in TIMES.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {name: (seconds, each) for seconds, each, name in lines}


def _milliseconds(costs: list[tuple[float, bool]]) -> str:
    quick = [seconds for seconds, slow in costs if not slow]
    return f"{1000 * sum(quick) / len(quick):.0f}" if quick else "-"


def pytest_configure(config: pytest.Config) -> None:
    """Collect where tests are handed out, or where they run if there is one process."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times())
