"""The credentials of one endpoint: read from the environment once, sent as headers, kept out of every text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from jrh import JrhError
from jrh.text import Redactor

from jrh_openai_http.options import OpenAIHttpOptions

OPENAI_HOST: Final = "api.openai.com"
OPENAI_VARIABLE: Final = "OPENAI_API_KEY"


class Credentials:
    """Header values that must not be seen; shows nothing of itself."""

    __slots__ = ("_headers", "redact")

    def __init__(self, headers: Mapping[str, str], hidden: Iterable[str] = ()) -> None:
        """Keep the headers, and what of them must not appear in a text."""
        self._headers = dict(headers)
        self.redact = Redactor(frozenset(hidden))

    @classmethod
    def from_environment(cls, options: OpenAIHttpOptions) -> Credentials:
        """Read the key and the further headers.

        Raises:
            JrhError: a variable that is named is not set, OpenAI itself is asked without a key, or no header can
                carry a value.
        """
        headers = {name: _needed(variable, f"header {name}") for name, variable in options.headers_env.items()}
        hidden = list(headers.values())
        # A header of one's own that says who asks stands in place of the key.
        key = "" if "authorization" in {name.lower() for name in headers} else _key(options)
        if key:
            headers["Authorization"] = f"Bearer {key}"
            hidden.append(key)
        return cls(headers, hidden)

    @property
    def sent(self) -> bool:
        """Return whether any are sent."""
        return bool(self._headers)

    def headers(self) -> dict[str, str]:
        """Return the headers to send."""
        return dict(self._headers)

    def __repr__(self) -> str:
        """Name the headers only."""
        return f"Credentials({', '.join(self._headers)})"


def _key(options: OpenAIHttpOptions) -> str:
    """Return the key to send; OpenAI's own goes to OpenAI alone, unless the suite names it for another server."""
    if options.api_key_env is not None:
        return _needed(options.api_key_env, "api_key_env")
    parts = urlsplit(options.base_url)
    if parts.hostname != OPENAI_HOST:
        return ""
    if parts.scheme != "https":
        raise JrhError(f"openai-http: a key goes to {OPENAI_HOST} only by https; correct base_url")
    key = _read(OPENAI_VARIABLE)
    if not key:
        raise JrhError(
            f"openai-http: {OPENAI_HOST} needs a key, and environment variable {OPENAI_VARIABLE} is not set; "
            "set it, or name another one in api_key_env"
        )
    return key


def _needed(variable: str, purpose: str) -> str:
    value = _read(variable)
    if not value:
        raise JrhError(f"openai-http: environment variable {variable} is not set; {purpose} needs it")
    return value


def _read(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if value and not (value.isascii() and value.isprintable()):
        raise JrhError(f"openai-http: environment variable {variable} holds characters that no HTTP header can carry")
    return value
