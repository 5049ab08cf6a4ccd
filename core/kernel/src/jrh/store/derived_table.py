"""What was made out of the records of a run, so that who reads the run again does not make it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any, ClassVar, Final

import zstandard

from jrh.hashing import content_id
from jrh.store.database import SCHEMA_VERSION, Database
from jrh.store.packing import Compressor, decompressed
from jrh.store.writer import Statement
from jrh.values import column_file, packed_columns, packed_ids, records
from jrh.values.packed_columns import Piece
from jrh.values.records import RecordTable
from jrh.version import __version__

GROWING: Final = "growing"
"""Digest of a plan whose later trials are still to come."""
_COLUMN: Final = "column "
"""Starts the name of a piece of the table of records, which ends with its column and number."""
_LETTERS: Final = 64
"""Characters of text for each record up to which a table is kept: longer ones would be stored twice."""
_UNREADABLE: Final = (zstandard.ZstdError, ValueError, KeyError, TypeError, BufferError)
"""What is kept can be made again: where somebody else has written it, it is as if it were not there."""


class DerivedTable:
    """The table of records, and sums over them, with the id of everything they were made from.

    They are used only where this process made them, or found the store as a process of jrh had closed it: then the
    checksum of the whole file holds for the records and for this. Otherwise every record is read, and compared with
    its own checksum.
    """

    STAGE: ClassVar = "derived"
    FORGET: ClassVar[tuple[Statement, ...]] = (
        ("DELETE FROM derived", [()]),
        ("DELETE FROM stages WHERE name = ?", [(STAGE,)]),
    )

    def __init__(self, database: Database, sums: Mapping[str, str]) -> None:
        """Use `Store.derived` instead; `sums` are queries over the plan and its records, by name."""
        self._database = database
        self._sums = sums
        self._own = ""
        """The id of what this process made."""

    def written(self) -> tuple[int, int | None]:
        """Return the number of records and the last row id; one of them changes with every write."""
        ((count, last),) = self._database.rows("SELECT count(*), max(rowid) FROM records")
        return count, last

    def is_current(self) -> bool:
        """Tell whether what is kept was made from the plan, the items and the records as they are."""
        kept = self._database.digest(self.STAGE)
        return bool(kept) and (self._database.whole or kept == self._own) and kept == self.made_from()

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """Return the rows of one of the queries."""
        if self.is_current():
            with suppress(*_UNREADABLE):
                for kept in self._payloads(name):
                    found = json.loads(kept)
                    if isinstance(found, list):
                        return [tuple(row) for row in found]
        return self._database.rows(self._sums[name])

    def table(self) -> RecordTable | None:
        """Return the table of records; None where it is not kept."""
        if self.is_current():
            with suppress(*_UNREADABLE):
                table = RecordTable.unpacked(self._columns())
                return table if table.columns else None
        return None

    def keep(self, table: RecordTable, made_from: str) -> None:
        """Keep the table of the plan's records and the sums, unless they are kept.

        `made_from` is what the function of that name returned before the table was read: where it is another one by
        now, nothing is kept.
        """
        if not made_from or self.is_current():
            return
        sums = [(name, json.dumps(self._database.rows(sql)).encode("ascii")) for name, sql in self._sums.items()]
        if self.made_from() == made_from:
            rows = _rows(sums, table)
            self._database.replace(self.STAGE, made_from, *self.FORGET, ("INSERT INTO derived VALUES (?, ?, ?)", rows))
            self._own = made_from

    def _columns(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        names = self._database.rows("SELECT name FROM derived WHERE name GLOB ? ORDER BY position", (f"{_COLUMN}*",))
        for column, pieces in groupby((name for (name,) in names), key=lambda name: name.split()[1]):
            yield column, chain.from_iterable(map(self._payloads, pieces))

    def _payloads(self, name: str) -> Iterator[bytes]:
        for (payload,) in self._database.rows("SELECT payload FROM derived WHERE name = ?", (name,)):
            yield decompressed(payload)

    def made_from(self) -> str:
        """Return the id of everything that what is kept depends on; empty while the plan grows."""
        plan = self._database.digest("trials")
        if plan in (None, GROWING):
            return ""
        others = [self._database.digest(stage) for stage in ("items", "rationales")]
        return content_id("derived", plan, others, [*self.written()], dict(self._sums), _code())


def _rows(sums: Sequence[tuple[str, bytes]], table: RecordTable) -> Iterator[tuple[int, str, bytes]]:
    """Yield what is kept; piece by piece, when it is written: a large column is not in memory twice."""
    compressor = Compressor()
    pieces: Iterable[tuple[str, Piece]] = sums
    if len(table) and table.letters() <= _LETTERS * len(table):
        pieces = chain(sums, _pieces(table))
    for place, (name, piece) in enumerate(pieces):
        yield place, name, compressor.compressed(piece)
        table.file.release()


def _pieces(table: RecordTable) -> Iterator[tuple[str, Piece]]:
    for column in table.columns:
        for number, piece in enumerate(table.packed(column)):
            yield f"{_COLUMN}{column} {number}", piece


@cache
def _code() -> str:
    """Return the id of the code that makes and reads what is kept; a version that is not released yet changes."""
    here = Path(__file__)
    others = (records, packed_columns, packed_ids, column_file)
    paths = [here, here.with_name("records_table.py"), *(Path(str(module.__file__)) for module in others)]
    texts = [path.read_text(encoding="utf-8") for path in paths if path.is_file()]
    return content_id(__version__, SCHEMA_VERSION, texts)
