"""Running a finished run of 100,000 records again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.benchmarks.processes import seconds
from tests.benchmarks.table import Line

SUITE = """\
name: replay
data: {source: examples, dataset: coherence}
task: {instruction: Rate the coherence., scale: {ordinal: [1, 5]}}
tests: [{stochastic: {repeats: 3332}}]
judges: [{judge: simulated, name: steady, rerun_noise: 0.1}]
"""


def lines(folder: Path) -> list[Line]:
    """Run once, then again; aim: no call, under 3 s."""
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    command = [sys.executable, "-m", "jrh", "run", "suite.yaml", "--no-cache"]
    first, _ = seconds(command, folder)
    again, printed = seconds(command, folder)
    records, done = re.findall(r"judge: ([\d,]+) trials, (\w+) done before", printed)[-1]
    return [
        Line(
            what=f"a finished run of {records} records again ({done} answered before)",
            ours=f"{again:.2f} s",
            theirs=f"first run {first:.1f} s",
            result=again,
            aim=3.0,
            more_is_better=False,
        )
    ]
