"""Long transcripts: time and memory of the rules and of the pipeline, each in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.benchmarks.long_transcript import SHAPES
from tests.benchmarks.processes import seconds
from tests.benchmarks.table import Line

HOW = ("rules", "pipeline")


def lines(_folder: Path) -> list[Line]:
    """Edit every shape by rules and by the pipeline; aims: under 20 s, and under 200 MB beside the transcript."""
    return [line for shape in SHAPES for how in HOW for line in _lines(shape, how)]


def _lines(shape: str, how: str) -> list[Line]:
    _, printed = seconds([sys.executable, "-m", "tests.benchmarks.long_transcript", shape, how], Path.cwd())
    found = json.loads(printed.strip().splitlines()[-1])
    what = f"a transcript of {shape}, {how}"
    longest = f"longest prompt {found['longest_prompt']:,}" if found["longest_prompt"] else "no prompt"
    return [
        Line(
            what=f"{what}, seconds",
            ours=f"{found['seconds']:.2f} s",
            theirs=f"{found['characters'] / 1e6:.1f} MB, {found['drafts']} drafts",
            result=found["seconds"],
            aim=20.0,
            unit="s",
            more_is_better=False,
        ),
        Line(
            what=f"{what}, more memory in MB",
            ours=f"{found['megabytes']:.0f} MB",
            theirs=longest,
            result=found["megabytes"],
            aim=200.0,
            unit="MB",
            more_is_better=False,
        ),
    ]
