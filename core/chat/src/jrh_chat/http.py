"""Share code between HTTP providers: Retry-After, structured output, error texts, proxies."""

from __future__ import annotations

import ipaddress
import json
import math
import re
import time
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import evolve
from jrh import ChatRequest, JrhError, Json
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion
from jrh.text import utf8_text
from jrh.text.redact import MASK


def proxy_for(url: str) -> str | None:
    """Return the proxy from HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, or None; always None for this machine.

    Called once per model: aiohttp's own `trust_env` looks it up for every request and also reads `~/.netrc`.

    Raises:
        JrhError: aiohttp does not support the kind of proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    # A proxy cannot reach a server of this machine.
    if _is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise JrhError(
            f"the environment names a {urlsplit(proxy).scheme} proxy, but only http and https work; "
            "set HTTPS_PROXY or NO_PROXY, or use_proxy: false"
        )
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


LONGEST_ERROR_TEXT: Final = 500
"""Maximum length of a provider's error text, in characters."""
SCHEMA_NAME: Final = "reply"
"""Name of a schema, and of the tool whose arguments are the reply."""
_LONGEST_LIMIT: Final = 80
_MOST_LIMITS: Final = 20

# OpenAI's own error texts show parts of a key: "Incorrect API key provided: sk-ab***yz".
_KEY_SHAPED: Final = re.compile(r"\bsk-[\w*.-]{4,}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, or None if it gives no valid value.

    `retry-after-ms` wins over `Retry-After` in seconds or as an HTTP date; a date is counted from the server's own
    `Date` where it sends one. Never negative; never raises.

    Args:
        headers: of the answer; upper and lower case are the same.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    # The finer of the two: `Retry-After` is in whole seconds.
    milliseconds = _seconds(lower.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = lower.get("retry-after", "")
    seconds = _seconds(value)
    return seconds if seconds is not None else _until(value, lower.get("date", ""))


def rate_limit_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an answer that state rate limits or what is left of them, in lower case; at most 20.

    Args:
        headers: of the answer, such as `x-ratelimit-limit-requests` or `anthropic-ratelimit-tokens-remaining`.
    """
    limits = {
        name.lower(): " ".join(str(value).split())[:_LONGEST_LIMIT]
        for name, value in headers.items()
        if _states_limit(name)
    }
    return dict(sorted(limits.items())[:_MOST_LIMITS])


@lru_cache(maxsize=512)
def _states_limit(name: str) -> bool:
    # Providers write `ratelimit` and `rate-limit`.
    return "ratelimit" in name.lower().replace("rate-limit", "ratelimit")


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    # `float` also reads `nan` and `inf`.
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(value: str, now: str) -> float | None:
    moment = _timestamp(value)
    if moment is None:
        return None
    # By the server's own clock where it tells it: this machine's may be wrong.
    return max(0.0, moment - (_timestamp(now) or time.time()))


def _timestamp(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
        # HTTP dates are always in GMT, even without a time zone.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def reply_form(request: ChatRequest) -> dict[str, Any]:
    """Return the fields of a chat completion that ask for the form of the reply: `response_format`, or a forced tool.

    A tool's arguments are the reply. Nothing is asked for where the reply is free text.
    """
    schema = None if request.output == "text" else request.json_schema
    if request.output == "json":
        return {"response_format": {"type": "json_object"}}
    if schema is None:
        return {}
    if request.output == "tool-call":
        tool = {"name": SCHEMA_NAME, "description": "Give the answer.", "parameters": schema}
        named = {"type": "function", "function": {"name": SCHEMA_NAME}}
        return {"tools": [{"type": "function", "function": tool}], "tool_choice": named}
    return {"response_format": response_format(schema)}


def tool_arguments(calls: object) -> str | None:
    """Return the arguments of the first tool call of a message, as JSON text; None where there is none."""
    first = calls[0] if isinstance(calls, list | tuple) and calls else None
    function = _part_of(first, "function")
    arguments = _part_of(function, "arguments")
    if isinstance(arguments, Mapping):  # Ollama and others give an object
        return json.dumps(arguments, ensure_ascii=False)
    return utf8_text(arguments) if isinstance(arguments, str) else None


def _part_of(holder: object, name: str) -> object:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def response_format(schema: Mapping[str, Json]) -> dict[str, Any]:
    """Return the `response_format` of a chat completion that requests JSON of a given schema.

    It is strict, which binds the model, only where the schema is closed: OpenAI rejects a strict one that leaves
    anything open.
    """
    named = {"name": SCHEMA_NAME, "strict": is_closed(schema), "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def is_closed(schema: Json) -> bool:
    """Return whether every object of a JSON Schema requires all its properties and allows no others."""
    if isinstance(schema, list | tuple):
        return all(is_closed(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        names = set(properties) if isinstance(properties, Mapping) else set()
        required = schema.get("required")
        listed = {str(name) for name in required} if isinstance(required, list | tuple) else set()
        if schema.get("additionalProperties") is not False or names != listed:
            return False
    return all(is_closed(part) for part in schema.values())


def error_text(text: str, redact: Callable[[str], str]) -> str:
    """Return a provider's error text in a form that is safe to store and show.

    Secrets, and anything of the shape of an OpenAI key, are masked before the text is cut to 500 characters, so that
    no half of a key is left; white space is folded, so that it is one line; lone surrogates become question marks.

    Args:
        text: whatever the provider sent.
        redact: masks the secrets that are known, such as `jrh.text.Redactor`.
    """
    return " ".join(_KEY_SHAPED.sub(MASK, redact(utf8_text(text))).split())[:LONGEST_ERROR_TEXT]


def fault_without_secrets(fault: ModelFault, redact: Callable[[str], str], *, keyless: bool) -> ModelFault:
    """Return a fault whose text holds no secret; where a key is asked for and none was sent, it says so."""
    hint = "no key was sent; name its environment variable in api_key_env; "
    prefix = hint if keyless and fault.kind is FaultKind.UNAUTHORIZED else ""
    return fault.with_detail(error_text(prefix + fault.detail, redact))


def refusal_without_secrets(refused: Completion, redact: Callable[[str], str]) -> Completion:
    """Return a refused completion whose text holds no secret."""
    return evolve(refused, refusal=error_text(refused.refusal or "", redact))
