"""What is no run is neither merged nor salvaged."""

from __future__ import annotations

import pytest
from jrh_testing import Inside

pytestmark = pytest.mark.inside


@pytest.mark.parametrize("command", [("merge", "absent", "--run-dir", "whole"), ("salvage", "absent")])
def test_a_directory_that_is_no_run_is_an_error_and_nothing_is_written(tmp_path, command):
    done = Inside(tmp_path).run(*command)
    assert done.exit_code == 2, done.output
    assert "absent" in done.stderr
    assert list(tmp_path.iterdir()) == []
