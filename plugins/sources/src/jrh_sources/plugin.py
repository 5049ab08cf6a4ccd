"""Declare the data sources: files, rows, queries, datasets of the hub, benchmarks, and the shipped examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jrh import DataSourceSpec, hookimpl

from jrh_sources.options import (
    CsvOptions,
    ExamplesOptions,
    HuggingfaceOptions,
    JsonlOptions,
    ParquetOptions,
    PresetOptions,
    RowsOptions,
    SqlOptions,
    XlsxOptions,
    benchmarks,
)

JRH_API_VERSION = 1

_STARTER: Final = """\
# The items to judge. `examples` ships with jrh: factual, coherence, relevance or preference.
# Your own file: {source: csv, path: essays.csv, columns: {request: assignment, response: full_text, label: score}}
data:
  source: examples
  dataset: factual
  # sample: {n: 10, seed: 7, stratify: true}   # fewer items, same proportions of strata

# The question the judge answers about each item.
task:
  instruction: Decide whether the answer to the question is factually accurate.
  rubric: |
    YES: what the answer states is true.
    NO: what the answer states is false.
  scale: {labels: ["YES", "NO"]}
"""


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the data sources."""
    yield DataSourceSpec(
        name="csv", summary="a csv file with a header row", options=CsvOptions, factory="jrh_sources.source:csv_source"
    )
    yield DataSourceSpec(
        name="jsonl",
        summary="one JSON object per line",
        options=JsonlOptions,
        factory="jrh_sources.source:jsonl_source",
    )
    yield DataSourceSpec(
        name="parquet", summary="a parquet file", options=ParquetOptions, factory="jrh_sources.source:parquet_source"
    )
    yield DataSourceSpec(
        name="xlsx",
        summary="a sheet of an Excel workbook",
        options=XlsxOptions,
        factory="jrh_sources.source:xlsx_source",
    )
    yield DataSourceSpec(
        name="rows",
        summary="rows from Python: a list of mappings, a data frame, or a function that returns one",
        options=RowsOptions,
        factory="jrh_sources.source:rows_source",
        takes="rows",
    )
    yield DataSourceSpec(
        name="examples",
        summary="120 labelled items shipped with jrh, in four datasets",
        options=ExamplesOptions,
        factory="jrh_sources.source:examples_source",
        starter=_STARTER,
    )
    yield DataSourceSpec(
        name="huggingface",
        summary="a dataset on the Hugging Face Hub, or a local folder of Arrow or Parquet files",
        options=HuggingfaceOptions,
        factory="jrh_sources.hub:huggingface_source",
    )
    yield DataSourceSpec(
        name="sql",
        summary="the rows of a query, through SQLAlchemy",
        options=SqlOptions,
        factory="jrh_sources.sql_rows:sql_source",
    )
    for name, title, part in benchmarks():
        yield DataSourceSpec(
            name=name,
            summary=title,
            options=PresetOptions,
            factory=f"jrh_sources.presets.source:FACTORIES.{name.replace('-', '_')}",
            preset=part,
        )
