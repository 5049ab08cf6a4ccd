"""Look at what a run left behind, without the help of the program that is tested."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from jrh.store.records_table import checksum
from jrh.values.records import COLUMNS
from jrh_testing import Outcome, Project


def query(project: Project, run_dir: str, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Ask a run's store."""
    path = project.path / run_dir / "run.sqlite"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(sql, parameters).fetchall()


def rewrite_records(project: Project, run_dir: str, sql: str) -> None:
    """Change records as if a run had written them so: with their checksums."""
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    with closing(sqlite3.connect(project.path / run_dir / "run.sqlite")) as connection:
        connection.execute(sql)
        for place, *values in connection.execute(f"SELECT rowid, {names} FROM records").fetchall():
            connection.execute("UPDATE records SET checksum = ? WHERE rowid = ?", (checksum(values), place))
        connection.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        connection.commit()


def one(project: Project, run_dir: str, sql: str, parameters: Sequence[Any] = ()) -> Any:
    """Ask a run's store for one value."""
    return query(project, run_dir, sql, parameters)[0][0]


def report(project: Project, run_dir: str) -> dict[str, Any]:
    """Read the JSON report of a run."""
    found: dict[str, Any] = json.loads(project.read(f"{run_dir}/report.json"))
    return found


def report_bytes(project: Project, run_dir: str) -> dict[str, bytes]:
    """Read the report files of a run as they are."""
    return {name: (project.path / run_dir / name).read_bytes() for name in ("report.md", "report.json")}


def until(condition: Callable[[], bool], what: str, patience: float = 30.0) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"waited {patience:g} s in vain: {what}"
        time.sleep(0.005)


def everything(project: Project, *outcomes: Outcome) -> bytes:
    """Return all bytes of a project's files and of what was printed."""
    files = [path.read_bytes() for path in sorted(project.path.rglob("*")) if path.is_file()]
    return b"\n".join([*files, *(outcome.output.encode() for outcome in outcomes)])


def snapshot(path: Path) -> dict[str, bytes]:
    """Return the files under a path by relative name, without the byte code of local plugins."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and file.parent.name != "__pycache__"]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}
