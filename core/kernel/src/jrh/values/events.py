"""What event hooks are told. One frozen object each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import Factory, frozen

from jrh.values.types import Record


@frozen(kw_only=True)
class RunStarted:
    """A run has loaded its suite and opened its store; nothing has been asked yet."""

    run_id: str
    """Content id of the suite's name and the run's seed."""
    suite: str
    """Name of the suite."""
    run_dir: Path
    """Where the store, the log and the reports lie."""


@frozen(kw_only=True)
class RecordWritten:
    """A record is durable in the store."""

    run_id: str
    """The run it belongs to."""
    record: Record
    """The row as written."""


@frozen(kw_only=True)
class RunFinished:
    """A run has ended, in whatever way."""

    run_id: str
    """The run that ended."""
    run_dir: Path
    """Where its results lie."""
    exit_code: int
    """0 done, 3 incomplete, 4 budget reached, 130 interrupted."""
    records: int
    """Records of the plan that exist."""
    planned: int
    """Trials of the plan."""
    statuses: Mapping[str, int] = Factory(dict)
    """Records by status."""
