"""What the tests share: the planted judges, records made by hand, projects."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jrh_testing import Inside, Project, RecordBench, only_measure

# With --import-mode=importlib pytest leaves the path alone, and the tests need the planted judges.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project to run the program in."""
    return Inside(tmp_path)


@pytest.fixture(scope="session")
def planted_file():
    """Return the source of the planted judges."""
    return Path(__file__).with_name("planted.py").read_text(encoding="utf-8")


@pytest.fixture
def bench():
    """Return a builder of benches for any task."""
    return RecordBench


@pytest.fixture
def pick():
    """Return a function that finds the one measure of a name, judge and cell."""
    return only_measure
