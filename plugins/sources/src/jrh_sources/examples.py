"""Provide the examples shipped with the project as a data source."""

from __future__ import annotations

from pathlib import Path

from jrh import BuildContext

from jrh_sources.columns import ColumnMap
from jrh_sources.jsonl_rows import jsonl_rows
from jrh_sources.options import ExamplesOptions, JsonlOptions
from jrh_sources.source import FileSource


def examples_source(options: ExamplesOptions, context: BuildContext) -> FileSource:
    """Build the source of one shipped dataset; its labels must be on the task's scale, as for any file."""
    path = Path(__file__).parent / "data" / f"{options.dataset.value}.jsonl"
    file = JsonlOptions(path=path)
    return FileSource(
        path=path,
        shown=path.name,
        columns=ColumnMap(named=file.columns),
        task=context.task,
        rows=lambda path, problems: jsonl_rows(path, file, problems),
    )
