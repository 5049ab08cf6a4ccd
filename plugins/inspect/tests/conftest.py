import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jrh_inspect import plugin
from jrh_testing import build


def pytest_collection_modifyitems(items):
    """Mark tests of logs as slow: Inspect takes five seconds to write them."""
    for item in items:
        if item.path.parent == Path(__file__).parent and "made" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A directory with `made.eval` and `made.json`, written by Inspect itself."""
    directory = tmp_path_factory.mktemp("made")
    program = Path(__file__).with_name("make_logs.py")
    home = str(tmp_path_factory.mktemp("home"))
    environment = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
    done = subprocess.run(
        [sys.executable, str(program), str(directory)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture
def logs(made, tmp_path):
    """A copy of the logs that a test may change."""
    for path in made.glob("made.*"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


@pytest.fixture
def read():
    """Read a log as a suite would."""

    def items(path, task=None, **options):
        from jrh import DataSourceSpec, Mode
        from jrh_testing import sample_task

        options = {"path": str(path), **options}
        task = task or sample_task(Mode.TRANSCRIPT)
        return list(build(plugin, "inspect", role=DataSourceSpec, options=options, task=task).read())

    return items
