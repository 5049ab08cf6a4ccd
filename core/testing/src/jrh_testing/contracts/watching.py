"""Watch the side effects of code: connections, processes, files."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Watch:
    """Side effects of one thread while it is watched."""

    def __init__(self, base: Path) -> None:
        self.thread = threading.get_ident()
        self.base = str(base)
        self.seen: list[str] = []

    def tell(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            self._opened(*arguments)
        elif event in ("socket.connect", "socket.getaddrinfo"):
            self.seen.append(f"opens a connection ({event})")
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork"):
            self.seen.append(f"starts a process ({event})")

    def _opened(self, path: object, _mode: object, flags: object) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.fsdecode(path)
        if "__pycache__" in name:
            return  # the interpreter's own
        if isinstance(flags, int) and flags & _WRITING and name != os.devnull:
            self.seen.append(f"writes {Path(name).name}")
        elif self.base and os.path.abspath(name).startswith(self.base + os.sep):  # noqa: PTH100 - no I/O here
            self.seen.append(f"reads {Path(name).name}")


_watches: list[_Watch] = []
_installed: list[bool] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for watch in _watches:
        if watch.thread == threading.get_ident():
            watch.tell(event, arguments)


@contextmanager
def watched(base: Path) -> Iterator[list[str]]:
    """Collect what the block does in this thread: connections, processes, files written, files of `base` read.

    Audit hooks cannot be taken away again, so one is installed per process and is idle outside such blocks.
    """
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_hook)
    watch = _Watch(base.resolve())
    _watches.append(watch)
    try:
        yield watch.seen
    finally:
        _watches.remove(watch)
