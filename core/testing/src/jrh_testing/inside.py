"""Run `jrh` in this process: the same command line without the time that starting Python takes."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from jrh.cli import invoke

from jrh_testing.runner import Outcome, Project, environment_of


def call(project: Project, *arguments: str) -> Outcome:
    """Run `jrh` with the arguments in the project's directory, and capture what it prints."""
    started = time.monotonic()
    out, err = io.StringIO(), io.StringIO()
    with chdir(project.path), redirect_stdout(out), redirect_stderr(err):
        code = invoke(list(arguments))
    return Outcome(exit_code=code, stdout=out.getvalue(), stderr=err.getvalue(), duration=time.monotonic() - started)


class Inside(Project):
    """A project whose runs are calls in this process, with its environment."""

    def run(
        self,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        input: str = "",
        timeout: float = 0.0,  # noqa: ARG002 - as in Project
    ) -> Outcome:
        """Run `jrh` here; nothing can be typed, and nothing limits the time but the test's own timeout."""
        assert not input
        with patch.dict("os.environ", environment_of({**self.env, **(env or {})}), clear=True):
            return call(self, *map(str, self._all(arguments)))
