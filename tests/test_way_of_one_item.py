"""A run with one item, one test and one simulated judge: how much of the kernel one has to read to follow it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jrh
import pytest
from jrh_testing import Project
from support.suites import simulated_suite, write_items, write_suite

KERNEL = Path(jrh.__path__[0])
FILES, INSTALLED = 80, 300
"""Files of the kernel, and of all distributions, of which functions are called. The kernel had 176 once.
The last three more of all are the stage of the gate, the block "This run" and the stage of corrected labels, which
every run asks whether they have anything to say."""

FOLLOW = """
import inspect, sys, threading
called = set()

def note(frame, event, argument):
    # Bodies of modules and classes are no calls.
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        called.add(frame.f_code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
import jrh
jrh.run("suite.yaml", run_dir="run", use_cache=False, quiet=True)
sys.setprofile(None)
print(*sorted(called), sep="\\n")
"""


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> set[Path]:
    project = Project(tmp_path_factory.mktemp("followed"))
    write_items(project, 1)
    write_suite(project, simulated_suite(tests=["format"]))
    done = subprocess.run(
        [sys.executable, "-c", FOLLOW],
        cwd=project.path,
        env={**os.environ, **project.env},
        check=True,
        capture_output=True,
        text=True,
    )
    return {Path(line) for line in done.stdout.splitlines()}


def test_few_files_of_the_kernel_are_on_the_way_of_one_item(called: set[Path]) -> None:
    own = {path for path in called if path.is_relative_to(KERNEL)}
    assert len(own) > 60
    assert len(own) <= FILES, sorted(map(str, own))
    everything = {path for path in called if any(part.startswith("jrh") for part in path.parts)}
    assert len(everything) <= INSTALLED
