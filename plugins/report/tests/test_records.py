"""The records as CSV and Parquet: every record, every number, the same bytes, a bounded share of them at a time."""

from __future__ import annotations

import csv
import io

import jrh_report.plugin
import pyarrow
import pytest
from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st
from jrh import Record, RecordTable
from jrh_report import record_tables
from jrh_report.record_tables import neutral
from jrh_testing import build, sample_records, sample_report
from pyarrow import parquet

RECORDS = sample_records()


def table(rendered: bytes) -> pyarrow.Table:
    return parquet.read_table(pyarrow.BufferReader(rendered))


def rows(rendered: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendered.decode("utf-8"), newline="")))


def plain(record: Record) -> dict[str, object]:
    values = {attribute.name: getattr(record, attribute.name) for attribute in fields(Record)}
    return {**values, "status": record.status.value}


def test_every_column_is_written_as_the_record_declares_it() -> None:
    assert {"repeat", "prompt_tokens", "completion_tokens", "attempts"} <= set(record_tables.WHOLE)
    assert {"strength", "temperature", "probability", "score", "cost", "latency"} == set(record_tables.REAL)
    assert "simulated" in record_tables.TRUTH
    kinds = (record_tables.WHOLE, record_tables.REAL, record_tables.TRUTH)
    assert sum(map(len, kinds)) == len({name for kind in kinds for name in kind})


def test_parquet_holds_every_record_with_its_types(render) -> None:
    assert table(render("parquet", sample_report())).to_pylist() == [plain(record) for record in RECORDS]


def test_csv_holds_every_record_and_numbers_are_not_quoted(render) -> None:
    shown = render("csv", sample_report())

    found = rows(shown)
    assert len(found) == len(RECORDS)
    for row, record in zip(found, RECORDS, strict=True):
        for name, value in plain(record).items():
            if isinstance(value, bool):
                assert row[name] == str(value).lower()
            elif isinstance(value, int | float):
                assert float(row[name]) == value
            else:
                assert row[name] == (value or "")
    first = shown.decode("utf-8").splitlines()[1]
    assert ',0.8,0.001,100,5,0.25,1,"",' in first


def test_a_negative_number_stays_a_number_and_a_formula_does_not() -> None:
    below = evolve(RECORDS[0], strength=-0.5, gold="-1", canonical="-1+1", detail="=1", rationale="'quoted")
    report = evolve(sample_report(), records=RecordTable.from_records([below]))
    for options, detail, canonical, quoted in (
        ({}, "'=1", "'-1+1", "''quoted"),
        ({"neutralise": False}, "=1", "-1+1", "'quoted"),
    ):
        (row,) = rows(b"".join(build(jrh_report.plugin, "csv", options=options).render(report)))
        assert (row["strength"], row["gold"]) == ("-0.5", "-1")
        assert (row["detail"], row["canonical"], row["rationale"]) == (detail, canonical, quoted)


@given(st.text(alphabet="=+-@\t\r\n'1a. \uff1d", max_size=8))
def test_a_neutral_text_computes_nothing_and_gives_the_text_back(text: str) -> None:
    shown = neutral(text)

    assert shown in (text, f"'{text}")
    assert shown.lstrip()[:1] not in set("=+@\uff1d")
    assert (shown.removeprefix("'") if shown.startswith("'") else shown) == text


def test_chunks_hold_no_more_rows_than_asked() -> None:
    records = RecordTable.from_records(RECORDS)
    parts = list(record_tables.chunks(records, 10))

    assert [len(part["judge"]) for part in parts] == [10] * (len(RECORDS) // 10) + [len(RECORDS) % 10]
    assert [row for part in parts for row in part["item_id"]] == [record.item_id for record in RECORDS]


@pytest.mark.parametrize("reporter", ["csv", "parquet"])
def test_a_large_run_comes_in_pieces(reporter, monkeypatch) -> None:
    monkeypatch.setattr("jrh_report.record_tables.GROUP_ROWS", 20)
    monkeypatch.setattr(record_tables.chunks, "__defaults__", (20,))
    whole = b"".join(build(jrh_report.plugin, reporter, options={}).render(sample_report()))
    pieces = list(build(jrh_report.plugin, reporter, options={}).render(sample_report()))

    assert len(pieces) == -(-len(RECORDS) // 20) + 1
    assert b"".join(pieces) == whole
    if reporter == "parquet":
        assert parquet.ParquetFile(pyarrow.BufferReader(whole)).num_row_groups == len(pieces) - 1


def test_what_no_utf8_can_hold_is_replaced(render) -> None:
    odd = evolve(RECORDS[0], rationale="half \ud800 pair")
    report = evolve(sample_report(), records=RecordTable.from_records([odd]))

    assert table(render("parquet", report)).column("rationale").to_pylist() == ["half \ufffd pair"]
    assert rows(render("csv", report))[0]["rationale"] == "half \ufffd pair"


def test_no_record_is_a_table_without_rows(render) -> None:
    nothing = evolve(sample_report(), records=RecordTable.from_records(()))

    assert render("csv", nothing).startswith(b'"trial_id","case_id","item_id"')
    assert rows(render("csv", nothing)) == []
    assert table(render("parquet", nothing)).num_rows == 0
    assert len(table(render("parquet", nothing)).schema) == len(fields(Record))
