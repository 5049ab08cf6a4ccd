"""Measures and records as data frames."""

from __future__ import annotations

import pytest
from jrh import JrhError
from jrh_notebook.frames import measures_frame, records_frame
from jrh_testing import sample_report


def test_a_frame_has_one_row_per_measure():
    report = sample_report()
    frame = measures_frame(report, as_="arrow")
    assert frame.column("name").to_pylist() == [measure.name for measure in report.measures]
    assert frame.column("estimate").to_pylist() == [measure.estimate for measure in report.measures]


def test_a_frame_has_one_row_per_record():
    report = sample_report()
    frame = records_frame(report, as_="arrow")
    assert frame.num_rows == len(report.records)
    assert frame.column("judge").to_pylist() == list(report.records.text("judge"))


def test_an_unknown_library_is_an_error():
    with pytest.raises(JrhError, match="frames"):
        measures_frame(sample_report(), as_="frames")  # type: ignore[arg-type]
