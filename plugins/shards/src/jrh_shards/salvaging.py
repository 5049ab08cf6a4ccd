"""Copy what can be read of a damaged run to a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh.errors import StoreError
from jrh.store import StoredRows, write_store

from jrh_shards.merging import rename_when_written

_STAGES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "items": ("items",),
    "drafts": ("cases:",),
    "cases": ("cases:",),
    "trials": ("trials",),
    "records": ("rationales",),
}
"""Table -> the starts of the stages that make its rows."""
_ALWAYS_AGAIN: Final = ("items", "trials", "measures", "derived")
"""Items and trials are made again without a call; a changed id among them would be a question that never was."""


@frozen(kw_only=True)
class Salvaged:
    """What was saved of each table."""

    kept: Mapping[str, int]
    changed: Mapping[str, int]
    """Table -> rows that are not what was written."""
    broken: tuple[str, ...]
    """Tables that could not be read whole."""


def salvage_run(run_dir: Path, target: Path) -> Salvaged:
    """Copy what can be read of the store in a run directory to a new one; the damaged one stays as it is.

    Raises:
        StoreError: there is no store, it cannot be opened at all, or the new directory exists already.
    """
    if target.exists():
        raise StoreError(f"'{target}' exists already; move it away to salvage '{run_dir}' again")
    with closing(StoredRows(run_dir)) as source:
        # The new directory must belong to the same suite, or it could not be continued.
        suite = source.meta.get("suite")
        if suite is None:
            raise StoreError(f"cannot salvage '{source.path}': the name of its suite is lost")
        with rename_when_written(target) as unfinished:
            written = write_store(unfinished, suite, _tables(source), source.stage_tables.values())
        return Salvaged(kept=written, changed=source.changed, broken=tuple(source.broken))


def _tables(source: StoredRows) -> Iterator[tuple[str, Iterable[Mapping[str, Any]]]]:
    """Yield all tables but the measures, which are computed again; the stages last, once it is known what is lost."""
    for table in source.tables:
        if table not in ("stages", "measures"):
            yield table, source.rows(table)
    lost = [name for table in (*source.broken, *source.changed) for name in _STAGES_OF.get(table, (table,))]
    # Without its id a stage works again, and finds the replies that were saved.
    again = (*lost, *_ALWAYS_AGAIN)
    yield "stages", (row for row in source.rows("stages") if not row["name"].startswith(again))
