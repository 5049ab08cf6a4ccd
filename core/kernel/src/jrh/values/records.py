"""Hold records as columns, for metrics; the records come from a run or from an imported log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import count
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from jrh.values.column_file import ColumnFile, Gathering, IdGathering, PackedIds
from jrh.values.verdicts import COLUMNS, NUMERIC, Record, Status

_Column = TypeVar("_Column")
_Number = TypeVar("_Number", bound=np.generic)

_WHOLE: Final = 2**24
"""Below it, whole numbers are exact in 32 bits, also in a column of others that are not whole."""


_PART: Final = 2**16
"""Rows that are compared at once."""


class Categorical:
    """Text as integer codes into distinct categories."""

    __slots__ = ("categories", "codes")

    def __init__(self, codes: NDArray[np.signedinteger], categories: Sequence[str]) -> None:
        """Keep codes of shape (n,), -1 for None, and the categories in order of first appearance."""
        self.codes = codes
        self.categories = categories

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Categorical:
        """Code the values in order of first appearance, in as few bytes as their number allows."""
        coding = _Coding(ColumnFile())
        coding.add(list(values))
        return coding.column(ColumnFile())

    def take(self, rows: NDArray[Any]) -> Categorical:
        """Return the rows of a boolean mask or an index array; the categories stay the same."""
        return Categorical(_take_rows(self.codes, rows), self.categories)

    def store_in(self, file: ColumnFile) -> Categorical:
        """Return the same column, which waits in a file if it is long."""
        ids = self.categories
        return Categorical(file.put(self.codes), ids.store_in(file) if isinstance(ids, PackedIds) else ids)

    def share_categories(self, known: dict[Sequence[str], Sequence[str]]) -> Categorical:
        """Return the same column with equal categories that are known, if any: items are often their own cluster."""
        names = self.categories
        return Categorical(self.codes, known.setdefault(names, names)) if isinstance(names, tuple) else self

    def values(self) -> list[str | None]:
        """Return the text of every row."""
        # The code -1 finds the last, which is None.
        lookup: list[str | None] = [*self.categories, None]
        return [lookup[code] for code in self.codes.tolist()]


class _Coding:
    """Code a column of text some rows at a time."""

    def __init__(self, file: ColumnFile) -> None:
        self._codes = Gathering(file)
        self._index: defaultdict[str | None, int] = defaultdict(count().__next__, {None: -1})
        """Numbers texts in the order in which they are first looked up."""
        self._ids: IdGathering | None = IdGathering(file)
        """Gathers the rows as long as all of them are ids."""

    def add(self, values: Sequence[str | None]) -> None:
        if self._ids is not None and (not values or self._ids.add_ids(values)):
            return
        before, self._ids = self._ids, None
        # One value that is no id: what was gathered is coded again, as any other text.
        for part in (*(before.rows() if before is not None else ()), values):
            self._add(part)

    def _add(self, values: Sequence[str | None]) -> None:
        codes = np.fromiter(map(self._index.__getitem__, values), dtype=np.int32, count=len(values))
        self._codes.add(codes.astype(self._type()))

    def _type(self) -> np.dtype[Any]:
        """Return the shortest type: most columns have few categories, and a table has dozens of columns."""
        # Negative, because -1 means None.
        return np.min_scalar_type(-len(self._index))

    def column(self, file: ColumnFile) -> Categorical:
        """Return the column, whose arrays are in a file if they are large."""
        if self._ids is not None and self._ids:
            return Categorical(*self._ids.column(file))
        categories = tuple(name for name in self._index if name is not None)
        codes = self._codes.join(file, self._type()) if self._codes else np.zeros(0, dtype=self._type())
        return Categorical(_collapse_equal(codes), categories)


def _shortest(numbers: NDArray[np.float64]) -> NDArray[Any]:
    """Return the same numbers in as few bytes as hold each of them exactly: many are whole, or have few digits."""
    if np.isfinite(numbers).all() and np.abs(numbers).max(initial=0) < _WHOLE and (numbers == np.rint(numbers)).all():
        ends = (int(numbers.min(initial=0)), int(numbers.max(initial=0)))
        return numbers.astype(np.promote_types(*map(np.min_scalar_type, ends)))
    # A number too large for 32 bits becomes infinite there, and then differs.
    with np.errstate(over="ignore"):
        short = numbers.astype(np.float32)
    return short if np.array_equal(numbers, short, equal_nan=True) else numbers


class RecordTable:
    """Columns of equal length, one row per record, in plan order. Their arrays are not to be written.

    Long columns that were read wait in a temporary file (`file`), which is gone with the table.
    """

    def __init__(
        self,
        categorical: Mapping[str, Categorical],
        numeric: Mapping[str, NDArray[Any]],
        file: ColumnFile | None = None,
    ) -> None:
        """Keep the columns; a table may lack columns that its source does not have."""
        self.file = ColumnFile() if file is None else file
        self._categorical: Mapping[str, Categorical] = dict(categorical)
        self._numeric: Mapping[str, NDArray[Any]] = dict(numeric)
        self._length = next(
            (len(column) for column in self._numeric.values()),
            next((len(column.codes) for column in self._categorical.values()), 0),
        )

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]]) -> RecordTable:
        """Build a table from plain sequences, one per column, enums or their values."""
        return cls.from_slices([columns])

    @classmethod
    def from_slices(cls, slices: Iterable[Mapping[str, Sequence[Any]]]) -> RecordTable:
        """Build a table from columns that come some rows at a time; only codes and numbers of them are kept."""
        texts: dict[str, _Coding] = {}
        numbers: dict[str, Gathering] = {}
        # Two files: the rows as they came are let go when the columns are there.
        gathered, file = ColumnFile(), ColumnFile()
        for columns in slices:
            for name, values in columns.items():
                if name in NUMERIC:
                    numbers.setdefault(name, Gathering(gathered)).add(_shortest(np.array(values, dtype=np.float64)))
                else:
                    texts.setdefault(name, _Coding(gathered)).add(values)
        # Each column is let go as soon as it is an array.
        names: dict[Sequence[str], Sequence[str]] = {}
        categorical = {name: texts.pop(name).column(file).share_categories(names) for name in tuple(texts)}
        numeric = {name: _collapse_equal(numbers.pop(name).join(file)) for name in tuple(numbers)}
        return cls(categorical, numeric, file)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> RecordTable:
        """Build a table from records."""
        rows = list(records)
        return cls.from_columns({name: [_plain(getattr(row, name)) for row in rows] for name in COLUMNS})

    def __len__(self) -> int:
        """Return the number of records."""
        return self._length

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns present, in the order of `Record`."""
        return tuple(name for name in COLUMNS if name in self._categorical or name in self._numeric)

    def codes(self, name: str) -> NDArray[np.int32]:
        """Return a text column as codes of shape (n,), -1 where the record has None."""
        return _as_type(self._categorical[name].codes, np.int32)

    def categories(self, name: str) -> Sequence[str]:
        """Return the texts the codes of a column stand for; some may not occur in a subset."""
        taken = self._categorical
        return (taken.source if isinstance(taken, _Taken) else taken)[name].categories

    def number(self, name: str) -> NDArray[np.float64]:
        """Return a numeric column of shape (n,), NaN where the record has None."""
        return _as_type(self._numeric[name], np.float64)

    def text(self, name: str) -> list[str | None]:
        """Return a text column row by row."""
        return self._categorical[name].values()

    def counts(self, name: str) -> dict[str | None, int]:
        """Count the rows by the text of a column, by first appearance; texts that no row has are left out."""
        column = self._categorical[name]
        counts = np.bincount(column.codes.astype(np.int64) + 1, minlength=1)
        named = zip((None, *column.categories), counts.tolist(), strict=False)
        return {text: count for text, count in named if count}

    def equals(self, name: str, value: str) -> NDArray[np.bool_]:
        """Return the mask of the rows whose text is the value."""
        column = self._categorical[name]
        # -1 is None; -2 is no row's code.
        code = column.categories.index(value) if value in column.categories else -2
        return np.asarray(column.codes == code)

    def failure_mask(self) -> NDArray[np.bool_]:
        """Return the mask of the rows whose trial failed and will be repeated."""
        every = [self.equals("status", status.value) for status in Status if status.transient]
        return np.asarray(np.logical_or.reduce(every))

    def where(self, rows: NDArray[Any]) -> RecordTable:
        """Return the rows of a boolean mask of shape (n,), or of an index array.

        A column is taken when it is first asked for: a table has dozens of columns, and most metrics read few.
        """
        return self._select(rows, Categorical.take, _take_rows)

    def in_order(self, rows: NDArray[Any], file: ColumnFile) -> RecordTable:
        """Return the rows of an index array likewise; the columns that are taken wait in a file."""
        return self._select(
            rows,
            lambda column, rows: column.take(rows).store_in(file),
            lambda column, rows: file.put(_take_rows(column, rows)),
        )

    def _select(
        self,
        rows: NDArray[Any],
        texts: Callable[[Categorical, NDArray[Any]], Categorical],
        numbers: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
    ) -> RecordTable:
        taken = RecordTable({}, {}, self.file)
        taken._categorical = _Taken(self._categorical, rows, texts)
        taken._numeric = _Taken(self._numeric, rows, numbers)
        taken._length = _number_of(rows)
        return taken

    def split(self, *names: str) -> Iterator[tuple[tuple[str, ...], RecordTable]]:
        """Yield (values, rows) for every combination of text columns that occurs, by first appearance.

        None counts as the empty text.
        """
        if not len(self):
            return
        # Codes and not texts are compared: a few bytes per row.
        stacked = np.stack([self.codes(name) for name in names])
        _, first, inverse = np.unique(stacked, axis=1, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
        # `np.unique` sorts by code; reports list cells as they first appear.
        for cell in np.argsort(first, kind="stable"):
            key = tuple(
                self.categories(name)[code] if code >= 0 else ""
                for name, code in zip(names, stacked[:, first[cell]], strict=True)
            )
            yield key, self.where(np.flatnonzero(inverse == cell))


class _Taken(Mapping[str, _Column]):
    """Some rows of columns; each is taken once."""

    def __init__(
        self, source: Mapping[str, _Column], rows: NDArray[Any], take: Callable[[_Column, NDArray[Any]], _Column]
    ) -> None:
        self.source = source
        self._rows = rows
        self._take = take
        self._found: dict[str, _Column] = {}

    def __getitem__(self, name: str) -> _Column:
        if name not in self._found:
            self._found[name] = self._take(self.source[name], self._rows)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.source

    def __iter__(self) -> Iterator[str]:
        return iter(self.source)

    def __len__(self) -> int:
        return len(self.source)


def _number_of(rows: NDArray[Any]) -> int:
    return int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)


def _take_rows(column: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    if column.strides == (0,):
        return np.broadcast_to(column[:1], (_number_of(rows),))
    taken: NDArray[Any] = column[rows]
    return taken


def _collapse_equal(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column in the room of one value where all are equal, as they are in most."""
    first = column[:1]
    parts = (column[start : start + _PART] for start in range(0, len(column), _PART))
    # Part by part, since a comparison needs as much memory as what it compares.
    same = len(column) > 1 and all(
        np.array_equal(part, np.broadcast_to(first, part.shape), equal_nan=True) for part in parts
    )
    return np.broadcast_to(first.copy(), column.shape) if same else column


def _as_type(column: NDArray[Any], kind: type[_Number]) -> NDArray[_Number]:
    if column.strides == (0,):
        return np.broadcast_to(column[:1].astype(kind), column.shape)
    return column.astype(kind, copy=False)


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value
