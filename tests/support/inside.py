"""Run `jrh` in this process: the same command line without the time that starting Python takes."""

from __future__ import annotations

import io
import time
from contextlib import chdir, redirect_stderr, redirect_stdout

from jrh.cli import invoke
from jrh_testing import Outcome, Project


def call(project: Project, *arguments: str) -> Outcome:
    """Run `jrh` with the arguments in the project's directory; what it prints is caught."""
    started = time.monotonic()
    out, err = io.StringIO(), io.StringIO()
    with chdir(project.path), redirect_stdout(out), redirect_stderr(err):
        code = invoke(list(arguments))
    return Outcome(exit_code=code, stdout=out.getvalue(), stderr=err.getvalue(), duration=time.monotonic() - started)
