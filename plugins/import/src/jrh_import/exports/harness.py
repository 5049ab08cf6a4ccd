"""Read a result folder of RAND's Judge Reliability Harness."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jrh.errors import OtherToolError
from jrh.values import ImportedLog

from jrh_import.options import HarnessOptions
from jrh_import.result_folder import read_folder

_UNMAPPED: Final = (
    "generated texts and validation of the synthetic data",
    "configurations (`jrh init-from` reads them)",
)


class Harness:
    """Read a result folder of the Judge Reliability Harness."""

    def __init__(self, options: HarnessOptions) -> None:
        """Keep the options."""
        self._options = options

    def read(self, path: Path) -> ImportedLog:
        """Return the verdicts of all its tables."""
        if not path.is_dir():
            raise OtherToolError(f"'{path}' is not a directory; the harness writes a folder of result tables")
        found = read_folder(path, self._options.scale)
        return ImportedLog(tasks=found.tasks, records=found.records, origins=found.origins, unmapped=_UNMAPPED)
