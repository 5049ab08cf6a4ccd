"""Read the credentials of an endpoint from the environment, send them as headers, and keep them out of every text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from jrh import JrhError
from jrh.plugins import read_secret
from jrh.text import Redactor

from jrh_openai_http.options import OpenAIHttpOptions

OPENAI_HOST: Final = "api.openai.com"
OPENAI_VARIABLE: Final = "OPENAI_API_KEY"
_SHORTEST: Final = 8
"""Shorter header values are no secrets, and would be masked in every text."""


class Credentials:
    """Secret header values; its repr does not show them."""

    __slots__ = ("_headers", "further", "redact")

    def __init__(
        self, headers: Mapping[str, str], hidden: Iterable[str] = (), *, further: Mapping[str, str] | None = None
    ) -> None:
        """Keep the headers and the secrets in them that must not appear in a text."""
        self._headers = dict(headers)
        self.further = dict(further or {})
        """The headers of `headers_env`."""
        self.redact = Redactor(frozenset(hidden))

    @classmethod
    def from_environment(cls, options: OpenAIHttpOptions) -> Credentials:
        """Read the key and the further headers.

        Raises:
            JrhError: A named variable is not set, OpenAI's own endpoint has no key, or a value cannot be sent in a
                header.
        """
        headers = {name: _needed(variable, f"header {name}") for name, variable in options.headers_env.items()}
        hidden = [value for value in headers.values() if len(value) >= _SHORTEST]
        further = dict(headers)
        # A user-defined authorization header replaces the key.
        key = "" if "authorization" in {name.lower() for name in headers} else _key(options)
        if key:
            headers["Authorization"] = f"Bearer {key}"
            hidden.append(key)
        return cls(headers, hidden, further=further)

    @property
    def sent(self) -> bool:
        """Return whether any credentials are sent."""
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
        raise JrhError(f"openai-http: a key is sent to {OPENAI_HOST} only over https; fix base_url")
    key = _read(OPENAI_VARIABLE)
    if not key:
        raise JrhError(
            f"openai-http: {OPENAI_HOST} needs a key, but environment variable {OPENAI_VARIABLE} is not set; "
            "set it, or name another one in api_key_env"
        )
    return key


def _needed(variable: str, purpose: str) -> str:
    value = _read(variable)
    if not value:
        raise JrhError(f"openai-http: environment variable {variable} is not set; {purpose} needs it")
    return value


def _read(variable: str) -> str:
    value = read_secret(variable)
    if value and not (value.isascii() and value.isprintable()):
        raise JrhError(
            f"openai-http: environment variable {variable} contains characters that are not allowed in an HTTP header"
        )
    return value
