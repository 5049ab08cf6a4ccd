"""Measure a table: the same steps, and so the same numbers, as an import and its report."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import JrhError, Json, RunReport, Scale, ScaleKind
from jrh_interchange import measure_records, measurement_gaps, read_settings
from jrh_measuring import load_metrics

from jrh_import.checking.check_request import CheckRequest, check_request, complete_request
from jrh_import.checking.labels import Labels, read_labels
from jrh_import.checking.repeats import check_repeats
from jrh_import.covariates import covariate_name
from jrh_import.mapping import Format, ImportFile
from jrh_import.tables import Table, read_any_table
from jrh_import.verdicts import read_verdicts

ADDED: Final = ("judge-comparison",)
"""What a check computes beyond the metrics of every report."""
_PLUGIN: Final = "jrh-metrics"
"""Loading one plugin takes a tenth of the time that all take."""
_METRICS: Final = (
    *("missing", "missing-by-condition", "gold-accuracy", "gold-kappa", "error-rates", "rerun-disagreement"),
    "covariate-effect",
    *("ordinal-errors", "ordinal-association"),
    *ADDED,
)


@frozen(kw_only=True)
class Checked:
    """What a table shows about its judges."""

    request: CheckRequest
    table: Table
    labels: Labels
    report: RunReport
    notes: tuple[str, ...]
    """How the table was read, one sentence each."""
    gaps: tuple[str, ...]
    """What cannot be measured from it."""


def check_table(request: CheckRequest) -> Checked:
    """Read and measure a table.

    Raises:
        JrhError: the table cannot be read or checked; the text says where and what to do.
    """
    table = read_any_table(request.path)
    request = complete_request(request, table)
    check_request(request, table.columns)
    labels = read_labels(table, request)
    notes = (*labels.notes, *check_repeats(table, request, labels))
    # Through the import file: a check and `jrh import` cannot differ, as both read the same description.
    mapping = read_settings(import_file_content(request, table, labels, folder=Path()), ImportFile)
    tasks = mapping.build_tasks()
    log = read_verdicts(table, mapping, tasks)
    report = measure_records(
        mapping.name,
        tasks,
        log.records,
        metrics=load_metrics(_METRICS, plugins=(_PLUGIN,)),
        origins=log.origins,
        level=mapping.level,
        resamples=mapping.resamples,
        seed=mapping.seed,
    )
    return Checked(
        request=request,
        table=table,
        labels=labels,
        report=report,
        notes=(*notes, *report.notes),
        gaps=measurement_gaps(tasks, log.records),
    )


def import_file_content(request: CheckRequest, table: Table, labels: Labels, *, folder: Path) -> Mapping[str, Json]:
    """Return the content of the import file, with the table's path relative to a folder."""
    columns = {"item": request.item, "gold": request.human, "group": request.group, "repeat": request.repeat}
    content: dict[str, Json] = {
        "name": request.path.stem,
        # Relative to the import file, as paths in it are read.
        "path": os.path.relpath(request.path, folder),
        "format": table.format.value,
        "task": {"scale": _scale(labels.scale)},
        "columns": {target: column for target, column in columns.items() if column is not None},
        "decisions": [{"columns": {"label": judge}, "values": {"judge": judge}} for judge in request.judges],
        "missing": {text: status.value for text, status in labels.missing.items()},
        # A judge's stray reply is a missing verdict; the notes of the check say how many there are.
        "off_scale": "status",
        "covariates": {covariate_name(column, table): column for column in request.covariates},
        "metrics": {"add": list(ADDED)},
    }
    optional: dict[str, Json] = {
        "delimiter": table.delimiter if table.format is Format.CSV and table.delimiter != "," else None,
        "labels": dict(labels.written),
        "number_items": request.item is None,
        # Without a number of the rerun, the order of the file numbers them.
        "count_repeats": request.item is not None and request.repeat is None,
    }
    return content | {key: value for key, value in optional.items() if value}


def write_import_file(checked: Checked, file: Path) -> None:
    """Write the import file that gives the same numbers as the check.

    Raises:
        JrhError: it cannot be written.
    """
    content = import_file_content(checked.request, checked.table, checked.labels, folder=file.parent)
    try:
        file.write_text(as_yaml(content), encoding="utf-8")
    except OSError as error:
        raise JrhError(f"'{file}' cannot be written: {error.strerror or error}") from error


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
