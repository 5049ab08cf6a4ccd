"""Records made by hand, and projects."""

from __future__ import annotations

from pathlib import Path

import pytest
from jrh_testing import Inside, Project, RecordBench, only_measure


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project to run the program in."""
    return Inside(tmp_path)


@pytest.fixture
def bench():
    """Return a builder of benches for any task."""
    return RecordBench


@pytest.fixture
def pick():
    """Return a function that finds the one measure of a name, judge and cell."""
    return only_measure
