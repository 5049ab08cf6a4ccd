"""Events: one frozen object per event hook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import Factory, frozen

from jrh.values.types import Case, Record


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
class CaseReady:
    """A case has passed validation and is stored; the judges have not seen it yet."""

    run_id: str
    """The run it belongs to."""
    case: Case
    """The case as stored."""


@frozen(kw_only=True)
class RecordCommitted:
    """A record is committed to the store."""

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
