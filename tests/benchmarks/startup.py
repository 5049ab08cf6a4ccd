"""How long a user waits for `jrh --version` and `jrh --help` with all plugins installed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.benchmarks.processes import median_seconds
from tests.benchmarks.table import Line

AIMS = {"--version": 0.3, "--help": 0.5}
TIMES = 7


def lines(folder: Path) -> list[Line]:
    """Time both commands against the bare interpreter."""
    bare = median_seconds([sys.executable, "-c", "pass"], folder, TIMES)
    program = str(Path(sys.executable).with_name("jrh"))
    found = []
    for option, aim in AIMS.items():
        took = median_seconds([program, option], folder, TIMES)
        found.append(
            Line(
                what=f"jrh {option}, seconds (median of {TIMES})",
                ours=f"{took:.3f} s",
                theirs=f"python -c pass {bare:.3f} s",
                result=took,
                aim=aim,
                more_is_better=False,
            )
        )
    return found
