"""Declare the data sources: files, rows, queries, datasets of the hub, benchmarks, and the shipped examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jrh import DataSourceSpec, hookimpl
from jrh.plugins import StageSpec

from jrh_sources.options import (
    CsvOptions,
    ExamplesOptions,
    HuggingfaceOptions,
    JsonlOptions,
    ParquetOptions,
    PresetOptions,
    ResponseOptions,
    RowsOptions,
    XlsxOptions,
    benchmarks,
)

JRH_API_VERSION = 2

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


_SOURCES: Final = (
    ("csv", "a csv file with a header row", CsvOptions, "source:file_source"),
    ("jsonl", "one JSON object per line", JsonlOptions, "source:file_source"),
    ("parquet", "a parquet file", ParquetOptions, "source:file_source"),
    ("xlsx", "a sheet of an Excel workbook", XlsxOptions, "source:file_source"),
    (
        "rows",
        "rows from Python: a list of mappings, a data frame, or a function that returns one",
        RowsOptions,
        "source:rows_source",
    ),
    ("examples", "120 labelled items shipped with jrh, in four datasets", ExamplesOptions, "source:examples_source"),
    (
        "huggingface",
        "a dataset on the Hugging Face Hub, or a local folder of Arrow or Parquet files",
        HuggingfaceOptions,
        "hub:huggingface_source",
    ),
)
"""Name, summary, options and factory of the sources other than benchmarks."""


_SUFFIXES: Final = {"csv": (".csv", ".tsv"), "jsonl": (".jsonl",), "parquet": (".parquet",), "xlsx": (".xlsx",)}


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the data sources."""
    for name, summary, options, factory in _SOURCES:
        yield DataSourceSpec(
            name=name,
            summary=summary,
            options=options,
            factory=f"jrh_sources.{factory}",
            takes="rows" if options is RowsOptions else "",
            starter=_STARTER if options is ExamplesOptions else "",
            suffixes=_SUFFIXES.get(name, ()),
            propose="jrh_sources.guessing:propose_suite" if name in _SUFFIXES else "",
        )
    for name, title, part in benchmarks():
        yield DataSourceSpec(
            name=name,
            summary=title,
            options=PresetOptions,
            # One name per benchmark: a factory gets options, not the name of its component.
            factory=f"jrh_sources.presets.source:FACTORIES.{name.replace('-', '_')}",
            preset=part,
        )


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the writing of responses by a model."""
    yield StageSpec(
        name="responses",
        summary="Model that answers the prompts of a source with `prompts: true`. Default: the data have responses.",
        key="responses",
        options=ResponseOptions,
        factory="jrh_sources.responses:WriteResponses",
        after=("load",),
        before=("perturb",),
        asks=True,
    )
