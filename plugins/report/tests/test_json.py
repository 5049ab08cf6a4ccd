import json
from pathlib import Path

import pytest
from attrs import evolve
from jrh_testing import empty_report

SCHEMA = Path(__file__).parents[3] / "schemas" / "results.schema.json"


def test_numbers_are_written_in_full(render, report, measure) -> None:
    third = evolve(report, measures=(measure(estimate=1 / 3),))

    assert json.loads(render("json", third))["measures"][0]["estimate"] == 1 / 3


def test_what_is_not_a_number_is_null(render, report, measure) -> None:
    odd = evolve(report, measures=(measure(estimate=float("nan"), bounds=(0.0, float("inf"))),))
    text = render("json", odd)

    found = json.loads(text, parse_constant=pytest.fail)["measures"][0]
    assert (found["estimate"], found["bounds"]) == (None, None)


def test_everything_but_the_records_is_there(render, report) -> None:
    found = json.loads(render("json", report))

    assert "records" not in found
    assert found["simulated"] == ["yes-man"]
    expected = {"kind": "ordinal", "labels": list("123456"), "tie": None, "positive": ""}
    assert found["tasks"][0]["task"]["scale"] == expected
    assert found["costs"][1]["unknown"] == 60
    assert len(found["measures"]) == len(report.measures)


def test_text_cannot_act_on_a_terminal(render, report) -> None:
    text = render("json", evolve(report, suite="\x1b[31m\u202e\ud800 é"))

    assert text.isascii()
    assert "\x1b" not in text
    assert json.loads(text)["suite"] == "\x1b[31m\u202e\ud800 é"


def test_it_fits_the_schema_of_results(render, report) -> None:
    import jsonschema

    if not SCHEMA.exists():
        pytest.skip(f"{SCHEMA.name} is generated into schemas/ and is not there")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    for found in (report, empty_report()):
        jsonschema.validate(json.loads(render("json", found)), schema)
