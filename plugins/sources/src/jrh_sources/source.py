"""Read the items of a data file, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeAlias

from attrs import asdict, evolve, frozen
from jrh import BuildContext, Item, JrhError, Task
from jrh_interchange import Problems, Row, table_rows

from jrh_sources.items import ColumnMap, ItemBuilder
from jrh_sources.object_rows import object_rows
from jrh_sources.options import (
    CsvOptions,
    ExamplesOptions,
    FileOptions,
    JsonlOptions,
    ParquetOptions,
    RowsOptions,
    XlsxOptions,
)
from jrh_sources.responses import fields_without_response, remarks_on

_HELD: Final = 4000
"""Items of a table that are built before the first is given out: jrh holds no more of them either."""
_KINDS: Final = {CsvOptions: "csv", JsonlOptions: "jsonl", ParquetOptions: "parquet", XlsxOptions: "xlsx"}

ReadRows: TypeAlias = Callable[[Problems], Iterator[Row]]


def as_written(path: Path, base: Path) -> str:
    """Return a path as the suite writes it, for messages: the loader made it absolute."""
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


@frozen(kw_only=True)
class TableSource:
    """Reads the items of a table, one row at a time."""

    shown: str
    """Where the rows are, as the suite writes it, for messages and origins."""
    columns: ColumnMap
    task: Task
    rows: ReadRows
    prompts: bool = False
    """Whether a model of the suite has yet to write the responses."""

    def remarks(self, items: Sequence[Item]) -> Iterator[str]:
        """Say that a model has yet to write the responses."""
        return remarks_on(items) if self.prompts else iter(())

    def read(self) -> Sequence[Item] | Iterator[Item]:
        """Return the items in the order of the rows; of a long table they come as they are read, and none is kept.

        Raises:
            SuiteError: The table has mistakes; all are listed, each with its line. Of a long table it is raised at its
                end, after the items.
            JrhError: The table does not exist or cannot be read.
        """
        items = self._items()
        # A table with a mistake then fails before its first item is judged, unless it is long.
        first = tuple(islice(items, _HELD + 1))
        return chain(first, items) if len(first) > _HELD else first

    def _items(self) -> Iterator[Item]:
        problems = Problems(self.shown)
        builder = ItemBuilder(self.task, self.columns, problems)
        empty = True
        try:
            for row in self.rows(problems):
                empty = False
                item = builder.build(self._without_response(row, problems) if self.prompts else row)
                if item is not None:
                    yield item
        except OSError as error:
            raise JrhError(f"{self.shown}: cannot be read: {error.strerror or error}") from error
        builder.finish()
        if empty and not problems:
            problems.add("there are no rows")
        problems.raise_any()

    def _without_response(self, row: Row, problems: Problems) -> Row:
        """Return the row of a prompt with a text in the place of the response, which is no other row's."""
        request = row.values.get(self.columns.column.get("request", ""))
        if not request or (isinstance(request, str) and not request.strip()):
            problems.add("`prompts: true`, but the request, which the model answers, is empty", line=row.line)
        unwritten = fields_without_response(row.place, request, self.task.mode)
        values = {self.columns.column.get(target, target): value for target, value in unwritten.items()}
        for column in values:
            if row.values.get(column):
                problems.add(f"`prompts: true`, but column '{column}' has a response; remove one", line=row.line)
        return evolve(row, values={**row.values, **values})


def rows_source(options: RowsOptions, context: BuildContext) -> TableSource:
    """Build the source of rows in Python; a function is called for them when they are read."""
    try:
        held = context.code(options.rows)
    except (AttributeError, ImportError) as error:
        raise JrhError(f"rows: '{options.rows}' cannot be loaded: {error}") from error

    def rows(problems: Problems) -> Iterator[Row]:
        return object_rows(held() if callable(held) else held, problems)

    return TableSource(shown="rows", columns=ColumnMap.of(options), task=context.task, rows=rows)


def file_source(options: FileOptions, context: BuildContext) -> TableSource:
    """Build the source of a file of any format; the class of the options says which."""
    shown = as_written(options.path, context.base)
    meant = {"path", "labels", "whole_labels", "prompts"}  # of items, or handed over by itself
    settings = asdict(options, recurse=False, filter=lambda attribute, _: attribute.name not in meant)

    def rows(problems: Problems) -> Iterator[Row]:
        _check_path(options.path, shown)
        return table_rows(options.path, _KINDS[type(options)], problems, **settings)

    return TableSource(
        shown=shown, columns=ColumnMap.of(options), task=context.task, rows=rows, prompts=options.prompts
    )


def examples_source(options: ExamplesOptions, context: BuildContext) -> TableSource:
    """Build the source of one shipped dataset; its labels must be on the task's scale, as for any file."""
    path = Path(__file__).parent / "data" / f"{options.dataset.value}.jsonl"
    return evolve(file_source(JsonlOptions(path=path), context), shown=path.name)


def list_files(path: Path, shown: str, wanted: Callable[[Path], bool], most: int, kind: str) -> list[Path]:
    """Return the file itself, or those of a folder and its folders that are wanted, in the order of their names.

    Raises:
        JrhError: there is no such file or folder, or it has more than `most` such files.
    """
    if path.is_file():
        return [path]
    if path.exists() and not path.is_dir():
        raise JrhError(f"{shown} is not a regular file")  # a device or a pipe may never end
    if not path.is_dir():
        raise JrhError(f"{shown}: no such file or folder; a relative path is relative to the suite's directory")
    files = [file for file in sorted(path.rglob("*")) if wanted(file) and file.is_file()]
    if len(files) > most:
        raise JrhError(f"{shown} has more than {most:,} files{kind}")
    return files


def _check_path(path: Path, shown: str) -> None:
    if path.is_file():
        return
    if path.is_dir():
        inside = sorted(entry.name for entry in path.iterdir() if entry.is_file())[:5]
        raise JrhError(f"{shown} is a directory; name one file in it{': ' + ', '.join(inside) if inside else ''}")
    if path.exists():
        raise JrhError(f"{shown} is not a regular file")  # a device or a pipe may never end
    # The hint looks at the folder that was named: most often the name has a typing error.
    siblings = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
    close = get_close_matches(path.name, siblings, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "; a relative path is relative to the suite's directory"
    raise JrhError(f"{shown}: file not found{hint}")
