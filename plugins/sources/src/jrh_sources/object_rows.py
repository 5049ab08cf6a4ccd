"""Read the rows of a Python object: a list of mappings, a data frame, or a function that returns one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from jrh import JrhError
from jrh_interchange import BYTES, Problems, Row, json_value


def object_rows(thing: Any, problems: Problems) -> Iterator[Row]:
    """Yield the rows; `line` counts them from 1.

    Text stays as it is; dates, times and decimals become text; NaN is null; lists and mappings become JSON values.

    Raises:
        JrhError: the object is no table.
    """
    for number, values in enumerate(_mappings(thing), start=1):
        row = row_of(values, number, problems)
        if row is not None:
            yield row


def row_of(values: object, line: int, problems: Problems) -> Row | None:
    """Return a mapping as a row; None if it is none, or holds what no item can."""
    if not isinstance(values, Mapping):
        problems.add(f"a row must be a mapping from column to value, not of type {type(values).__name__}", line=line)
        return None
    try:
        cells = {str(name): json_value(value) for name, value in values.items()}
    except RecursionError:
        problems.add("values are nested too deeply", line=line)
        return None
    wrong = [name for name, value in cells.items() if value is BYTES]
    if wrong:
        problems.add(f"column '{wrong[0]}' holds bytes, not text", line=line)
        return None
    return Row(line=line, values=cells, source=problems.source)


def _mappings(thing: Any) -> Iterable[Any]:
    if isinstance(thing, list | tuple):
        return thing
    # By what it can do, not by its class: none of these libraries is imported.
    columns = _columns(thing)
    if columns is None:
        raise JrhError(
            f"the rows are of type {type(thing).__name__}; jrh reads a list of mappings, or a data frame of pandas, "
            "polars or Arrow with distinct column names"
        )
    return (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def _columns(thing: Any) -> Mapping[str, Sequence[Any]] | None:
    """Return the columns of a data frame of pandas or polars or of an Arrow table as lists; None for anything else."""
    if hasattr(thing, "collect") and hasattr(thing, "collect_schema"):  # a lazy frame
        thing = thing.collect()
    if hasattr(thing, "iloc"):  # pandas: by position, since names may repeat
        names = [str(name) for name in thing.columns]
        columns: Any = {name: thing.iloc[:, place].tolist() for place, name in enumerate(names)}
        return columns if len(columns) == len(names) else None
    if hasattr(thing, "get_column"):  # polars
        return {str(name): thing.get_column(name).to_list() for name in thing.columns}
    # Any library with the Arrow interface; those above are read without pyarrow.
    if not hasattr(thing, "to_pydict") and hasattr(thing, "columns") and hasattr(thing, "__arrow_c_stream__"):
        try:
            thing = import_module("pyarrow").table(thing)
        except ImportError:
            return None
    columns = thing.to_pydict() if hasattr(thing, "to_pydict") else None
    return columns if isinstance(columns, Mapping) else None
