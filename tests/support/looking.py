"""Look at what a run left behind, without the help of the program that is tested."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from math import isnan
from pathlib import Path
from typing import Any

from jrh.store.records_table import checksum
from jrh.store.texts_table import Decompressor
from jrh.values.verdicts import COLUMNS
from jrh_testing import Outcome, Project


def query(project: Project, run_dir: str, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Ask a run's store."""
    path = project.path / run_dir / "run.sqlite"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        if "unpacked(" in sql:
            connection.create_function("unpacked", 2, _unpacked(path))
        return connection.execute(sql, parameters).fetchall()


UNPACKED = "SELECT unpacked(texts, payload) FROM cases WHERE test = ? ORDER BY position"
_DRAFTS = """
SELECT d.item_id, d.variant, d.state, d.reason, unpacked(coalesce(c.texts, d.texts), coalesce(c.payload, d.payload)),
    unpacked(i.texts, i.payload), c.id FROM drafts d LEFT JOIN cases c ON c.id = d.case_id
LEFT JOIN items i ON i.task = d.task AND i.id = d.item_id WHERE ? IN ('', d.test) ORDER BY d.position
"""


def _unpacked(path: Path) -> Callable[[str, bytes], str]:
    decompressor = Decompressor()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        texts = {number: decompressor.text(body) for number, body in connection.execute("SELECT id, body FROM texts")}
    return lambda ids, blob: json.dumps(decompressor.value(json.loads(ids), blob, texts))


def cases_of(project: Project, run_dir: str, test: str) -> list[dict[str, Any]]:
    """Return the cases of a test."""
    return [json.loads(text) for (text,) in query(project, run_dir, UNPACKED, (test,))]


def drafts_of(project: Project, run_dir: str, test: str = "") -> list[tuple[str, str, str, str, dict[str, Any]]]:
    """Return item, variant, state, reason and content of everything a test proposed; a kept draft is its case."""
    found = []
    for *known, text, item, case in query(project, run_dir, _DRAFTS, (test,)):
        draft = json.loads(text)
        if case is not None:
            own = json.loads(item)["fields"]
            fields = {name: value for name, value in draft["fields"].items() if value != own[name]}
            draft |= {**draft["condition"], "details": draft["provenance"]["details"], "fields": fields}
        found.append((*known, draft))
    return found


def rewrite_records(project: Project, run_dir: str, sql: str) -> None:
    """Change records as if a run had written them so: with their checksums."""
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    with closing(sqlite3.connect(project.path / run_dir / "run.sqlite")) as connection:
        connection.execute(sql)
        for place, *values in connection.execute(f"SELECT rowid, {names} FROM records").fetchall():
            summed = checksum(values)
            # Values of a wrong type have none, and the column is never empty.
            connection.execute(
                "UPDATE records SET checksum = ? WHERE rowid = ?", (0 if isnan(summed) else summed, place)
            )
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


def without_this_run(reports: Mapping[str, bytes]) -> tuple[str, dict[str, Any]]:
    """Return the text and the values of reports without the block in which equal runs may differ: whose replies."""
    text = re.sub(r"^## This run\n.*?(?=^## )", "", reports["report.md"].decode(), flags=re.DOTALL | re.MULTILINE)
    values = json.loads(reports["report.json"])
    return text, {**values, "sections": [each for each in values["sections"] if each["name"] != "this-run"]}


def until(condition: Callable[[], bool], what: str, patience: float = 120.0) -> None:
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


def run_files(project: Project, run_dir: str) -> dict[str, bytes]:
    """Return the files of a run without its store and its log, and its table of records without latencies."""
    found = {
        name: data
        for name, data in snapshot(project.path / run_dir).items()
        if not name.startswith(("run.sqlite", "run.json", "log.jsonl"))
    }
    if "records.csv" in found:
        rows = csv.DictReader(found["records.csv"].decode().splitlines())
        found["records.csv"] = json.dumps([{**row, "latency": ""} for row in rows]).encode()
    return found
