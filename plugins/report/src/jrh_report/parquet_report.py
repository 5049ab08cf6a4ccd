"""The records as Parquet: typed, compressed, the text exactly as it is."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

from attrs import frozen
from jrh import RunReport

from jrh_report.columns import REAL, TRUTH, WHOLE, chunks, names, storable

_ROWS: Final = 20_000
"""Records of one row group."""


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
        target = BytesIO()
        with parquet.ParquetWriter(target, schema, compression="zstd") as writer:
            for part in chunks(report.records, _ROWS):
                arrays = [pyarrow.array(_storable(part[field.name]), field.type) for field in schema]
                writer.write_table(pyarrow.table(arrays, schema=schema))
                yield _take(target)
        yield _take(target)


def _take(target: BytesIO) -> bytes:
    """Return what was written since the last call; pyarrow counts the bytes itself and does not look at the file."""
    written = target.getvalue()
    target.seek(0)
    target.truncate()
    return written


def _storable(values: list[Any]) -> list[Any]:
    return [storable(value) if isinstance(value, str) else value for value in values]
