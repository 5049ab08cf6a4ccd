"""What the tests of the whole program share: a project to run `jrh` in, with a key that must never get out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jrh.testing import Project

# With --import-mode=importlib pytest leaves the path alone, and the test files need their helpers.
sys.path.insert(0, str(Path(__file__).parent))

from support.keys import KEY, KEY_VARIABLE


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide an empty project with a cache of its own and the key in its environment."""
    return Project(tmp_path, env={KEY_VARIABLE: KEY})
