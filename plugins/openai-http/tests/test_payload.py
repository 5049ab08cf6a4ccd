"""Write the JSON body of a request."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from jrh import ChatRequest, Message, Sampling
from jrh_chat import PayloadWriter

CLOSED = {
    "type": "object",
    "properties": {"label": {"enum": ["A", "B"]}},
    "required": ["label"],
    "additionalProperties": False,
}


def body(request: ChatRequest, extra: dict[str, Any] | None = None, field: str = "max_tokens") -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(PayloadWriter("judge", extra or {}, field).write(request))
    return sent


def asking(**fields: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content="?"),), **fields)


def test_what_is_not_set_is_not_sent() -> None:
    assert body(asking()) == {"model": "judge", "messages": [{"role": "user", "content": "?"}]}


def test_zero_is_a_setting() -> None:
    sent = body(asking(sampling=Sampling(temperature=0.0, top_p=0.0, seed=0)))
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.0, 0.0, 0)


def test_the_token_limit_goes_by_the_endpoints_name() -> None:
    sent = body(asking(sampling=Sampling(max_tokens=5, reasoning_effort="low")), field="max_completion_tokens")
    assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (5, "low")
    assert "max_tokens" not in sent


def test_the_sampling_wins_over_extra_and_extra_over_nothing() -> None:
    sent = body(asking(sampling=Sampling(temperature=0.5)), {"temperature": 1, "top_k": 3, "top_p": 0.9})
    assert (sent["temperature"], sent["top_k"], sent["top_p"]) == (0.5, 3, 0.9)


def test_one_request_leaves_nothing_behind_for_the_next() -> None:
    writer = PayloadWriter("judge", {}, "max_tokens")
    writer.write(asking(sampling=Sampling(temperature=0.5), top_logprobs=5, json_schema=CLOSED))
    assert json.loads(writer.write(asking())) == body(asking())


@given(st.text(st.characters()), st.none() | st.floats(0, 2))
@example("\ud800 \x7f\u2028\x00 \U0001f600", 1e-05)
def test_every_text_and_temperature_arrives(text: str, temperature: float | None) -> None:
    request = ChatRequest(messages=(Message(role="user", content=text),), sampling=Sampling(temperature=temperature))
    sent = body(request)
    assert sent["messages"] == [{"role": "user", "content": text}]
    assert sent.get("temperature") == temperature


def test_numbers_that_orjson_would_change_arrive_as_the_suite_has_them() -> None:
    sent = body(asking(), {"most": float("inf"), "large": 2**70})
    assert (sent["most"], sent["large"]) == (float("inf"), 2**70)
    assert body(asking(), {"large": 2**70})["large"] == 2**70


def test_log_probabilities_are_asked_for() -> None:
    sent = body(asking(top_logprobs=5))
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 5)


def test_a_closed_schema_binds_and_an_open_one_does_not() -> None:
    for schema, strict in ((CLOSED, True), ({"type": "object"}, False)):
        sent = body(asking(json_schema=schema))["response_format"]
        assert sent == {"type": "json_schema", "json_schema": {"name": "reply", "strict": strict, "schema": schema}}


@given(st.text(st.characters(exclude_categories=())))
def test_every_text_arrives_as_it_was(text: str) -> None:
    request = ChatRequest(messages=(Message(role="user", content=text),))
    assert body(request)["messages"][0]["content"] == text
