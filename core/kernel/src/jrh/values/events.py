"""Define the events: one frozen object per event hook."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import Factory, frozen

from jrh.values.cases import Case
from jrh.values.verdicts import Record


@frozen(kw_only=True)
class RunStarted:
    """A run has loaded its suite and opened its store, and has not called any model yet."""

    run_id: str
    """Content id of the suite's name and the run's seed."""
    suite: str
    """Name of the suite."""
    run_dir: Path
    """Directory of the store, the log and the reports."""


@frozen(kw_only=True)
class CaseReady:
    """A case has passed validation and is stored; no judge has seen it yet."""

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
    """A run has ended, for any reason."""

    run_id: str
    """The run that ended."""
    run_dir: Path
    """Directory of its results."""
    exit_code: int
    """0 done, 3 incomplete, 4 budget reached, 130 interrupted."""
    records: int
    """Number of planned trials that have a record."""
    planned: int
    """Number of planned trials."""
    statuses: Mapping[str, int] = Factory(dict)
    """Number of records by status."""
    seconds: Mapping[str, float] = Factory(dict)
    """Stage -> how long it took by the clock, in this process."""
