"""Measure a table: the same steps, and so the same numbers, as an import and its report."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import Json, RunReport, Scale, ScaleKind
from jrh_interchange import measure_records, read_settings, unmeasured
from jrh_measuring import load_metrics

from jrh_import.checking.asked import Asked, check_asked
from jrh_import.checking.labels import Labels, read_labels
from jrh_import.checking.repeated import repeated_rows
from jrh_import.covariates import covariate_name
from jrh_import.mapping import Format, ImportFile
from jrh_import.tables import Table, read_any_table
from jrh_import.verdicts import read_verdicts

ADDED: Final = ("judge-comparison",)
"""What a check computes beyond the metrics of every report."""
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
    table: Table
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
    table = read_any_table(asked.path)
    check_asked(asked, table.columns)
    labels = read_labels(table, asked)
    notes = (*labels.notes, *repeated_rows(table, asked, labels))
    mapping = read_settings(described(asked, table, labels, folder=Path()), ImportFile)
    tasks = mapping.described_tasks()
    found = read_verdicts(table, mapping, tasks)
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
        table=table,
        labels=labels,
        report=report,
        notes=(*notes, *report.notes),
        gaps=unmeasured(tasks, found.records),
    )


def described(asked: Asked, table: Table, labels: Labels, *, folder: Path) -> Mapping[str, Json]:
    """Return the content of the import file, with the table's path relative to a folder."""
    columns = {"item": asked.item, "gold": asked.human, "group": asked.group, "repeat": asked.repeat}
    found: dict[str, Json] = {
        "name": asked.path.stem,
        "path": os.path.relpath(asked.path, folder),
        "format": table.format.value,
        "task": {"scale": _scale(labels.scale)},
        "columns": {target: column for target, column in columns.items() if column is not None},
        "decisions": [{"columns": {"label": judge}, "values": {"judge": judge}} for judge in asked.judges],
        "missing": {text: status.value for text, status in labels.missing.items()},
        "off_scale": "status",
        "covariates": {covariate_name(column, table): column for column in asked.covariates},
        "metrics": {"add": list(ADDED)},
    }
    optional: dict[str, Json] = {
        "delimiter": table.delimiter if table.format is Format.CSV and table.delimiter != "," else None,
        "labels": dict(labels.written),
        "number_items": asked.item is None,
        "count_repeats": asked.item is not None and asked.repeat is None,
    }
    return found | {key: value for key, value in optional.items() if value}


def as_yaml(content: Mapping[str, Json]) -> str:
    """Return the text of an import file: one key per line, values as JSON, which YAML reads."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items())


def _scale(scale: Scale) -> Mapping[str, Json]:
    if scale.kind is ScaleKind.PAIRWISE:
        return {"pairwise": True if scale.tie is None else {"tie": scale.tie}}
    if scale.ordered and scale.labels == _levels(scale):
        return {"ordinal": [int(scale.labels[0]), int(scale.labels[-1])]}
    return {scale.kind.value: list(scale.labels)}


def _levels(scale: Scale) -> tuple[str, ...]:
    """Return the labels that a range from the first to the last would have; none where they are no numbers."""
    try:
        low, high = int(scale.labels[0]), int(scale.labels[-1])
    except ValueError:
        return ()
    return tuple(str(level) for level in range(low, high + 1))
