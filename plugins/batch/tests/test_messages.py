"""Requests and answers of Anthropic's Messages API."""

from __future__ import annotations

import json

import pytest
from jrh import ChatRequest, Message, Sampling, Usage
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh_batch.anthropic import message_params, read_message
from jrh_testing import loop_over

MESSAGES = (Message(role="system", content="Be brief."), Message(role="user", content="2 + 2?"))
SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}}


def test_a_system_message_is_a_field_of_its_own() -> None:
    params = message_params(ChatRequest(messages=MESSAGES, sampling=Sampling(temperature=0.5, max_tokens=7)))
    assert params == {
        "messages": [{"role": "user", "content": "2 + 2?"}],
        "system": "Be brief.",
        "max_tokens": 7,
        "temperature": 0.5,
    }


def test_settings_that_do_not_exist_are_named() -> None:
    with pytest.raises(ModelFault) as caught:
        message_params(ChatRequest(messages=MESSAGES, sampling=Sampling(seed=3), top_logprobs=5))
    assert caught.value.settings == ("seed", "top_logprobs")
    assert not caught.value.sent


def test_a_schema_is_a_format_or_a_forced_tool() -> None:
    schema = message_params(ChatRequest(messages=MESSAGES, json_schema=SCHEMA))
    assert schema["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    tool = message_params(ChatRequest(messages=MESSAGES, json_schema=SCHEMA, output="tool-call"))
    assert tool["tools"][0]["input_schema"] == SCHEMA
    assert tool["tool_choice"] == {"type": "tool", "name": tool["tools"][0]["name"]}


def test_a_message_is_read_with_its_tokens() -> None:
    found = read_message(
        {
            "model": "claude-x",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "YES"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2},
        }
    )
    usage = Usage(prompt_tokens=15, completion_tokens=2, cached_tokens=5)
    assert found == Completion(
        text="YES", finish_reason="end_turn", usage=usage, model_version="claude-x", reasoning="hm"
    )


def test_the_arguments_of_a_tool_are_the_reply() -> None:
    content = [{"type": "tool_use", "id": "t", "name": "reply", "input": {"label": "YES"}}]
    found = read_message({"content": content, "stop_reason": "tool_use"})
    assert isinstance(found, Completion)
    assert json.loads(found.text or "") == {"label": "YES"}
    assert found.usage == Usage()


@loop_over("message", [None, "YES", {}, {"content": "YES"}])
def test_what_is_no_message_is_malformed(message: object) -> None:
    found = read_message(message)
    assert isinstance(found, ModelFault)
    assert found.kind is FaultKind.MALFORMED
