"""A finished run that is run again reads no record again, and never takes what it kept for something it is not."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
import zstandard
from jrh.store import seal
from jrh.store.records_table import RecordsTable
from jrh_testing import Inside
from support.looking import report_bytes

pytestmark = pytest.mark.inside

SUITE = """\
name: again
data: {{source: examples, dataset: factual, sample: {{n: {items}, seed: 1}}}}
task: {{instruction: Is the answer accurate?, scale: {{labels: ["YES", "NO"]}}}}
tests: [{{format: {{variants: [spaces]}}}}]
judges: [{{judge: simulated, name: {judge}, accuracy: 0.8, rerun_noise: 0.1}}]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Inside:
    project = Inside(tmp_path_factory.mktemp("again"))
    run(project)
    return project


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records each reading of the table gave."""
    found: list[int] = []
    slices = RecordsTable.slices

    def counted(*given: object, **named: object) -> Iterator[object]:
        for part in slices(*given, **named):  # type: ignore[arg-type]
            found.append(len(part["trial_id"]))
            yield part

    monkeypatch.setattr(RecordsTable, "slices", counted)
    return found


def run(project: Inside, *, where: str = "run", items: int = 12, judge: str = "steady") -> None:
    (project.path / "suite.yaml").write_text(SUITE.format(items=items, judge=judge), encoding="utf-8")
    outcome = project.run("run", "suite.yaml", "--run-dir", where)
    assert outcome.exit_code == 0, outcome.output


def test_a_finished_run_reads_no_record_again_and_writes_the_same_report(done: Inside, read: list[int]) -> None:
    before = report_bytes(done, "run")
    run(done)
    assert done.run("report", "run").exit_code == 0
    assert read == []
    assert report_bytes(done, "run") == before


def test_records_of_a_store_without_its_checksum_are_read_and_compared(done: Inside, read: list[int]) -> None:
    before = report_bytes(done, "run")
    with closing(sqlite3.connect(done.path / "run" / "run.sqlite")) as store:
        store.execute("PRAGMA application_id = 0")  # as a kill leaves it
        store.commit()
    run(done)
    assert sum(read) == 36
    assert report_bytes(done, "run") == before


@pytest.mark.parametrize("payload", [b"no frame", zstandard.compress(b"["), zstandard.compress(b'{"rows": 36}\n')])
def test_what_somebody_else_has_written_in_place_of_it_is_as_if_it_were_not_there(
    done: Inside, read: list[int], payload: bytes
) -> None:
    before = report_bytes(done, "run")
    shutil.copytree(done.path / "run", done.path / "forged", dirs_exist_ok=True)
    path = done.path / "forged" / "run.sqlite"
    with closing(sqlite3.connect(path)) as store:
        store.execute("UPDATE derived SET payload = ?", (payload,))
        store.commit()
    seal.close(path)
    assert done.run("report", "forged").exit_code == 0
    assert sum(read) == 36
    assert report_bytes(done, "forged") == before


@pytest.mark.parametrize("edit", [{"items": 14}, {"judge": "other"}, {"items": 11}])
def test_after_an_edit_the_report_is_that_of_a_new_run(done: Inside, edit: dict[str, object]) -> None:
    run(done, where="edited")
    run(done, where="edited", **edit)  # type: ignore[arg-type]
    run(done, where=f"new-{edit}", **edit)  # type: ignore[arg-type]
    assert report_bytes(done, "edited") == report_bytes(done, f"new-{edit}")
    run(done, where="edited")
    assert report_bytes(done, "edited") == report_bytes(done, "run")
