"""Copy a run to another directory, also while it goes on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from jrh.errors import DamagedStoreError, StoreError
from jrh.running import carry_plugins, open_store
from jrh.store import StoredRows

from jrh_shards.merging import refuse_changed, rename_when_written


def back_up_run(run_dir: Path, target: Path) -> int:
    """Copy a run to a new directory and return the number of its records; the run may go on meanwhile.

    The store is copied as it is at one moment, and every checksum in the copy is compared. Other files follow.

    Raises:
        StoreError: there is no run, the run is damaged, or the new directory has files or lies in the run directory.
    """
    if run_dir.resolve() in target.resolve().parents:
        raise StoreError(f"'{target}' lies in the run directory '{run_dir}'; choose a place outside")
    with open_store(run_dir) as store, rename_when_written(target) as unfinished:
        suite = store.meta("suite") or ""
        unfinished.mkdir(mode=0o700)
        try:
            store.back_up(unfinished / store.path.name)
        except DamagedStoreError as error:
            raise DamagedStoreError(str(error).replace(str(unfinished), str(run_dir))) from None
        with closing(StoredRows(unfinished)) as copy:
            counts = {table: sum(1 for _ in copy.rows(table)) for table in copy.tables}
            refuse_changed(copy, run_dir)
        for path in _other_files(store.path):
            place = unfinished / path.relative_to(run_dir)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.touch(mode=0o600)
            shutil.copyfile(path, place)
    # Local plugins are remembered by their paths from the run directory.
    carry_plugins([run_dir], target, suite)
    return counts["records"]


def _other_files(store: Path) -> Iterator[Path]:
    """Yield the regular files of a run directory besides its store and its lock."""
    for path in sorted(store.parent.rglob("*")):
        ours = path.parent == store.parent and (path.name.startswith(store.name) or path.name == "run.lock")
        if path.is_file() and not path.is_symlink() and not ours:
            yield path
