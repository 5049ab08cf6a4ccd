"""The workbook, read back by a library that we did not write it with."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import jrh_report.plugin
import jrh_report.workbook
import pytest
from attrs import evolve
from jrh import JrhError, Record, RecordTable, RunReport
from jrh_testing import PAYLOADS, ReporterContract, build, sample_records, sample_report
from python_calamine import CalamineWorkbook


class TestWorkbookContract(ReporterContract):
    plugin = jrh_report.plugin
    component = "xlsx"
    not_text = "a workbook is a zip archive"


def read(report: RunReport, **options: Any) -> dict[str, list[list[Any]]]:
    content = build(jrh_report.plugin, "xlsx", options=options).render(report)
    assert isinstance(content, bytes)
    book = CalamineWorkbook.from_filelike(BytesIO(content))
    return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


def with_records(*records: Record) -> RunReport:
    return evolve(sample_report(), records=RecordTable.from_records(records))


def test_every_number_has_its_interval_sizes_and_missing_verdicts() -> None:
    report = sample_report()
    header, *rows = read(report)["Measures"]
    assert len(rows) == len(report.measures)
    for cells, measure in zip(rows, report.measures, strict=True):
        row = dict(zip(header, cells, strict=True))
        assert (row["measure"], row["judge"]) == (measure.name, measure.judge)
        assert row["simulated"] is (measure.judge == "careless")
        assert row["estimate"] == ("not estimable" if measure.estimate is None else measure.estimate)
        if measure.interval is not None:
            assert (row["low"], row["high"], row["level"]) == (0.529, 0.978, 0.95)
        sizes = (row["trials"], row["items"], row["clusters"], row["missing"])
        assert sizes == (measure.n_trials, measure.n_items, measure.n_clusters, sum(measure.missing.values()))


def test_the_first_sheet_names_the_simulated_judges_and_what_is_unfinished() -> None:
    about = {row[0]: row[1] for row in read(sample_report())["About"]}
    assert about["Simulated judges (planted behaviour, no model)"] == "careless"
    assert "INCOMPLETE" in about["Trials"]


def test_records_are_rows_in_the_order_of_the_plan() -> None:
    header, *rows = read(sample_report())["Records"]
    records = sample_records()
    assert [row[header.index("trial_id")] for row in rows] == [record.trial_id for record in records]
    costs = [row[header.index("cost")] for row in rows]
    assert costs == ["" if record.cost is None else record.cost for record in records]
    assert "Records" not in read(sample_report(), records=False)


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "http://x"])
def test_no_text_is_a_formula_or_a_link(text: str, hostile: Callable[[str], RunReport]) -> None:
    (record, *_) = sample_records()
    texts = [*PAYLOADS, '=HYPERLINK("http://x")', "+1", "-1+2", "\t=1", "mailto:x@y", "internal:Sheet!A1"]
    records = RecordTable.from_records(evolve(record, rationale=each, item_id=each) for each in texts)
    content = build(jrh_report.plugin, "xlsx").render(evolve(hostile(text), records=records))
    assert isinstance(content, bytes)
    with ZipFile(BytesIO(content)) as archive:
        names = archive.namelist()
        for name in names:
            assert b"<f>" not in archive.read(name)
            assert b"<hyperlink" not in archive.read(name)
    assert not [name for name in names if "external" in name.casefold() or "_rels/sheet" in name]
    rows = CalamineWorkbook.from_filelike(BytesIO(content)).get_sheet_by_name("Records").to_python()
    assert len(rows) == len(texts) + 1


def test_text_that_a_spreadsheet_would_run_keeps_an_apostrophe_when_it_is_saved_as_csv() -> None:
    (record, *_) = sample_records()
    report = with_records(evolve(record, rationale="=1+1", detail="-0.5"))
    header, row = read(report)["Records"]
    assert (row[header.index("rationale")], row[header.index("detail")]) == ("'=1+1", "-0.5")
    header, row = read(report, neutralise=False)["Records"]
    assert row[header.index("rationale")] == "=1+1"


@pytest.mark.parametrize("letter", ["a", "ä", "\U0001f600"])
def test_a_text_longer_than_a_cell_is_cut_and_said(letter: str) -> None:
    (record, *_) = sample_records()
    sheets = read(with_records(evolve(record, rationale=letter * 40_000, detail="b" * 32_767)))
    header, row = sheets["Records"]
    cut = row[header.index("rationale")]
    units = len(cut.encode("utf-16-le")) // 2
    assert 32_766 <= units <= 32_767
    assert cut.startswith(letter * 10_000)
    assert cut.endswith(" [cut]")
    assert row[header.index("detail")] == "b" * 32_767
    (note,) = [row[1] for row in sheets["About"] if "characters of a cell" in str(row[1])]
    assert note.startswith("Records: 1 cells are cut to the 32,767 characters of a cell")


def test_rows_beyond_a_sheet_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert jrh_report.workbook.ROWS == 2**20
    monkeypatch.setattr("jrh_report.workbook.ROWS", 11)
    sheets = read(sample_report())
    assert len(sheets["Records"]) == 11
    left = len(sample_records()) - 10
    assert [f"Records: {left} rows do not fit" in str(row[1]) for row in sheets["About"]].count(True) == 1


def test_a_missing_library_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "xlsxwriter", None)
    with pytest.raises(JrhError, match=r"^xlsxwriter is not installed .*: pip install 'jrh-report\[xlsx\]'$"):
        build(jrh_report.plugin, "xlsx")
