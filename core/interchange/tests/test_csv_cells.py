"""Rows of csv with long cells are read, and the limit of other users of csv stays."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from jrh_interchange import csv_rows, next_csv_row, read_rows

LONG = "x" * 200_000


def test_a_long_cell_is_read_and_the_limit_of_the_process_is_restored() -> None:
    before = csv.field_size_limit()
    lines = ["a,b\n", f"1,{LONG}\n", f"2,{LONG}\n"]
    with pytest.raises(csv.Error, match="field larger than field limit"):
        list(csv.reader(lines))
    reader = csv.reader(lines)
    assert next_csv_row(reader) == ["a", "b"]
    assert list(csv_rows(reader)) == [["1", LONG], ["2", LONG]]
    assert next_csv_row(reader) is None
    assert csv.field_size_limit() == before


def test_a_log_with_a_long_cell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"a,b\n1,{LONG}\n", encoding="utf-8")
    (row,) = read_rows(path, "log.csv", {}, ("a", "b"))
    assert row["b"] == LONG
