"""Projects to run the program in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jrh_testing import Inside, Project

sys.path.append(str(Path(__file__).parent))  # for the studies


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return an empty project to run the program in."""
    return Inside(tmp_path)
