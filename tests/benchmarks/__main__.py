"""Benchmarks: `make bench`, or `python -m tests.benchmarks [NAME ...]`.

Every figure is taken from whole processes, against the bare client on the same server in the same minute, and printed
as a ratio with its aim, in Markdown. Nothing is asserted: machines differ, ratios tell.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.benchmarks import (
    agentic,
    diversity,
    families,
    nine_judges,
    reference,
    replay,
    scale,
    startup,
    statistics,
    throughput,
    transcripts,
)
from tests.benchmarks.table import Line, show

BENCHMARKS = {
    "startup": startup.lines,
    "openai-http": throughput.openai_http,
    "litellm": throughput.litellm,
    "latency": throughput.latency,
    "replay": replay.lines,
    "diversity": diversity.lines,
    "families": families.lines,
    "transcripts": transcripts.lines,
    "agentic": agentic.lines,
    "nine-judges": nine_judges.lines,
    "statistics": statistics.lines,
    "scale": scale.lines,
    "reference": reference.lines,
}
LONG = {"scale-million": scale.million}
"""Run only where they are named."""


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all of them, and print their lines as they come."""
    known = BENCHMARKS | LONG
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    found: list[Line] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names or BENCHMARKS:
            place = Path(folder) / name
            place.mkdir()
            found += known[name](place)
    show(found)
    return 0


sys.exit(main(sys.argv[1:]))
