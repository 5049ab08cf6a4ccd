"""Read the items of a data file, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen
from jrh import BuildContext, Item, JrhError, Task

from jrh_sources.held_rows import held_rows
from jrh_sources.items import ColumnMap, ItemBuilder
from jrh_sources.options import (
    CsvOptions,
    ExamplesOptions,
    FileOptions,
    JsonlOptions,
    ParquetOptions,
    RowsOptions,
    XlsxOptions,
)
from jrh_sources.parquet_rows import parquet_rows
from jrh_sources.rows import Problems, Row, as_written
from jrh_sources.text_rows import csv_rows, jsonl_rows
from jrh_sources.xlsx_rows import xlsx_rows

_HELD: Final = 4000
"""Items of a table that are built before the first is given out: jrh holds no more of them either."""

ReadRows: TypeAlias = Callable[[Path, Problems], Iterator[Row]]
_READERS: Final[Mapping[type[FileOptions], Callable[[Path, Any, Problems], Iterator[Row]]]] = {
    CsvOptions: csv_rows,
    JsonlOptions: jsonl_rows,
    ParquetOptions: parquet_rows,
    XlsxOptions: xlsx_rows,
}


@frozen(kw_only=True)
class FileSource:
    """Reads the items of one file."""

    path: Path
    shown: str
    """The path as the suite writes it, for messages and origins."""
    columns: ColumnMap
    task: Task
    rows: ReadRows

    def read(self) -> Sequence[Item] | Iterator[Item]:
        """Return the items in the order of the file.

        Rows are read one at a time and not kept; of a long file, items are not kept either.

        Raises:
            SuiteError: The file has mistakes; all are listed, each with its line. Of a long file it is raised at its
                end, after the items.
            JrhError: The file does not exist or cannot be read.
        """
        try:
            _check_path(self.path, self.shown)
            return _items(self.shown, self.task, self.columns, lambda problems: self.rows(self.path, problems))
        except OSError as error:
            raise JrhError(f"{self.shown}: cannot be read: {error.strerror or error}") from error


@frozen(kw_only=True)
class RowsSource:
    """Reads the items of rows in Python."""

    rows: Any
    columns: ColumnMap
    task: Task

    def read(self) -> Sequence[Item] | Iterator[Item]:
        """Return the items in the order of the rows; a function is called for them.

        Raises:
            SuiteError: The rows have mistakes; all are listed, each with its number.
            JrhError: They are no table.
        """
        found = self.rows() if callable(self.rows) else self.rows
        return _items("rows", self.task, self.columns, lambda problems: held_rows(found, problems))


def _items(
    shown: str, task: Task, columns: ColumnMap, rows: Callable[[Problems], Iterator[Row]]
) -> Sequence[Item] | Iterator[Item]:
    """Build the items of a table; of a long one they come as they are read, and its mistakes after the last."""
    problems = Problems(shown)
    builder = ItemBuilder(task, columns, problems)
    feed = (item for row in rows(problems) if (item := builder.build(row)) is not None)
    first = tuple(islice(feed, _HELD + 1))
    items = _to_the_end(shown, first, feed, builder, problems)
    return items if len(first) > _HELD else tuple(items)


def _to_the_end(
    shown: str, first: Sequence[Item], feed: Iterator[Item], builder: ItemBuilder, problems: Problems
) -> Iterator[Item]:
    yield from first
    try:
        yield from feed
    except OSError as error:
        raise JrhError(f"{shown}: cannot be read: {error.strerror or error}") from error
    builder.finish()
    problems.raise_any()


def rows_source(options: RowsOptions, context: BuildContext) -> RowsSource:
    """Build the source of rows in Python."""
    try:
        rows = context.code(options.rows)
    except (AttributeError, ImportError) as error:
        raise JrhError(f"rows: '{options.rows}' cannot be loaded: {error}") from error
    return RowsSource(rows=rows, columns=ColumnMap(named=options.columns), task=context.task)


def file_source(options: FileOptions, context: BuildContext) -> FileSource:
    """Build the source of a file of any format; the class of the options says which."""
    read = _READERS[type(options)]
    return FileSource(
        path=options.path,
        shown=as_written(options.path, context.base),
        columns=ColumnMap(named=options.columns),
        task=context.task,
        rows=lambda path, problems: read(path, options, problems),
    )


def examples_source(options: ExamplesOptions, context: BuildContext) -> FileSource:
    """Build the source of one shipped dataset; its labels must be on the task's scale, as for any file."""
    path = Path(__file__).parent / "data" / f"{options.dataset.value}.jsonl"
    return evolve(file_source(JsonlOptions(path=path), context), shown=path.name)


def _check_path(path: Path, shown: str) -> None:
    if path.is_dir():
        inside = sorted(entry.name for entry in path.iterdir() if entry.is_file())[:5]
        raise JrhError(f"{shown} is a directory; name one file in it{': ' + ', '.join(inside) if inside else ''}")
    if path.exists():
        if not path.is_file():
            raise JrhError(f"{shown} is not a regular file")  # a device or a pipe may never end
        return
    siblings = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
    close = get_close_matches(path.name, siblings, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "; a relative path is relative to the suite's directory"
    raise JrhError(f"{shown}: file not found{hint}")
