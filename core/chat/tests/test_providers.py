"""What all providers of chat models over HTTP share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.text import Redactor
from jrh_chat import error_text, response_format, retry_after
from jrh_testing import loop_over

KEY = "sk-live-0123456789abcdef"


@loop_over(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"Retry-After-Ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed Oct 21 07:28:00 2015"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_the_time_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_without_the_servers_clock_ours_is_used() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    assert retry_after({"retry-after": later}) == pytest.approx(40, abs=3)


@given(st.text(), st.text(), st.text())
def test_no_header_makes_it_raise_or_wait_a_negative_time(after: str, milliseconds: str, date: str) -> None:
    seconds = retry_after({"retry-after": after, "retry-after-ms": milliseconds, "date": date})
    assert seconds is None or seconds >= 0


CLOSED = {
    "type": "object",
    "properties": {"label": {"enum": ["A", "B"]}},
    "required": ["label"],
    "additionalProperties": False,
}


def strict(schema: Any) -> bool:
    asked = response_format(schema)
    assert asked == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": asked["json_schema"]["strict"], "schema": schema},
    }
    return bool(asked["json_schema"]["strict"])


@loop_over(
    "schema",
    [
        CLOSED,
        {**CLOSED, "properties": {"label": CLOSED}},
        {"type": "array", "items": CLOSED},
        {"anyOf": [CLOSED, {"type": "null"}]},
    ],
)
def test_a_schema_that_leaves_nothing_open_is_strict(schema: Any) -> None:
    assert strict(schema)


@loop_over(
    "schema",
    [
        {"type": "object"},
        {**CLOSED, "required": []},
        {**CLOSED, "additionalProperties": True},
        {name: part for name, part in CLOSED.items() if name != "additionalProperties"},
        {name: part for name, part in CLOSED.items() if name != "type"} | {"required": []},
        {**CLOSED, "properties": {"label": {"type": "object"}}},
        {"type": "array", "items": {"type": "object"}},
        {"anyOf": [CLOSED, {"type": "object"}]},
    ],
)
def test_a_schema_that_leaves_anything_open_is_not_strict(schema: Any) -> None:
    assert not strict(schema)


def test_an_error_text_is_one_line_of_at_most_500_characters() -> None:
    assert error_text("  no\n\n luck\t", str) == "no luck"
    assert len(error_text("x" * 501, str)) == 500
    assert error_text("bad \ud800 byte", str) == "bad ? byte", "a lone surrogate cannot be stored"


def test_a_key_is_masked_before_the_text_is_cut() -> None:
    redact = Redactor(frozenset({"canary-1234567890"}))
    assert error_text("x" * 495 + "canary-1234567890", redact) == "x" * 495 + "[reda"


@pytest.mark.parametrize("shown", ["sk-ab***********************yz", "sk-proj-aB3_x.9", KEY])
def test_what_looks_like_an_openai_key_is_masked_although_nobody_knows_it(shown: str) -> None:
    assert error_text(f"Incorrect API key provided: {shown}", str) == "Incorrect API key provided: [redacted]"


def test_ordinary_words_stay() -> None:
    assert error_text("task-list, risk-taking, sk-1", str) == "task-list, risk-taking, sk-1"
