"""Read a decision log of JudgeSense, as `jrh import-decisions` does."""

from __future__ import annotations

from pathlib import Path

from jrh import SuiteError
from jrh.errors import OtherToolError
from jrh.values import ImportedLog

from jrh_import.decision_log import LogOptions, metrics_of, read_log
from jrh_import.options import JudgeSenseOptions


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
        except SuiteError as error:
            if any("no column" in problem.message for problem in error.problems):
                raise OtherToolError(str(error)) from error
            raise
        return ImportedLog(
            tasks=found.tasks, records=found.records, items=found.items, metrics=metrics_of(found, "listed", ())
        )
