"""Copy what can be read of a damaged run to a new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from attrs import frozen
from jrh.errors import StoreError
from jrh.store import StoredRows, write_store


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
        suite = source.meta.get("suite")
        if suite is None:
            raise StoreError(f"cannot salvage '{source.path}': the name of its suite is lost")
        kept = write_store(target, suite, _tables(source), source.declared.values())
        return Salvaged(kept=kept, changed=source.changed, broken=tuple(source.broken))


def _tables(source: StoredRows) -> Iterator[tuple[str, Iterable[Sequence[Any]]]]:
    """Yield all tables; that of the stages last, as it says what of the others is whole."""
    for table in source.tables:
        if table != "stages":
            yield table, source.rows(table)
    yield "stages", source.stages_to_keep()
