"""Read a decision log of JudgeSense, as `jrh import-decisions` does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh.errors import OtherToolError
from jrh.values import ImportedLog

from jrh_import.decision_log import LogOptions, metrics_of, read_log
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
        options = self._options
        try:
            found = read_log(
                path,
                LogOptions(
                    judge=options.judge,
                    scale=options.scale,
                    inverted=options.inverted,
                    labels=options.labels,
                    gold_labels=options.gold_labels or options.labels,
                    off_scale_missing=options.off_scale,
                ),
            )
        except JrhError as error:
            if any(reason in str(error) for reason in _NO_LOG):
                raise OtherToolError(str(error)) from error
            raise
        return ImportedLog(
            tasks=found.tasks, records=found.records, items=found.items, metrics=metrics_of(found, "listed", ())
        )
