"""`loop_over`: a table in one test, of which every row runs and every failure is reported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from jrh_testing import loop_over

TEST = """
import pytest
from jrh_testing import loop_over

@pytest.fixture
def offset():
    return 1

@loop_over("text, length", [("a", 1), pytest.param("bb", 3, id="two letters"), ("ccc", 3), ("", 1)])
def test_length(text, length, offset):
    assert len(text) == length

class TestOfAClass:
    @loop_over("right", [1, 2], ids="first second".split())
    @loop_over("left", [1, 2], ids=lambda value: f"left {value}")
    async def test_product(self, left, right, offset):
        assert left * right < 4 * offset
"""


def test_every_row_runs_and_every_failure_is_reported_by_name(tmp_path) -> None:
    (tmp_path / "test_table.py").write_text(TEST, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", tmp_path]
    # Without the options of the run that this test is part of, such as where it may write.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert outcome.returncode == 1
    failures = [line.split(" - ")[0] for line in outcome.stdout.splitlines() if line.startswith("SUBFAILED")]
    assert failures == [
        "SUBFAILED[two letters] test_table.py::test_length",
        "SUBFAILED[-1] test_table.py::test_length",
        "SUBFAILED[left 2-second] test_table.py::TestOfAClass::test_product",
    ]


EMPTY = """
from jrh_testing import loop_over

@loop_over("name", [])
def test_nothing(name): ...

@loop_over("reason", ["", "not here"])
def test_skipped(reason):
    if reason:
        import pytest
        pytest.skip(reason)
"""


def test_a_table_without_rows_fails_and_a_row_may_be_skipped(tmp_path) -> None:
    (tmp_path / "test_table.py").write_text(EMPTY, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rsf", tmp_path]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    outcome = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert "FAILED test_table.py::test_nothing - AssertionError: the table has no rows" in outcome.stdout
    assert "1 failed, 1 passed, 1 skipped" in outcome.stdout
    assert "not here" in outcome.stdout


def test_a_row_that_does_not_fit_its_names_is_refused() -> None:
    with pytest.raises(ValueError, match="row 1 of the table has 1 values for 2 names"):
        loop_over(("text", "length"), [("a", 1), ("b",)])
