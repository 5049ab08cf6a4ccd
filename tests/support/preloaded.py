"""Start `jrh` as a fork of a process that has imported it: everything else is the real program.

Starting Python and importing jrh is more than half of a short run, and the tests start hundreds. Two processes import
once for all workers of pytest, and fork for every start, in turn: their hash seeds differ, so that what depends on the
order of a set still differs from one start to the next. Both have also finished a small run, since half of a first one
is spent on what is made once in a process: readers of documents, templates, and the list of what is installed. A test
that sets a variable of Python's own, or that starts Python by itself, gets a whole start, which is what a test of the
start needs, such as one of the imports.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.metadata import entry_points
from itertools import cycle
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final

_SOURCES: Final = Path(__file__).parents[2].glob("*/*/src/jrh*")
_LEFT_OUT: Final = {
    *("jrh_export", "jrh_inspect", "jrh_litellm", "jrh_notebook", "jrh_pytest", "jrh_ray", "jrh_scaffold"),
    "jrh_testing",
}
"""Packages that few runs import, each with a large library."""
_LIBRARIES: Final = (
    *("aiohttp", "jinja2", "scipy.stats", "sklearn.linear_model", "sklearn.feature_extraction.text", "structlog"),
)
_SUITE: Final = """
name: first
data: {source: jsonl, path: items.jsonl}
task: {instruction: Is it right?, scale: {labels: ["YES", "NO"]}}
judges: [{judge: simulated, accuracy: 0.8}]
resamples: 100
reports: [terminal, json, markdown, html]
"""
_START: Final = [sys.executable, "-m", "jrh"]
_RUN: Final = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
_OF_PYTHON: Final = ("PYTHON", "LC_", "LANG", "LD_", "OPENBLAS", "OMP_", "MALLOC")
"""Beginnings of variables that are read before the first line of jrh."""
_NUMBER: Final = 8
"""Bytes of a process id, and of how it ended."""


class Preloaded(subprocess.Popen[str]):
    """A program; `python -m jrh` is forked, and any other is started."""

    _ended: int | None = None
    """Where the process that forked this one writes how it ended; None: it was started."""

    def _execute_child(self, *arguments: Any) -> None:
        command, cwd, env = arguments[0], arguments[5], arguments[6]
        if command[: len(_START)] != _START or not _is_forked(env):
            super()._execute_child(*arguments)  # type: ignore[misc]
            return
        streams = arguments[10:16]  # as `_get_handles` returns them: the child's and the parent's end of each
        self._ended, write = os.pipe()
        request = json.dumps([command[len(_START) :], os.fspath(cwd), dict(env)]).encode()
        with _lock:
            server = next(_servers())
        socket.send_fds(server, [request], [streams[0], streams[3], streams[5], write])
        os.close(write)
        self.pid = int.from_bytes(os.read(self._ended, _NUMBER), sys.byteorder)
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if self._ended is None:
            return super()._try_wait(flags)  # type: ignore[misc,no-any-return]
        if flags & os.WNOHANG:
            with selectors.PollSelector() as ready:
                ready.register(self._ended, selectors.EVENT_READ)
                if not ready.select(0):
                    return 0, 0
        status = os.read(self._ended, _NUMBER)
        os.close(self._ended)
        assert status, "the process that forks has ended"
        return self.pid, int.from_bytes(status, sys.byteorder)

    def _internal_poll(self, *arguments: Any, **defaults: Any) -> int | None:
        if self._ended is None:
            return super()._internal_poll(*arguments, **defaults)  # type: ignore[misc,no-any-return]
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)  # type: ignore[attr-defined]
        return self.returncode


_lock: Final = threading.Lock()


@cache
def _environment() -> dict[str, str]:
    """Return the environment of a program that a test gives no variables."""
    from jrh_testing.runner import environment_of

    return environment_of(None)


def _is_forked(env: dict[str, str]) -> bool:
    base = _environment()
    read = {name for name in (*env, *base) if name.startswith(_OF_PYTHON)}
    return hasattr(os, "pidfd_open") and all(env.get(name) == base.get(name) for name in read)


@cache
def _servers() -> cycle[socket.socket]:
    return cycle([_connect(number) for number in range(2)])


def _connect(number: int) -> socket.socket:
    """Connect to a process that forks, or start it; it ends when no process of pytest is connected."""
    name = f"\0jrh-{_RUN}-{number}"  # a name that is no file
    ours = _socket()
    while True:
        with _socket() as listener, suppress(OSError):  # where another process of pytest has it
            listener.bind(name)
            listener.listen()
            ours.connect(name)
            started = subprocess.Popen(
                [sys.executable, "-P", __file__, str(listener.fileno())],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
            )
            started.returncode = 0  # it outlives this object, which would warn
            return ours
        with suppress(ConnectionRefusedError):  # it does not listen yet, or not any more
            ours.connect(name)
            return ours


def _socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _preload() -> None:
    """Import what most runs import, and run the suite once."""
    names = {path.name for path in _SOURCES if path.suffix != ".egg-info"} - _LEFT_OUT
    for package in map(import_module, sorted(names)):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            with suppress(ImportError):  # of an extra that is not installed
                import_module(module.name)
    for name in _LIBRARIES:
        import_module(name)
    for point in entry_points(group="jrh"):
        point.load()
    _run_once()
    gc.collect()
    gc.freeze()


def _run_once() -> None:
    """Run a suite that asks no model, and report it again, in every format."""
    from jrh.cli import invoke

    helpers = str(Path(__file__).parents[1])
    sys.path.insert(0, helpers)
    from support.read_once import remember_entry_points

    sys.path.remove(helpers)  # the programs that are forked have no such path
    remember_entry_points()
    with tempfile.TemporaryDirectory() as place, chdir(place), Path(os.devnull).open("w") as nowhere:
        os.environ.update(JRH_CACHE_DIR=f"{place}/cache", JRH_STATE_DIR=f"{place}/state")
        Path("suite.yaml").write_text(_SUITE, encoding="utf-8")
        rows = ({"id": f"{row}", "response": f"It is {row}.", "label": "NO" if row % 2 else "YES"} for row in range(8))
        Path("items.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            codes = [invoke(command.split()) for command in ("run suite.yaml --run-dir run", "report run")]
    assert codes == [0, 0], codes
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join(60)  # a thread that has done its work may take a moment to end
    assert threading.active_count() == 1, "a fork has no thread but the one that forks"


class _Forking:
    """What the process that forks waits for: processes of pytest, their requests, and the end of what was forked."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.connected: list[socket.socket] = []
        self.watched = selectors.PollSelector()
        self.watched.register(listener, selectors.EVENT_READ)

    def serve(self) -> tuple[list[Any], list[int]] | None:
        """Fork for every request; return it, and the streams, in the process that was forked, and None at the end."""
        while True:
            for key, _ in self.watched.select():
                if key.data:
                    self.end(key.fd, *key.data)
                elif key.fileobj is self.listener:
                    self.connected.append(self.listener.accept()[0])
                    self.watched.register(self.connected[-1], selectors.EVENT_READ)
                elif asked := self.fork(next(each for each in self.connected if each is key.fileobj)):
                    return asked
            if not self.connected:
                return None

    def fork(self, requests: socket.socket) -> tuple[list[Any], list[int]] | None:
        """Fork for one request; return it in the process that was forked."""
        message, streams, _, _ = socket.recv_fds(requests, 1 << 20, 4)
        if not message:
            self.watched.unregister(requests)
            self.connected.remove(requests)
        elif pid := os.fork():
            *own, ended = streams
            for each in own:
                os.close(each)
            _tell(ended, pid)
            self.watched.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, ended))
        else:
            for waits in self.watched.get_map().values():  # nothing of another program stays open in this one
                os.close(waits.fd)
                if waits.data:
                    os.close(waits.data[1])
            for each in (self.listener, *self.connected):
                each.detach()
            os.close(streams.pop())
            return json.loads(message), streams
        return None

    def end(self, place: int, pid: int, ended: int) -> None:
        """Tell pytest how a program has ended."""
        self.watched.unregister(place)
        os.close(place)
        _tell(ended, os.waitpid(pid, 0)[1])
        os.close(ended)


def _tell(place: int, number: int) -> None:
    with suppress(BrokenPipeError):  # the test did not wait
        os.write(place, number.to_bytes(_NUMBER, sys.byteorder))


def _run(arguments: list[str], cwd: str, env: dict[str, str], streams: list[int]) -> None:
    """Be `python -m jrh`."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    from jrh import __main__ as program

    sys.argv = [program.__file__, *arguments]
    sys.path.insert(0, cwd)  # as `-m` does
    invalidate_caches()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        program.main()
    except KeyboardInterrupt:  # it came before main(), which answers it in the same way
        print("jrh: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    # Ctrl-C is for pytest. In a process that is forked it waits until main() can answer it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    _preload()
    if asked := _Forking(socket.socket(fileno=int(sys.argv[1]))).serve():
        _run(*asked[0], asked[1])
