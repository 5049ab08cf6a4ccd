"""The run's log: JSON lines in the run directory, with every key masked."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any, Final, TextIO

from jrh.errors import StoreError
from jrh.plugins.protocols import Logger
from jrh.text.redact import Redactor

FILENAME: Final = "log.jsonl"


class RunLog:
    """An append-only log file; not structlog's global configuration, which belongs to the program that calls jrh."""

    def __init__(self, run_dir: Path, redact: Redactor) -> None:
        """Open the file for appending.

        Raises:
            StoreError: it cannot be opened.
        """
        try:
            self._file: TextIO = (run_dir / FILENAME).open("a", encoding="utf-8", errors="replace")
        except OSError as error:
            raise StoreError(f"cannot write '{run_dir / FILENAME}': {error.strerror or error}") from error
        self._redact = redact

    def logger(self, **values: object) -> Logger:
        """Return a logger with values bound to it."""
        import structlog

        logger: Logger = structlog.wrap_logger(
            structlog.WriteLogger(self._file),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.ExceptionRenderer(
                    structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
                ),
                structlog.processors.JSONRenderer(default=repr),
                _masked(self._redact),
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

    def info(self, _event: str, /, **_values: Any) -> None:
        """Keep nothing."""

    def warning(self, _event: str, /, **_values: Any) -> None:
        """Keep nothing."""


def _masked(redact: Redactor) -> Callable[[Any, str, MutableMapping[str, Any] | str], str]:
    return lambda _logger, _method, line: redact(str(line))
