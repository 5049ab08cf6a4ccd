"""Memory of measuring: ten times the records need little more, because large columns wait in a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import json
import sys
from pathlib import Path

import jrh_metrics.plugin
import jrh_order.plugin
import jrh_prompts.plugin
from jrh import MetricContext, MetricSpec, Scale, Task
from jrh_testing import build
from tests.benchmarks.million import LABELS, table


def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)


def measured(records):
    task = Task(name="essays", scale=Scale.of_levels(1, LABELS))
    context = MetricContext(tasks={"essays": task})
    for plugin in (jrh_metrics.plugin, jrh_prompts.plugin, jrh_order.plugin):
        for spec in plugin.jrh_metrics():
            if spec.default:
                yield from build(plugin, spec.name, task=task, role=MetricSpec).measure(records, context)
                records.file.release()


found = {}
for size in (2_000, *map(int, sys.argv[1:])):
    records = table(size)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    before = peak()
    count = sum(1 for _ in measured(records))
    found[size] = [count, peak() - before]
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read and set back in /proc")
def test_ten_times_the_records_need_little_more_memory() -> None:
    """All default metrics; one float64 column of all records would be 8 bytes, and they held some 40 such columns."""
    root = Path(__file__).parents[1]
    told = subprocess.run(
        [sys.executable, "-c", MEASURE, "40000", "400000"], cwd=root, capture_output=True, text=True, check=True
    )
    found = {int(size): numbers for size, numbers in json.loads(told.stdout).items()}
    assert min(count for count, _ in found.values()) > 450
    each = (found[400_000][1] - found[40_000][1]) * 1024 / 360_000
    assert each < 150
