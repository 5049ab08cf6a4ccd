"""litellm is brought in late and without side effects; each test in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QUIET = """
import os, socket, sys
reached = []
def no_network(*arguments, **named):
    reached.append(arguments)
    raise OSError("no network in this test")
socket.socket.connect = socket.getaddrinfo = no_network
import jrh_litellm.plugin
assert "litellm" not in sys.modules, "declaring imports litellm"
from jrh_litellm import library
litellm = library.load()
assert library.load() is litellm
assert not reached, f"importing litellm reaches for {reached}"
assert "FROM_DOTENV" not in os.environ, "litellm has read .env"
assert (litellm.num_retries, litellm.cache, litellm.drop_params) == (None, None, False)
assert not any((litellm.callbacks, litellm.success_callback, litellm.failure_callback))
assert litellm.model_cost["gpt-4o-mini"], "no price list"
"""


@pytest.mark.slow
def test_loading_reaches_for_no_network_reads_no_dotenv_and_prints_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_DOTENV=1\n")
    done = subprocess.run(
        [sys.executable, "-c", QUIET],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path), "LITELLM_LOG": "DEBUG", "LITELLM_DROP_PARAMS": "True"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
