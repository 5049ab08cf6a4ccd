"""Records made by hand, and tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from jrh import Scale, Task
from jrh_testing import Inside, Project, RecordBench, only_measure, sample_task


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project to run the program in."""
    return Inside(tmp_path)


@pytest.fixture
def yes_no() -> RecordBench:
    """Return a bench for YES and NO."""
    return RecordBench(sample_task())


@pytest.fixture
def levels() -> RecordBench:
    """Return a bench for the levels 1 to 5."""
    return RecordBench(Task(name="levels", scale=Scale.of_levels(1, 5)))


@pytest.fixture
def bench():
    """Return a builder of benches for any task."""
    return RecordBench


@pytest.fixture
def pick():
    """Return a function that finds the one measure of a name, judge and cell."""
    return only_measure
