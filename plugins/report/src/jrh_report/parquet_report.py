"""The records as Parquet: typed, compressed, the text exactly as it is."""

from __future__ import annotations

from collections.abc import Iterator
from io import RawIOBase
from typing import Any, Final

from attrs import frozen
from jrh import RunReport

from jrh_report.columns import REAL, TRUTH, WHOLE, chunks, names, storable

_ROWS: Final = 20_000
"""Records of one row group."""


class _Chunks(RawIOBase):
    """A file that hands on what is written into it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(self._parts[-1])

    def take(self) -> bytes:
        """Return what was written since it was last asked."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def build() -> ParquetReporter:
    """Build the reporter; a missing pyarrow shows here, before anything is written."""
    import pyarrow.parquet  # noqa: F401

    return ParquetReporter()


@frozen
class ParquetReporter:
    """Writes one row per record, in plan order; what is not known is null."""

    def render(self, report: RunReport) -> Iterator[bytes]:
        """Yield the file in chunks, one for each row group; the same records give the same bytes."""
        import pyarrow
        from pyarrow import parquet

        types = {
            **dict.fromkeys(WHOLE, pyarrow.int64()),
            **dict.fromkeys(REAL, pyarrow.float64()),
            **dict.fromkeys(TRUTH, pyarrow.bool_()),
        }
        columns = names(report.records)
        schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in columns])
        target = _Chunks()
        with parquet.ParquetWriter(target, schema, compression="zstd") as writer:
            for part in chunks(report.records, _ROWS):
                arrays = [pyarrow.array(_storable(part[field.name]), field.type) for field in schema]
                writer.write_table(pyarrow.table(arrays, schema=schema))
                yield target.take()
        yield target.take()


def _storable(values: list[Any]) -> list[Any]:
    return [storable(value) if isinstance(value, str) else value for value in values]
