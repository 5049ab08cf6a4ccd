"""Run the real program: `python -m jrh` in its own directory, and inspect the outcome."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Final
from unittest.mock import patch

from attrs import frozen
from jrh import RecordTable
from jrh.store.run_store import Store

TIMEOUT: Final = 300.0
"""Default limit on the run time of a program, in seconds; generous, for busy machines."""

_SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


@frozen(kw_only=True)
class Outcome:
    """The outcome of a finished program."""

    exit_code: int
    """As the shell sees it; a program ended by signal n has -n."""
    stdout: str
    stderr: str
    duration: float
    """Seconds."""

    @property
    def output(self) -> str:
        """Return all output, standard output first."""
        return self.stdout + self.stderr


_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def default_signals() -> Iterator[None]:
    """Start programs inside the block with default signals, even where this process ignores some.

    A program inherits what its parent ignores. A shell script ignores SIGINT for each job that it starts with `&`, and
    `nohup` ignores SIGHUP: the program would not notice the signal that a test sends. Outside of the main thread, where
    Python cannot change signals, the block does nothing.
    """
    main = threading.current_thread() is threading.main_thread()
    # Only what is ignored is changed: a handler of pytest must stay.
    ignored = [number for number in _ENDING if main and signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


class Running:
    """A running program, started with default signals; a context manager that kills it if it still runs at the end."""

    popen: type[subprocess.Popen[str]] = subprocess.Popen
    """What starts it."""

    def __init__(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None, *, input: str | None = None
    ) -> None:
        """Start the program; see `run_jrh` for the environment. The input is written once `wait` is called."""
        self._input = input
        self._started = time.monotonic()
        # Signals are inherited when the process starts, so they are reset around the start alone.
        with default_signals():
            self._process = self.popen(
                list(command),
                cwd=cwd,
                env=environment_of(env),
                stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Not the encoding of the machine: what jrh prints is compared with literals.
                encoding="utf-8",
                errors="replace",
            )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the program is still running."""
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl-C does."""
        self.send(signal.SIGINT)

    def kill(self) -> None:
        """Send SIGKILL, which the program cannot handle."""
        self.send(signal.SIGKILL)

    def wait(self, timeout: float = TIMEOUT) -> Outcome:
        """Wait for the end.

        Raises:
            subprocess.TimeoutExpired: the program is still running; it is killed.
        """
        try:
            stdout, stderr = self._process.communicate(self._input, timeout)
        # `communicate` leaves the program running after its limit.
        except subprocess.TimeoutExpired:
            self.close()
            raise
        duration = time.monotonic() - self._started
        return Outcome(exit_code=self._process.returncode, stdout=stdout, stderr=stderr, duration=duration)

    def close(self) -> None:
        """Kill the program if it is still running, and close its output."""
        if self.is_running:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Running:
        """Return the program, which is already running."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the program if it is still running."""
        self.close()


def run_jrh(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    input: str = "",
    timeout: float = TIMEOUT,
) -> Outcome:
    """Run `jrh` with the arguments and wait for it to finish.

    The environment is this process's without its secrets (variables that end in `_KEY`, `_TOKEN`, `_SECRET` or
    `_PASSWORD`), so that no test can spend money by accident. `env` is added.

    Args:
        arguments: the command line after `jrh`.
        cwd: the working directory.
        env: variables to set.
        input: text for standard input.
        timeout: seconds after which the program is killed.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    with Running(_command(arguments), cwd, env, input=input) as program:
        return program.wait(timeout)


def start_jrh(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Running:
    """Start `jrh` with the arguments and return while it runs, to send it signals and wait for it."""
    return Running(_command(arguments), cwd, env)


def _command(arguments: Sequence[str | Path]) -> list[str]:
    return [sys.executable, "-m", "jrh", *map(str, arguments)]


def environment_of(extra: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of a program: this process's without its secrets, and the given variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.upper().endswith(_SECRETS)}
    # No colours and a fixed width: outputs are compared as text, on any terminal.
    return {**inherited, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONUTF8": "1", **(extra or {})}


class Project:
    """A directory with a suite and its data, in which `jrh` runs with its own cache."""

    def __init__(self, path: Path, env: Mapping[str, str] | None = None, *, preflight: bool = False) -> None:
        """Use an existing, empty directory; the variables are set in every run.

        Without `preflight`, `jrh run` gets `--no-preflight`, so that a test counts the calls of its suite alone.
        """
        self.path = path
        self._preflight = preflight
        # A cache of its own: replies of another test must not answer the calls that this one counts.
        self.cache = path / ".cache"
        """The cache directory that every run of the project uses."""
        self.env = {"JRH_CACHE_DIR": str(self.cache), "JRH_STATE_DIR": str(path / ".state"), **(env or {})}

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file, directories included, and return its path; text is written as UTF-8, line ends as they are."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # Bytes: text mode would translate line ends on some systems, and line ends are content here.
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def read(self, name: str | Path) -> str:
        """Return the text of a file."""
        return (self.path / name).read_text(encoding="utf-8")

    def run(
        self, *arguments: str | Path, env: Mapping[str, str] | None = None, input: str = "", timeout: float = TIMEOUT
    ) -> Outcome:
        """Run `jrh` in the project and wait for it to finish."""
        return run_jrh(
            *self._all(arguments), cwd=self.path, env={**self.env, **(env or {})}, input=input, timeout=timeout
        )

    def start(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Running:
        """Start `jrh` in the project and return while it runs."""
        return start_jrh(*self._all(arguments), cwd=self.path, env={**self.env, **(env or {})})

    def _all(self, arguments: Sequence[str | Path]) -> Sequence[str | Path]:
        # Other commands do not know the option.
        runs = arguments[:1] == ("run",) and "--no-preflight" not in arguments
        return (*arguments, "--no-preflight") if runs and not self._preflight else arguments

    def records(self, run_dir: str | Path) -> RecordTable:
        """Read the records of a run directory, even while it is being written."""
        # A view takes no lock, so that records can be read while the program writes them.
        store = Store.view(self.path / run_dir)
        try:
            return RecordTable.from_slices(store.records.slices())
        finally:
            store.close()


def call(project: Project, *arguments: str) -> Outcome:
    """Run `jrh` with the arguments in the project's directory, and capture what it prints."""
    from jrh.cli import invoke  # most users of this module run the program, and need no command line here

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
        # `clear`: a variable of this process, such as a key, must not reach the run.
        with patch.dict("os.environ", environment_of({**self.env, **(env or {})}), clear=True):
            return call(self, *map(str, self._all(arguments)))
