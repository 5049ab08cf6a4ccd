"""Build the JSON of chat completions, fast: benchmarks are measured against this server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

Body: TypeAlias = Mapping[str, Any]
"""A request or response body as parsed JSON."""

MODEL = "loopback-1"
CREATED = 1_700_000_000
_CHARACTERS_PER_TOKEN = 4


def prompt_of(body: Body) -> str:
    """Return the text of a request: the contents of its messages, joined by blank lines."""
    return "\n\n".join(_content(message.get("content")) for message in body.get("messages", ()))


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        # Content in parts, as clients send it for images; only the texts count here.
        return "".join(str(part.get("text", "")) for part in content)
    return ""


def tokens(text: str) -> int:
    """Return a plausible token count: a quarter of the characters, at least one."""
    return len(text) // _CHARACTERS_PER_TOKEN + 1


def completion(text: str, prompt: str) -> bytes:
    """Write the response that answers with a text."""
    sent, answered = tokens(prompt), tokens(text)
    usage = b'{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}' % (sent, answered, sent + answered)
    return _before_usage(text) + usage


# Judges answer with few different texts: all but the token counts of a response is reused.
@lru_cache(maxsize=1024)
def _before_usage(text: str) -> bytes:
    written = json.dumps(response({"role": "assistant", "content": text}, usage=None), separators=(",", ":"))
    return written.removesuffix('"usage":null}').encode() + b'"usage":'


def message_completion(message: Body, prompt: str, *, finish_reason: str = "stop") -> bytes:
    """Write the response that answers with a message, such as one with a refusal or null content.

    A `usage`, `model` or `system_fingerprint` in the message is what the response states.
    """
    message = dict(message)
    stated = message.pop("usage", None)
    served = {name: message.pop(name) for name in ("model", "system_fingerprint") if name in message}
    usage = {"prompt_tokens": tokens(prompt), "completion_tokens": tokens(_content(message.get("content")))}
    usage["total_tokens"] = sum(usage.values())
    return json.dumps(response(message, usage=stated or usage, finish_reason=finish_reason) | served).encode()


def response(message: Body | None, *, usage: Body | None, finish_reason: str = "stop") -> dict[str, Any]:
    """Make the response with one choice, or with none where there is no message; the usage comes last."""
    choices = [] if message is None else [{"index": 0, "message": message, "finish_reason": finish_reason}]
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": CREATED,
        "model": MODEL,
        "choices": choices,
        "usage": usage,
    }


def unsupported_setting(refused: str) -> bytes:
    """Write the error body of a model that refuses `field`, `field=value` (as OpenAI does) or `field=value: words`."""
    setting, _, words = refused.partition(": ")
    field, _, value = setting.partition("=")
    of_value = (
        f"Unsupported value: '{field}' does not support {value} with this model. Only the default (1) is supported."
    )
    message = of_value if value else f"Unsupported parameter: '{field}' is not supported with this model."
    return error(
        "unsupported_parameter", words or message, type="invalid_request_error", param=None if words else field
    )


def error(code: int | str, message: str, **fields: str | None) -> bytes:
    """Write an error body in the shape providers use."""
    return json.dumps({"error": {"message": message, "type": "loopback_error", "code": str(code), **fields}}).encode()
