"""Measure a table: the same steps, and so the same numbers, as an import and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.running import load_metrics
from jrh_interchange import measure_records, read_settings, unmeasured

from jrh_import.checking.asked import Asked, check_columns
from jrh_import.checking.describing import ADDED, described
from jrh_import.checking.labels import Labels, read_labels
from jrh_import.checking.repeated import repeated_rows
from jrh_import.checking.sources import Source, read_source
from jrh_import.mapping import ImportFile
from jrh_import.verdicts import read_verdicts

_PLUGIN: Final = "jrh-metrics"
"""Loading one plugin takes a tenth of the time that all take."""
_METRICS: Final = (
    *("missing", "gold-accuracy", "gain-over-commonest", "gold-agreement", "error-rates", "rerun-disagreement"),
    "covariate-effect",
    *("ordinal-errors", "ordinal-association"),
    *ADDED,
)


@frozen(kw_only=True)
class Checked:
    """What a table shows about its judges."""

    asked: Asked
    source: Source
    labels: Labels
    report: RunReport
    notes: tuple[str, ...]
    """How the table was read, one sentence each."""
    gaps: tuple[str, ...]
    """What cannot be measured from it."""


def check_table(asked: Asked) -> Checked:
    """Read and measure a table.

    Raises:
        JrhError: the table cannot be read or checked; the text says where and what to do.
    """
    source = read_source(asked.path, asked.format)
    check_columns(asked, source.table.columns)
    labels = read_labels(source.table, asked)
    notes = (*labels.notes, *repeated_rows(source.table, asked, labels))
    mapping = read_settings(described(asked, source, labels, folder=Path()), ImportFile)
    tasks = mapping.described_tasks()
    found = read_verdicts(source.table, mapping, tasks)
    report = measure_records(
        mapping.name,
        tasks,
        found.records,
        metrics=load_metrics(_METRICS, plugins=(_PLUGIN,)),
        origins=found.origins,
        level=mapping.level,
        resamples=mapping.resamples,
        seed=mapping.seed,
    )
    return Checked(
        asked=asked,
        source=source,
        labels=labels,
        report=report,
        notes=(*notes, *report.notes),
        gaps=unmeasured(tasks, found.records),
    )
