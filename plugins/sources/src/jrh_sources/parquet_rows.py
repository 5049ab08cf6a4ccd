"""Read the rows of a parquet file in batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from jrh import JrhError

from jrh_sources.held_rows import json_value
from jrh_sources.options import ParquetOptions
from jrh_sources.rows import Problems, Row

_BATCH: Final = 1024
LARGEST_GROUP: Final = 2_000_000_000
"""Unpacked bytes of one row group, which Arrow may hold in memory at once."""


def parquet_rows(path: Path, options: ParquetOptions, problems: Problems) -> Iterator[Row]:
    """Yield the rows of a parquet file; `line` counts rows from 1.

    Text stays as it is; dates, times and decimals become text; NaN is null; lists and structs become JSON values.
    Binary columns are left out; naming one in the suite is an error.
    """
    arrow, parquet = libraries()
    try:
        with parquet.ParquetFile(path) as file:
            names = readable(arrow, file.schema_arrow, options, problems)
            if names and not _too_large(file.metadata, problems):
                yield from _rows(arrow, file, names, problems)
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        # Arrow reports broken content as any of these; only an OSError of the operating system has an errno.
        problems.add(f"not a readable parquet file: {str(error).splitlines()[0]}")


def libraries() -> tuple[Any, Any]:
    """Return pyarrow and its module `parquet`; raise `JrhError` where it is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise JrhError(f"the data source 'parquet' needs pyarrow ({error}); run `pip install pyarrow`") from error
    return pyarrow, parquet


def readable(arrow: Any, schema: Any, options: ParquetOptions, problems: Problems) -> list[str]:
    """Return the columns that hold no bytes; record names that occur twice, and bytes that the suite names."""
    repeated = [name for position, name in enumerate(schema.names) if name in schema.names[:position]]
    for name in dict.fromkeys(repeated):
        problems.add(f"column '{name}' appears {schema.names.count(name)} times in the file; names must be unique")
    if repeated:
        return []
    names = [field.name for field in schema if not _holds_bytes(arrow, field.type)]
    for target, column in options.columns.items():
        if column in schema.names and column not in names:
            problems.add(f"column '{column}' (columns.{target}) is binary, not text")
    return names


def _too_large(metadata: Any, problems: Problems) -> bool:
    """Record row groups that would not fit in memory: a small file can hold any amount of compressed text."""
    sizes = [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]
    largest = max(sizes, default=0)
    if largest > LARGEST_GROUP:
        problems.add(
            f"a row group has {largest / 1e9:.1f} GB of text when unpacked, and at most {LARGEST_GROUP / 1e9:.0f} GB "
            "are read; write the file with smaller row groups"
        )
    return largest > LARGEST_GROUP


def _holds_bytes(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return True
    return any(_holds_bytes(arrow, kind.field(index).type) for index in range(kind.num_fields))


def _rows(arrow: Any, file: Any, names: list[str], problems: Problems) -> Iterator[Row]:
    number = 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=names):
        columns = {name: text_values(arrow, batch.column(name)) for name in names}
        for values in zip(*columns.values(), strict=True):
            number += 1
            yield Row(
                line=number, values={name: json_value(value) for name, value in zip(columns, values, strict=True)}
            )
    if not number:
        problems.add("the file has columns but no rows")


def text_values(arrow: Any, column: Any) -> list[Any]:
    """Return the values of a column, times as text."""
    # Let Arrow write times: Python's have no nanoseconds and need a time zone database.
    if arrow.types.is_temporal(column.type) and not arrow.types.is_interval(column.type):
        column = column.cast(arrow.string())
    values: list[Any] = column.to_pylist()
    return values
