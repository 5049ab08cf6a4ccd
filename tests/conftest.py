"""What the tests of the whole program share: a project to run `jrh` in, with a key that must never get out."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jrh_testing import Inside, Project
from jrh_testing.runner import Running
from support.keys import KEY, KEY_VARIABLE
from support.preloaded import Preloaded

PROGRAM = {"project", "tmp_path_factory"}
"""Fixtures of tests that start the program, most of them several times."""
QUICK = {"test_canary", "test_first_use", "test_planted_defects", "test_readme"}
"""Files that have these fixtures and still take well under two seconds for a test."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that run the whole program as slow, and those of the page as in need of a browser."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here / "browser":
            item.add_marker("browser")
        elif item.path.parent == here and item.path.stem not in QUICK and _starts_the_program(item):
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Fork `jrh` from a process that has imported it; what is about the start itself starts Python on its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Running, "popen", Preloaded)
        return (yield)


def _starts_the_program(item: pytest.Item) -> bool:
    return not PROGRAM.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """Provide an empty project with a cache of its own and the key in its environment; `inside` runs it in here."""
    kind = Inside if request.node.get_closest_marker("inside") else Project
    return kind(tmp_path, env={KEY_VARIABLE: KEY})


@pytest.fixture(scope="session")
def inspect_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a directory with `made.eval` and `made.json`, written by Inspect itself in a process of its own."""
    directory, home = tmp_path_factory.mktemp("logs"), str(tmp_path_factory.mktemp("home"))
    program = Path(__file__).parents[1] / "plugins" / "inspect" / "tests" / "make_logs.py"
    environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
    subprocess.run([sys.executable, program, directory], env=environment, check=True, capture_output=True)
    return directory
