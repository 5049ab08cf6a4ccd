"""Write down what a check takes a table for, as the import file that gives the same numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jrh import Json, Scale, ScaleKind

from jrh_import.checking.asked import Asked
from jrh_import.checking.labels import Labels
from jrh_import.checking.repeated import is_telling
from jrh_import.checking.sources import Source
from jrh_import.covariates import covariate_name
from jrh_import.mapping import Format

ADDED: Final = ("judge-comparison",)
"""What a check computes beyond the metrics of every report."""


def described(asked: Asked, source: Source, labels: Labels, *, folder: Path) -> Mapping[str, Json]:
    """Return the content of the import file, with the table's path relative to a folder."""
    item = {} if asked.item is None else {"item": asked.item}
    more = {"group": asked.group, "repeat": asked.repeat}
    columns = {**item, "gold": asked.human, **{target: column for target, column in more.items() if column}}
    found: dict[str, Json] = {
        "name": asked.path.stem if str(asked.path) != "-" else "stdin",
        "path": os.path.relpath(asked.path, folder),
        "format": source.format.value,
        "task": {"scale": _scale(labels.scale)},
        "columns": columns,
        "decisions": [{"columns": {"label": judge}, "values": {"judge": judge}} for judge in asked.judges],
        "missing": {text: status.value for text, status in labels.missing.items()},
        "off_scale": "status",
        "covariates": {covariate_name(column, source.table): column for column in asked.covariates},
        "metrics": {"add": list(ADDED)},
    }
    optional: dict[str, Json] = {
        "delimiter": source.delimiter if source.format is Format.CSV and source.delimiter != "," else None,
        "labels": dict(labels.written),
        "number_items": asked.item is None,
        "count_repeats": asked.item is not None and asked.repeat is None,
        "drop_duplicates": asked.drop_duplicates and is_telling(source.table, asked),
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
