"""Keys and rows of measures."""

from __future__ import annotations

import math
import re

from attrs import evolve
from jrh import Interval, Measure
from jrh_export.rows import digest, numbers, rows, rows_by_key
from jrh_testing import sample_report


def test_keys_are_distinct_short_and_plain_whatever_the_names() -> None:
    names = ["a/b", "a_b", "A_B", "ä", "ö", "x" * 300, "x" * 301, "", "\ud800", "=1+1", "a:b", "..", ".", "j"]
    measures = tuple(Measure(name="m", judge=name, test="t", estimate=0.5) for name in names)
    report = evolve(sample_report(), measures=measures)
    keys = [key for key, _ in rows_by_key(report)]
    assert len({key.casefold() for key in keys}) == len(names)
    assert all(re.fullmatch(r"[\w.\- /]{1,200}", key, re.ASCII) for key in keys)
    assert keys[-1] == "m/j/t"
    assert not any(part.strip(" .") == "" for key in keys for part in key.split("/"))
    assert all(row["judge"].encode() is not None for row in rows(report))


def test_a_simulated_judge_is_marked_in_key_and_row() -> None:
    found = dict(rows_by_key(sample_report()))
    assert all(("careless simulated/" in key) is row["simulated"] for key, row in found.items())
    assert {row["judge"]: row["simulated"] for row in found.values()} == {"careful": False, "careless": True}


def test_what_is_no_number_is_never_one() -> None:
    odd = Measure(name="m", judge="j", estimate=math.nan, interval=Interval(low=-math.inf, high=math.nan))
    (row,) = rows(evolve(sample_report(), measures=(odd,)))
    assert (row["estimate"], row["low"], row["high"]) == (None, None, None)
    assert numbers(row) == {}


def test_a_number_brings_what_it_rests_on() -> None:
    (row, *_) = rows(sample_report())
    assert numbers(row) == {
        "": 0.875, "/low": 0.529, "/high": 0.978, "/trials": 8.0, "/items": 8.0, "/clusters": 0.0, "/missing": 3.0,
    }  # fmt: skip
    assert row["missing_by_status"] == "timeout: 2, unparsable: 1"


def test_other_numbers_have_another_digest() -> None:
    report = sample_report()
    first, *rest = report.measures
    assert digest(report) == digest(sample_report())
    assert digest(evolve(report, measures=(evolve(first, estimate=0.876), *rest))) != digest(report)
