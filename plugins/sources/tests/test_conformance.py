"""The sources keep the contract of data sources."""

from __future__ import annotations

import io
from typing import ClassVar

import jrh_sources.plugin
import pyarrow as pa
from excel_files import workbook
from jrh import Mode, Scale, Task
from jrh_testing import DataSourceContract, StageContract
from pyarrow import parquet

YES_NO = Task(name="t", scale=Scale.of_labels("YES", "NO"))


def _parquet() -> bytes:
    buffer = io.BytesIO()
    columns = {"q": ["1+1?", "2+2?"], "response": ["2", "5"], "label": ["YES", None], "when": [1.5, float("nan")]}
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


class TestCsv(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "csv"
    files: ClassVar = {"a.csv": "q,response,label\n1+1?,2,YES\n2+2?,5,\n"}
    options: ClassVar = {"path": "a.csv", "columns": {"request": "q"}}
    required_options = ("path",)
    task = YES_NO


class TestJsonl(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "jsonl"
    files: ClassVar = {
        "a.jsonl": '{"id": 1, "response": "2", "label": "YES", "m": [1.5, {"x": null}]}\n{"id": "b", "response": "5"}'
    }
    options: ClassVar = {"path": "a.jsonl"}
    required_options = ("path",)
    task = YES_NO


class TestParquet(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "parquet"
    files: ClassVar = {"a.parquet": _parquet()}
    options: ClassVar = {"path": "a.parquet", "columns": {"request": "q"}}
    required_options = ("path",)
    task = YES_NO


class TestXlsx(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "xlsx"
    files: ClassVar = {"a.xlsx": workbook({"a": [("q", "response", "label"), ("1+1?", 2, "YES"), ("2+2?", "5", "")]})}
    options: ClassVar = {"path": "a.xlsx", "columns": {"request": "q"}}
    required_options = ("path",)
    task = YES_NO


class TestRows(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "rows"
    files: ClassVar = {
        "mine.py": 'ROWS = [{"q": "1+1?", "response": "2", "label": "YES"}, {"q": "2+2?", "response": "5"}]'
    }
    options: ClassVar = {"rows": "mine.py:ROWS", "columns": {"request": "q"}}
    required_options = ("rows",)
    task = YES_NO


class TestExamples(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "examples"
    task = YES_NO


class TestPairedExamples(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "examples"
    options: ClassVar = {"dataset": "relevance"}
    task = Task(name="t", scale=Scale.of_pairs(), mode=Mode.PAIRWISE)


class TestResponses(StageContract):
    plugin = jrh_sources.plugin
    component = "responses"
    options: ClassVar = {"model": "target"}
    required_options = ("model",)
