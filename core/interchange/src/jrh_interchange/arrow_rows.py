"""Read the rows of Parquet and Arrow files in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from jrh import JrhError

from jrh_interchange.table_rows import MOST_COLUMNS, TOO_WIDE, Problems, Row, json_value

_BATCH: Final = 1024
LARGEST_GROUP: Final = 2_000_000_000
"""Unpacked bytes of one row group, which Arrow may hold in memory at once."""


def arrow_rows(path: Path, problems: Problems, columns: Mapping[str, str | None], *, stream: bool) -> Iterator[Row]:
    """Yield the rows of a Parquet file or, with `stream`, of an Arrow file; `line` counts rows from 1."""
    try:
        import pyarrow
    except ImportError as error:
        raise JrhError(f"'{path}' needs pyarrow ({error}); run `pip install pyarrow`") from error
    number = 0
    try:
        with (_arrow if stream else _parquet)(path, problems) as (schema, batches):
            names = _readable(schema, columns, problems)
            for batch in batches(names) if names else ():
                for values in zip(*[_values(batch.column(name)) for name in names], strict=True):
                    number += 1
                    cells = {name: json_value(value) for name, value in zip(names, values, strict=True)}
                    yield Row(line=number, values=cells, source=problems.source)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        # Arrow reports broken content as any of these; only an OSError of the operating system has an errno.
        what = f"{path.name} is not a readable Arrow file" if stream else "not a readable parquet file"
        problems.add(f"{what}: {(str(error) or 'broken').splitlines()[0]}")
    if not number and not problems:
        problems.add("the file has columns but no rows")


@contextmanager
def _parquet(path: Path, problems: Problems) -> Iterator[tuple[Any, Any]]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        # A small file can hold any amount of compressed text.
        sizes = [file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups)]
        largest = max(sizes, default=0)
        if largest > LARGEST_GROUP:
            problems.add(
                f"a row group has {largest / 1e9:.1f} GB of text when unpacked, and at most "
                f"{LARGEST_GROUP / 1e9:.0f} GB are read; write the file with smaller row groups"
            )
        fits = largest <= LARGEST_GROUP
        yield file.schema_arrow, lambda names: file.iter_batches(batch_size=_BATCH, columns=names) if fits else ()


@contextmanager
def _arrow(path: Path, problems: Problems) -> Iterator[tuple[Any, Any]]:  # noqa: ARG001 - as `_parquet`
    import pyarrow

    with pyarrow.memory_map(str(path)) as mapped:
        reader: Any
        try:
            reader = pyarrow.ipc.open_stream(mapped)
            batches = iter(reader)
        except pyarrow.ArrowInvalid:
            mapped.seek(0)
            reader = pyarrow.ipc.open_file(mapped)
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        yield reader.schema, lambda _: batches


def _readable(schema: Any, columns: Mapping[str, str | None], problems: Problems) -> list[str]:
    """Return the columns that hold no bytes; record names that occur twice, and bytes that the suite names."""
    if len(schema.names) > MOST_COLUMNS:
        problems.add(TOO_WIDE.format(len(schema.names)))
        return []
    repeated = [name for position, name in enumerate(schema.names) if name in schema.names[:position]]
    for name in dict.fromkeys(repeated):
        problems.add(f"column '{name}' appears {schema.names.count(name)} times in the file; names must be unique")
    # A row has one cell per name: one of the columns would be lost.
    if repeated:
        return []
    names = [field.name for field in schema if not _holds_bytes(field.type)]
    for target, column in columns.items():
        if column in schema.names and column not in names:
            problems.add(f"column '{column}' (columns.{target}) is binary, not text")
    return names


def _holds_bytes(kind: Any) -> bool:
    from pyarrow import types

    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return True
    # Lists and structs can hold bytes as well.
    return any(_holds_bytes(kind.field(index).type) for index in range(kind.num_fields))


def _values(column: Any) -> list[Any]:
    """Return the values of a column, times as text."""
    import pyarrow

    # Let Arrow write times: Python's have no nanoseconds and need a time zone database.
    if pyarrow.types.is_temporal(column.type) and not pyarrow.types.is_interval(column.type):
        column = column.cast(pyarrow.string())
    values: list[Any] = column.to_pylist()
    return values
