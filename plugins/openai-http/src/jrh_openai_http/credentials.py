"""The credentials of one endpoint: read from the environment once, sent as headers, kept out of every text."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from jrh import JrhError

from jrh_openai_http.options import OpenAIHttpOptions

OPENAI_HOST: Final = "api.openai.com"
REDACTED: Final = "[redacted]"

# OpenAI's own error texts show parts of a key: "Incorrect API key provided: sk-ab***yz".
_KEY_SHAPED: Final = re.compile(r"\bsk-[\w*.-]{4,}")


class Credentials:
    """Header values that must not be seen; shows nothing of itself."""

    __slots__ = ("_headers", "_pattern")

    def __init__(self, headers: Mapping[str, str], hidden: tuple[str, ...] = ()) -> None:
        """Keep the headers, and what of them must not appear in a text."""
        self._headers = dict(headers)
        forms = {form for secret in hidden if secret for form in _forms(secret)}
        # Longest first: a secret that contains another must go as a whole.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    @classmethod
    def from_environment(cls, options: OpenAIHttpOptions) -> Credentials:
        """Read the key and the further headers.

        Raises:
            JrhError: OpenAI itself is asked without a key, a header's variable is not set, or no header can carry it.
        """
        headers: dict[str, str] = {}
        hidden: list[str] = []
        key = _read(options.api_key_env) if options.api_key_env else ""
        if key:
            headers["Authorization"] = f"Bearer {key}"
            hidden.append(key)
        elif urlsplit(options.base_url).hostname == OPENAI_HOST and "authorization" not in _lower(options.headers_env):
            raise JrhError(_no_key(options))
        for header, variable in options.headers_env.items():
            value = _read(variable)
            if not value:
                raise JrhError(f"openai-http: environment variable {variable} is not set; header {header} needs it")
            headers[header] = value
            hidden.append(value)
        return cls(headers, tuple(hidden))

    def headers(self) -> dict[str, str]:
        """Return the headers to send."""
        return dict(self._headers)

    def redact(self, text: str) -> str:
        """Return the text without any secret, and without anything of the shape of an OpenAI key."""
        bare = self._pattern.sub(REDACTED, text) if self._pattern else text
        return _KEY_SHAPED.sub(REDACTED, bare)

    def __repr__(self) -> str:
        """Name the headers only."""
        return f"Credentials({', '.join(self._headers)})"


def _forms(secret: str) -> set[str]:
    """Return how a server may echo a secret: as it is, without its scheme, or written for a URL, HTML or JSON."""
    plain = {secret, secret.rpartition(" ")[2]}
    return {form for text in plain for form in (text, quote(text, safe=""), html.escape(text), *_in_json(text))}


def _in_json(text: str) -> tuple[str, str]:
    escaped = json.dumps(text)[1:-1]
    return escaped, escaped.replace("/", "\\/")


def _lower(headers: Mapping[str, str]) -> frozenset[str]:
    return frozenset(header.lower() for header in headers)


def _read(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if value and not (value.isascii() and value.isprintable()):
        raise JrhError(f"openai-http: environment variable {variable} holds characters that no HTTP header can carry")
    return value


def _no_key(options: OpenAIHttpOptions) -> str:
    if options.api_key_env is None:
        return f"openai-http: {OPENAI_HOST} needs a key; name its environment variable in api_key_env"
    return (
        f"openai-http: {OPENAI_HOST} needs a key, and environment variable {options.api_key_env} is not set; "
        "set it, or name another one in api_key_env"
    )
