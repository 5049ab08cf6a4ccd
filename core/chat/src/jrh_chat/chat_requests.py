"""Write the JSON body of a chat completion request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import orjson
from jrh import ChatRequest, Json, Sampling

from jrh_chat.http import reply_form

_encode: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class PayloadWriter:
    """Writes request bodies; prepares the parts common to all requests once."""

    __slots__ = ("_max_tokens_field", "_plain", "_static")

    def __init__(self, model: str, extra: Mapping[str, Json], max_tokens_field: str) -> None:
        """Keep the fixed fields and the endpoint's field name for the token limit."""
        self._static: dict[str, Any] = {"model": model, **extra}
        self._max_tokens_field = max_tokens_field
        # Once for all requests: `extra` is the only part that may hold such numbers.
        self._plain = _is_plain(self._static)

    def write(self, request: ChatRequest) -> bytes:
        """Return the body's bytes."""
        body = self.body(request)
        if self._plain:
            with suppress(TypeError):  # a lone surrogate, or a number of more than 64 bits
                return orjson.dumps(body)
        return _encode(body).encode()

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return the body; settings missing from the request come from `extra`, then from the endpoint's defaults."""
        body = self._static.copy()
        body["messages"] = [{"role": message.role, "content": message.content} for message in request.messages]
        # After `extra`, so that the suite's sampling wins.
        body |= sampling_fields(request.sampling, self._max_tokens_field)
        body |= reply_form(request)
        if request.top_logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = request.top_logprobs
        return body


def sampling_fields(sampling: Sampling, max_tokens_field: str = "max_tokens") -> dict[str, Any]:
    """Return the settings of a request that were made, by the names of the chat-completions protocol."""
    fields = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        max_tokens_field: sampling.max_tokens,
        "seed": sampling.seed,
        "reasoning_effort": sampling.reasoning_effort,
    }
    # What is not set is left to the endpoint: many refuse a null.
    return {name: value for name, value in fields.items() if value is not None}


def _is_plain(value: Json) -> bool:
    """Tell whether orjson writes what the standard library writes: it makes `null` of what is no finite number."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True
