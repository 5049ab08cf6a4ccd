"""From the bytes of an answer to a completion: nothing is invented, nothing breaks out."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jrh import Usage
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh_chat import completions, read_completion
from jrh_testing import loop_over

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def read(document: object) -> Completion:
    return read_completion(json.dumps(document).encode())


def answer(message: object = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": message if message is not None else {"content": "YES"}, **fields}]}


@given(JSON)
@example({"usage": {"prompt_tokens": 2**70, "cost": 1e999}, "\ud800": float("nan")})
def test_a_body_is_read_as_the_standard_library_reads_it(document: object) -> None:
    written = json.dumps(document).encode()
    found = json.dumps(completions._document(written))
    # orjson makes floats of integers of more than 64 bits, which no count of tokens is.
    assert _alike(found) == _alike(written)


def _alike(text: str | bytes) -> str:
    return json.dumps(json.loads(text, parse_int=lambda digits: _as_read(int(digits))))


def _as_read(number: int) -> float:
    return number if -(2**63) <= number < 2**64 else float(number)


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "utf-32"])
def test_an_answer_in_another_coding_is_read(coding: str) -> None:
    assert read_completion(json.dumps(answer({"content": "JÄ"}), ensure_ascii=False).encode(coding)).text == "JÄ"


def test_a_whole_answer_is_read_whole() -> None:
    document = {
        "model": "gpt-4o-mini-2024-07-18",
        "system_fingerprint": "fp_44709d6fcb",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "YES"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 9,
            "total_tokens": 20,
            "completion_tokens_details": {"reasoning_tokens": 6},
        },
    }
    assert read(document) == Completion(
        text="YES",
        finish_reason="stop",
        usage=Usage(prompt_tokens=11, completion_tokens=9, reasoning_tokens=6),
        model_version="gpt-4o-mini-2024-07-18 fp_44709d6fcb",
    )


@loop_over(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 5}, Usage(prompt_tokens=5)),
        ({"prompt_tokens": "5", "completion_tokens": 2.5}, Usage()),
        ({"prompt_tokens": 5000.0, "completion_tokens": 0.0}, Usage(prompt_tokens=5000, completion_tokens=0)),
        ({"prompt_tokens": float("nan"), "completion_tokens": float("inf")}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
        ({"prompt_tokens": 5, "completion_tokens": 0}, Usage(prompt_tokens=5, completion_tokens=0)),
        ({"prompt_tokens": 5, "completion_tokens_details": None}, Usage(prompt_tokens=5)),
        ({"prompt_tokens_details": {"cached_tokens": 4}, "prompt_tokens": 5}, Usage(prompt_tokens=5, cached_tokens=4)),
        ({"prompt_tokens_details": {"cached_tokens": "4"}}, Usage()),
        ({"prompt_tokens_details": [4], "prompt_cache_hit_tokens": 3}, Usage(cached_tokens=3)),
        ({"cache_read_input_tokens": 0}, Usage(cached_tokens=0)),
        # Zeros of a server that does not count would make calls free, which a budget then never stops.
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 3}, Usage(completion_tokens=3)),
        # Reasoning that the total alone counts, as xAI and Gemini do: billed as output.
        (
            {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 46},
            Usage(prompt_tokens=5, completion_tokens=41),
        ),
        ({"prompt_tokens": 5, "completion_tokens": 0, "total_tokens": 3}, Usage(prompt_tokens=5)),
    ],
)
def test_tokens_that_are_not_counted_are_unknown(usage: object, expected: Usage) -> None:
    assert read(answer() | {"usage": usage}).usage == expected


@loop_over(("cost", "expected"), [(0.0012, 0.0012), (0, 0.0), (-1, None), ("0.1", None), ({}, None)])
def test_a_cost_that_the_provider_states_is_kept(cost: object, expected: float | None) -> None:
    assert read(answer() | {"usage": {"cost": cost}}).cost == expected


@loop_over("finish", ["stop", "length", "content_filter", "tool_calls", "eos"])
def test_the_finish_reason_is_passed_through(finish: str) -> None:
    assert read(answer(finish_reason=finish)).finish_reason == finish


@pytest.mark.parametrize("finish", [None, 3, {}])
def test_no_finish_reason_is_invented(finish: object) -> None:
    assert read(answer(finish_reason=finish)).finish_reason == ""


@loop_over(
    ("message", "text"),
    [
        ({"content": None}, None),
        ({"role": "assistant"}, None),
        ({"content": ""}, ""),
        ({"content": [{"type": "text", "text": "Y"}, {"type": "text", "text": "ES"}]}, "YES"),
        ({"content": ["Y", "ES"]}, "YES"),
        ({"content": [{"type": "image_url"}]}, ""),
        ({"content": "\U0001f600"}, "\U0001f600"),
        ({"content": "a\ud800b"}, "a?b"),
    ],
)
def test_content_becomes_text_that_can_be_stored(message: object, text: str | None) -> None:
    assert read(answer(message)).text == text


def test_a_refusal_is_told_apart_from_text() -> None:
    completion = read(answer({"content": None, "refusal": "I can't judge this."}))
    assert (completion.text, completion.refusal) == (None, "I can't judge this.")
    assert read(answer({"content": "YES", "refusal": None})).refusal is None
    assert read(answer({"content": "YES", "refusal": ""})).refusal is None


def test_log_probabilities_become_probabilities() -> None:
    likely = [{"token": "4", "logprob": math.log(0.75)}, {"token": "5", "logprob": math.log(0.25)}]
    content = [{"token": "4", "logprob": math.log(0.75), "top_logprobs": likely}, {"token": "!", "logprob": -9999.0}]
    first, second = read(answer(logprobs={"content": content})).token_probabilities
    assert first == pytest.approx({"4": 0.75, "5": 0.25})
    assert second == {"!": 0.0}


def test_tokens_that_print_alike_are_added_up() -> None:
    likely = [{"token": "�", "logprob": math.log(0.5)}, {"token": "�", "logprob": math.log(0.25)}]
    content = [{"token": "�", "logprob": math.log(0.5), "top_logprobs": likely}]
    assert read(answer(logprobs={"content": content})).token_probabilities == (pytest.approx({"�": 0.75}),)


@loop_over(
    ("body", "why"),
    [
        (b"", "not JSON: empty"),
        (b"<html>sign in</html>", "not JSON: '<html>sign in</html>'"),
        (b'{"choices": [{', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 5_000, "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"null", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b"{}", "no choices"),
        (b'{"choices": null}', "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": [3]}', "first choice is not an object"),
        (b'{"choices": [{"finish_reason": "stop"}]}', "no message"),
        (b'{"choices": [{"message": {"content": 5}}]}', "neither text nor a list"),
        (b'{"choices": [{"message": {"content": [{"text": 5}]}}]}', "has no text"),
    ],
)
def test_what_is_no_completion_is_malformed_and_says_why(body: bytes, why: str) -> None:
    with pytest.raises(ModelFault) as caught:
        read_completion(body)
    assert caught.value.kind is FaultKind.MALFORMED
    assert why in caught.value.detail


@loop_over(
    ("document", "kind", "status"),
    [
        ({"error": {"message": "upstream dead", "code": 502}}, FaultKind.SERVER_ERROR, 502),
        ({"error": {"message": "slow down", "code": 429}}, FaultKind.RATE_LIMIT, 429),
        ({"error": "upstream dead"}, FaultKind.SERVER_ERROR, None),
        (answer({"content": "YE"}, error={"message": "cut", "code": 502}), FaultKind.SERVER_ERROR, 502),
        # What was written before the failure is billed, as after a malformed answer.
        ({"error": "died", "usage": {"prompt_tokens": 9, "completion_tokens": 4}}, FaultKind.MALFORMED, None),
        (answer(finish_reason="error"), FaultKind.MALFORMED, None),
        ({"error": {"message": "pay", "code": "insufficient_quota"}}, FaultKind.NO_CREDIT, None),
    ],
)
def test_an_error_with_status_200_is_still_an_error(document: object, kind: FaultKind, status: int | None) -> None:
    with pytest.raises(ModelFault) as caught:
        read(document)
    assert (caught.value.kind, caught.value.status) == (kind, status)


def test_an_empty_error_beside_an_answer_is_none() -> None:
    assert read(answer() | {"error": None}).text == "YES"


def read_or_fault(body: bytes) -> Completion | ModelFault:
    try:
        return read_completion(body)
    except ModelFault as fault:
        return fault


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise_anything_but_a_fault(body: bytes) -> None:
    outcome = read_or_fault(body)
    assert isinstance(outcome, ModelFault)
    assert outcome.kind is FaultKind.MALFORMED


@given(content=JSON, usage=JSON, finish=JSON, logprobs=JSON, refusal=JSON)
def test_no_json_makes_it_raise_anything_but_a_fault_or_count_what_is_not_counted(
    content: object, usage: object, finish: object, logprobs: object, refusal: object
) -> None:
    document = answer({"content": content, "refusal": refusal}, finish_reason=finish, logprobs=logprobs)
    outcome = read_or_fault(json.dumps(document | {"usage": usage}).encode())
    if isinstance(outcome, ModelFault):
        assert outcome.kind is FaultKind.MALFORMED
        return
    assert outcome.text is None or outcome.text.encode().decode() == outcome.text
    stated = usage if isinstance(usage, dict) else {}
    assert outcome.usage.prompt_tokens is None or outcome.usage.prompt_tokens == stated["prompt_tokens"]
    assert all(0.0 <= chance <= 1.0 for position in outcome.token_probabilities for chance in position.values())
