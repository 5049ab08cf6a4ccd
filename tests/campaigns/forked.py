"""Start `jrh` as a process that was forked after its imports: everything else is the real program.

Starting Python and importing jrh takes a third of a short run. A campaign of hundreds of kills spends that time on
what it tests; every few starts are whole ones all the same.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from jrh_testing import Outcome, Project

_LIBRARIES = (
    "jrh.api",
    "jrh.cli.run_command",
    "jrh.running.run",
    "jrh.running.stages.measure",
    "aiohttp",
    "scipy.stats",
)


def preload() -> None:
    """Import what a run imports; the process that forks does it once."""
    for name in _LIBRARIES:
        import_module(name)
    for point in entry_points(group="jrh"):
        point.load()


class Forked:
    """A running `jrh`."""

    def __init__(self, project: Project, *arguments: str) -> None:
        """Start it in the project's directory."""
        context = get_context("forkserver")
        context.set_forkserver_preload(["campaigns.preloaded"])
        self._output = project.path / ".output"
        self._started = time.monotonic()
        self._process: ForkServerProcess = context.Process(
            target=_program, args=(arguments, project.path, project.env, self._output), daemon=True
        )
        self._process.start()

    @property
    def running(self) -> bool:
        """Return whether it is still running."""
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it is still running."""
        if self.running and self._process.pid:
            os.kill(self._process.pid, number)

    def wait(self, timeout: float = 600.0) -> Outcome:
        """Wait for the end; a program that takes longer is killed, and its exit code says so."""
        self._process.join(timeout)
        if self.running:
            self._process.kill()
            self._process.join()
        said = [path.read_text(errors="replace") if path.exists() else "" for path in _streams(self._output)]
        code = self._process.exitcode
        self._process.close()
        return Outcome(
            exit_code=-1 if code is None else code,
            stdout=said[0],
            stderr=said[1],
            duration=time.monotonic() - self._started,
        )


def _streams(output: Path) -> tuple[Path, Path]:
    return output.with_suffix(".out"), output.with_suffix(".err")


def _program(arguments: Sequence[str], folder: Path, env: Mapping[str, str], output: Path) -> None:
    os.chdir(folder)
    os.environ.update({"NO_COLOR": "1", "COLUMNS": "120", **env})
    for number, path in enumerate(_streams(output), start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from jrh.cli import main

    sys.argv = ["jrh", *arguments]
    main(list(arguments))
