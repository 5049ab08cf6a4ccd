"""Errors of the provider in the kernel's words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh_chat.completions import from_error_response, read_error
from jrh_testing import loop_over


def fault(status: int, error: object, **headers: str) -> ModelFault:
    outcome = from_error_response(status, headers, json.dumps(error).encode())
    assert isinstance(outcome, ModelFault)
    return outcome


@loop_over(
    ("status", "kind"),
    [
        (400, FaultKind.REJECTED),
        (401, FaultKind.UNAUTHORIZED),
        (402, FaultKind.NO_CREDIT),
        (403, FaultKind.UNAUTHORIZED),
        (404, FaultKind.REJECTED),
        (408, FaultKind.TIMEOUT),
        (409, FaultKind.SERVER_ERROR),
        (413, FaultKind.REJECTED),
        (422, FaultKind.REJECTED),
        (429, FaultKind.RATE_LIMIT),
        (500, FaultKind.SERVER_ERROR),
        (529, FaultKind.SERVER_ERROR),
    ],
)
def test_a_status_has_one_meaning(status: int, kind: FaultKind) -> None:
    found = fault(status, {"error": {"message": "no"}})
    assert (found.kind, found.status) == (kind, status)


def test_a_code_that_only_repeats_the_status_is_not_said_twice() -> None:
    assert fault(401, {"error": {"message": "wrong key", "code": "401"}}).detail == "HTTP 401: wrong key"
    assert fault(401, {"error": {"message": "wrong key", "code": "invalid_api_key"}}).detail == (
        "HTTP 401 (invalid_api_key): wrong key"
    )


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_not_active"])
def test_no_money_is_final_although_the_status_says_wait(code: str) -> None:
    found = fault(429, {"error": {"message": "You exceeded your current quota", "type": code, "code": code}})
    assert (found.kind, found.retryable, found.status) == (FaultKind.NO_CREDIT, False, 429)
    assert code in found.detail


def test_a_gateway_that_names_its_database_means_the_key() -> None:
    body = b'{"error": {"message": "No connected db.", "type": "no_db_connection", "code": "400"}}'
    fault = from_error_response(400, {}, body)
    assert isinstance(fault, ModelFault)
    assert fault.kind is FaultKind.UNAUTHORIZED
    assert "a gateway says so of a key it does not know" in str(fault)


def test_any_other_limit_is_waited_for() -> None:
    found = fault(429, {"error": {"message": "slow", "code": "rate_limit_exceeded"}}, **{"retry-after": "7"})
    assert (found.kind, found.retry_after) == (FaultKind.RATE_LIMIT, 7.0)


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_a_prompt_that_the_filter_declines_is_a_refusal(code: str) -> None:
    body = json.dumps({"error": {"message": "filtered", "code": code}}).encode()
    expected = Completion(text=None, finish_reason="content_filter", refusal="filtered")
    assert from_error_response(400, {}, body) == expected


@loop_over(
    ("document", "expected"),
    [
        ({"error": {"message": "no", "type": "t", "code": "c"}}, ("c", "no", "")),
        ({"error": {"message": "no", "type": "t", "code": 400}}, ("t", "no", "")),
        (
            {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400},
            ("BadRequestError", "too long", ""),
        ),
        ({"error": "model 'x' not found"}, ("", "model 'x' not found", "")),
        ({"detail": "Not Found"}, ("", "Not Found", "")),
        ({"detail": [{"loc": ["body"]}]}, ("", '[{"loc": ["body"]}]', "")),
        ({"odd": 1}, ("", '{"odd": 1}', "")),
        ({"error": {"message": "no", "code": "c", "param": "seed"}}, ("c", "no", "seed")),
        ([1], ("", "[1]", "")),
    ],
)
def test_the_text_of_an_error_is_found_in_every_dialect(document: object, expected: tuple[str, str, str]) -> None:
    assert read_error(json.dumps(document).encode()) == expected


def test_a_page_instead_of_an_error_is_kept_as_text() -> None:
    assert read_error(b"<h1>Bad Gateway</h1>\xff") == ("", "<h1>Bad Gateway</h1>�", "")


@given(st.binary(max_size=100), st.integers(300, 599))
def test_no_body_makes_it_raise(body: bytes, status: int) -> None:
    assert from_error_response(status, {}, body)
