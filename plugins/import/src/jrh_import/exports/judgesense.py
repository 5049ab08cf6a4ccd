"""Read a decision log of JudgeSense."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh.errors import OtherToolError
from jrh.values import ImportedLog

from jrh_import.decision_log import read_log
from jrh_import.options import JudgeSenseOptions

_NO_LOG: Final = ("no column", "the file has no rows", "not JSON", "expected one JSON object per line")
"""What is said of files that are no log of decisions at all."""


class JudgeSense:
    """Read a decision log of JudgeSense."""

    def __init__(self, options: JudgeSenseOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the decisions, one template per prompt."""
        try:
            return read_log(path, self._options)
        except JrhError as error:
            if any(reason in str(error) for reason in _NO_LOG):
                raise OtherToolError(str(error)) from error
            raise
