"""The run's log: JSON lines in the run directory, with every key masked."""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from traceback import format_exc
from typing import Any, TextIO

from jrh.errors import StoreError
from jrh.plugins.protocols import Logger
from jrh.store.database import LOG as FILENAME
from jrh.text.redact import Redactor


class FailingStream:
    """A stream that may fail, such as a log on a full disk or a terminal that was closed: what it cannot take is lost.

    It explains a run and decides nothing in it, so that the run ends in good order.
    """

    def __init__(self, stream: TextIO) -> None:
        """Write to a stream."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, or lose it."""
        with suppress(OSError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be written."""
        with suppress(OSError):
            self._stream.flush()

    def close(self) -> None:
        """Close the stream."""
        with suppress(OSError):
            self._stream.close()

    def __getattr__(self, name: str) -> Any:
        """Return whatever else the stream has."""
        return getattr(self._stream, name)


def _open_log(path: Path) -> TextIO:
    """Open a log for appending, at the start of a line; a process that was killed may have left half of one.

    Raises:
        OSError: it is a symbolic link, whose target is not the run's, or not a regular file.
    """
    # Without blocking, as the place may hold a pipe; no link is followed, so that no file outside of the run grows.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags, 0o600)
    try:
        known = os.fstat(handle)
        if not stat.S_ISREG(known.st_mode):
            raise OSError("it is not a regular file")
        # A line that was cut off would swallow the first one of this process.
        torn = known.st_size and os.pread(handle, 1, known.st_size - 1) != b"\n"
    except BaseException:
        os.close(handle)
        raise
    file = os.fdopen(handle, "a", encoding="utf-8", errors="replace")
    if torn:
        file.write("\n")
    return file


class Quiet:
    """A logger that keeps nothing, for work done before there is a run directory."""

    def __init__(self, **_values: object) -> None:
        """Take what a logger is bound to."""

    def debug(self, event: str, /, **values: Any) -> None:
        """Log detail."""
        self._keep("debug", event, values)

    def info(self, event: str, /, **values: Any) -> None:
        """Log an event."""
        self._keep("info", event, values)

    def warning(self, event: str, /, **values: Any) -> None:
        """Log a problem."""
        self._keep("warning", event, values)

    def _keep(self, level: str, event: str, values: dict[str, Any]) -> None:
        """Keep nothing."""


class Noted(Quiet):
    """A logger that keeps its lines, to write them elsewhere."""

    def __init__(self, **_values: object) -> None:
        """Start without any."""
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def _keep(self, level: str, event: str, values: dict[str, Any]) -> None:
        """Keep a line."""
        self.lines.append((level, event, values))


class RunLog(Quiet):
    """An append-only log file of JSON lines."""

    def __init__(self, run_dir: Path, redact: Redactor) -> None:
        """Open the file for appending.

        Raises:
            StoreError: it cannot be opened.
        """
        path = run_dir / FILENAME
        try:
            self._file = FailingStream(_open_log(path))
        except OSError as error:
            linked = error.errno == errno.ELOOP
            reason = "it is a symbolic link" if linked else error.strerror or str(error)
            raise StoreError(f"cannot write '{path}': {reason}") from error
        self._redact, self._lock = redact, Lock()
        self._bound: dict[str, object] = {}

    def logger(self, **values: object) -> Logger:
        """Return a logger with values bound to it."""
        bound = copy(self)
        bound._bound = values
        return bound

    def _keep(self, level: str, event: str, values: dict[str, Any]) -> None:
        """Write a line."""
        # Without local variables: they may hold a key in a form that the redactor does not know.
        error = {"exception": format_exc()} if values.pop("exc_info", False) else {}
        timestamp = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        line = {**self._bound, **values, **error, "event": event, "level": level, "timestamp": timestamp}
        # Over the finished line: a key may be in any value, also in a traceback.
        with self._lock:  # components log from threads of their own
            self._file.write(self._redact(json.dumps(line, default=repr)) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
