"""Start `jrh` as a process that was forked after its imports: everything else is the real program.

Starting Python and importing jrh takes a third of a short run. A campaign of hundreds of kills spends that time on
what it tests; every few starts are whole ones all the same.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from pkgutil import walk_packages

from jrh_testing import Outcome, Project

_PACKAGES: tuple[str, ...] = (
    "jrh",
    "jrh_stats",
    "jrh_openai_http",
    "jrh_judges",
    "jrh_parsers",
    "jrh_sources",
    "jrh_report",
)
_PACKAGES += ("jrh_metrics", "jrh_format", "jrh_stochastic", "jrh_paraphrase", "jrh_label_flip")
_PACKAGES += ("jrh_validators",)
_CAMPAIGNS = ("campaigns.kills", "campaigns.corruption", "campaigns.edits")


def preload() -> None:
    """Import what a run imports; the process that forks does it once."""
    for package in map(import_module, _PACKAGES):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ImportError):  # of an extra that is not installed
                import_module(module.name)
    for name in (*_CAMPAIGNS, "aiohttp", "scipy.stats"):  # a child imports the program that started it again
        import_module(name)
    for point in entry_points(group="jrh"):
        point.load()
    gc.freeze()


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
    def is_running(self) -> bool:
        """Return whether it is still running."""
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it is still running."""
        if self.is_running and self._process.pid:
            os.kill(self._process.pid, number)

    def wait(self, timeout: float = 600.0) -> Outcome:
        """Wait for the end; a program that takes longer is killed, and its exit code says so."""
        self._process.join(timeout)
        if self.is_running:
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
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a campaign started in the background ignores it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(folder)
    os.environ.update({"NO_COLOR": "1", "COLUMNS": "120", **env})
    for number, path in enumerate(_streams(output), start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from jrh.cli import main

    sys.argv = ["jrh", *arguments]
    main(list(arguments))
