"""The run's log: JSON lines in the run directory, with every key masked."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast

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


class RunLog:
    """An append-only log file; not structlog's global configuration, which belongs to the program that calls jrh."""

    def __init__(self, run_dir: Path, redact: Redactor) -> None:
        """Open the file for appending.

        Raises:
            StoreError: it cannot be opened.
        """
        path = run_dir / FILENAME
        try:
            self._file = FailingStream(_open_log(path))
        except OSError as error:
            reason = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
            raise StoreError(f"cannot write '{path}': {reason}") from error
        self._redact = redact

    def logger(self, **values: object) -> Logger:
        """Return a logger with values bound to it."""
        import structlog

        logger: Logger = structlog.wrap_logger(
            structlog.WriteLogger(cast("TextIO", self._file)),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.ExceptionRenderer(
                    # Local variables may hold a key in a form that the redactor does not know.
                    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
                ),
                structlog.processors.JSONRenderer(default=repr),
                # Last, over the finished line: a key may be in any value, also in a traceback.
                lambda _logger, _method, line: self._redact(str(line)),
            ],
            wrapper_class=structlog.BoundLogger,
            context_class=dict,
            cache_logger_on_first_use=False,
        ).bind(**values)
        return logger

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Quiet:
    """A logger that keeps nothing, for work done before there is a run directory."""

    def __init__(self, **_values: object) -> None:
        """Take what a logger is bound to."""

    def debug(self, _event: str, /, **_values: Any) -> None:
        """Keep nothing."""

    info = warning = debug


class Noted(Quiet):
    """A logger that keeps its lines, to write them elsewhere."""

    def __init__(self, **_values: object) -> None:
        """Start without any."""
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def debug(self, event: str, /, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(("debug", event, values))

    def info(self, event: str, /, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(("info", event, values))

    def warning(self, event: str, /, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(("warning", event, values))
