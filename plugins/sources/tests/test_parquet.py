"""What the parquet source reads, and what it says about files that are not in order."""

from __future__ import annotations

import datetime
import decimal
import sys

import jrh_sources.plugin
import pyarrow as pa
import pytest
from jrh import JrhError, Scale, Task
from jrh_interchange import arrow_rows
from jrh_testing import build
from pyarrow import parquet

LEVELS = Task(name="t", scale=Scale.of_levels(1, 5))


@pytest.fixture
def read(tmp_path):
    def read_items(table, task=LEVELS, **options):
        if isinstance(table, bytes):
            (tmp_path / "a.parquet").write_bytes(table)
        else:
            parquet.write_table(table, tmp_path / "a.parquet")
        source = build(
            jrh_sources.plugin, "parquet", options={"path": "a.parquet", **options}, task=task, base=tmp_path
        )
        return source.read()

    return read_items


def test_numbers_and_text_become_the_same_labels(read):
    for kind in (pa.int64(), pa.uint8(), pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        label = pa.array(["3", None], pa.string()).cast(kind)
        items = read(pa.table({"id": [10, 20], "response": ["x", "y"], "label": label}))
        assert [(item.id, item.gold) for item in items] == [("10", "3"), ("20", None)], kind


def test_text_is_not_read_as_numbers_or_missing(read):
    task = Task(name="t", scale=Scale.of_labels("001", "NA", "null"))
    items = read(pa.table({"response": ["x"] * 3, "label": ["001", "NA", "null"]}), task=task)
    assert [item.gold for item in items] == ["001", "NA", "null"]
    assert [item.origin for item in items] == ["a.parquet:1", "a.parquet:2", "a.parquet:3"]


def test_floating_labels_are_not_silently_rounded(read):
    with pytest.raises(JrhError, match=r"a\.parquet:1: label '3\.0' is not on the scale.* write '3'"):
        read(pa.table({"response": ["x"], "label": [3.0]}))


def test_a_floating_label_that_is_not_a_number_is_no_label(read):
    task = Task(name="t", scale=Scale.of_labels("1.5", "2.5"))
    items = read(pa.table({"response": ["x", "y"], "label": [1.5, float("nan")]}), task=task)
    assert [item.gold for item in items] == ["1.5", None]


def test_every_type_becomes_json(read):
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "response": ["x"],
            "day": [datetime.date(2020, 1, 2)],
            "naive": pa.array([1_577_934_245_000_000_001], pa.timestamp("ns")),
            "aware": pa.array([moment], pa.timestamp("us", tz="UTC")),
            "lasting": pa.array([90], pa.duration("s")),
            "price": [decimal.Decimal("1.50")],
            "tags": [["a", None]],
            "author": [{"name": "ann", "age": 3}],
            "pairs": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "flag": [True],
            "big": [float("inf")],
            "nothing": pa.nulls(1),
            "raw": [b"\x00\xff"],
        }
    )
    (item,) = read(table)
    assert item.metadata == {
        "day": "2020-01-02",
        "naive": "2020-01-02 03:04:05.000000001",
        "aware": "2020-01-02 03:04:05.000000Z",
        "lasting": "90",
        "price": "1.50",
        "tags": ["a", None],
        "author": {"name": "ann", "age": 3},
        "pairs": [["k", 1]],
        "flag": True,
        "big": "inf",
        "nothing": None,
    }


def test_structs_and_lists_may_be_fields(read):
    table = pa.table({"response": ["x"], "facts": [["a", "b"]]})
    (item,) = read(table, columns={"evidence": "facts"})
    assert item.fields["evidence"] == ["a", "b"]


def test_more_rows_than_a_batch_are_numbered_through(read):
    items = read(pa.table({"response": [f"text {number}" for number in range(2500)]}))
    assert len(items) == 2500
    assert (items[2499].origin, items[2499].fields["response"]) == ("a.parquet:2500", "text 2499")


def test_a_column_of_bytes_is_an_error_only_where_it_is_named(read):
    with pytest.raises(JrhError, match=r"column 'raw' \(columns.response\) is binary"):
        read(pa.table({"raw": [b"x"], "response": ["y"]}), columns={"response": "raw"})


def test_repeated_columns_are_an_error(read):
    with pytest.raises(JrhError, match="column 'response' appears 2 times"):
        read(pa.table([["x"], ["y"]], names=["response", "response"]))


def test_a_missing_column_lists_those_there_are(read):
    with pytest.raises(
        JrhError, match=r"no column 'answr' \(columns.response\); did you mean 'answer'\? Columns: answer"
    ):
        read(pa.table({"answer": ["x"]}), columns={"response": "answr"})


def test_no_rows_is_an_error(read):
    with pytest.raises(JrhError, match="has columns but no rows"):
        read(pa.table({"response": pa.array([], pa.string())}))


@pytest.mark.parametrize("content", [b"", b"not parquet at all", b"PAR1" + bytes(100) + b"PAR1"])
def test_what_is_not_parquet_is_one_clear_message(read, content):
    with pytest.raises(JrhError, match=r"^a\.parquet: not a readable parquet file"):
        read(content)


def test_without_pyarrow_the_message_says_what_to_install(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(JrhError, match=r"needs pyarrow .*; run `pip install pyarrow`"):
        read(b"")


def test_a_row_group_that_would_not_fit_in_memory_is_refused_before_it_is_read(read, monkeypatch):
    monkeypatch.setattr(arrow_rows, "LARGEST_GROUP", 10_000)
    table = pa.table({"response": [f"{number:050}" for number in range(1000)]})
    with pytest.raises(JrhError, match="of text when unpacked"):
        read(table)
    monkeypatch.setattr(arrow_rows, "LARGEST_GROUP", 1_000_000)
    assert len(read(table)) == 1000
