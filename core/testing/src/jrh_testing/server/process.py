"""Start the chat server as a separate process, from a test or a benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from types import TracebackType

_PATIENCE = 10.0


class ServerProcess:
    """Runs `python -m jrh_testing.server` with the given arguments; a context manager.

    The server has a processor of its own, so that what it costs is not taken from what is measured.
    """

    def __init__(self, *arguments: str) -> None:
        """Keep the command-line arguments, such as `"--answer", "label", "--labels", "A,B"`."""
        self._arguments = arguments
        self.url = ""
        """The base URL, which ends in `/v1`."""

    def __enter__(self) -> ServerProcess:
        """Start the process and wait for its URL."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jrh_testing.server", *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self._end()
            raise RuntimeError(f"the chat server did not start: {' '.join(self._arguments)}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process by closing its standard input."""
        self._end()

    def stats(self) -> dict[str, int]:
        """Ask the server what it has counted: count, distinct, repeated, answered, answered_repeated, max_in_flight."""
        with urllib.request.urlopen(f"{self.url}/stats", timeout=_PATIENCE) as response:
            counts: dict[str, int] = json.load(response)
        return counts

    def _end(self) -> None:
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
