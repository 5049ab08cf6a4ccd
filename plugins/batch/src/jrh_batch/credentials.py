"""Read the credentials of a provider from the environment, and keep them out of every text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from attrs import frozen
from jrh import JrhError
from jrh.plugins import read_secret
from jrh.text import Redactor

from jrh_batch.options import BatchOptions

_SHORTEST: Final = 8
"""Shorter header values are no secrets, and would be masked in every text."""


@frozen(kw_only=True)
class KeyPlace:
    """Where a provider's key comes from and goes to."""

    host: str
    """The provider's own host: its usual variable is read for this one alone."""
    variable: str
    header: str
    prefix: str = ""


@frozen(kw_only=True, repr=False)
class Credentials:
    """Secret header values; its repr does not show them."""

    headers: Mapping[str, str]
    further: Mapping[str, str]
    """The headers of `headers_env`."""
    redact: Redactor

    @classmethod
    def from_environment(cls, options: BatchOptions, base_url: str, place: KeyPlace) -> Credentials:
        """Read the key and the further headers.

        Raises:
            JrhError: A named variable is not set, the provider's own endpoint has no key, or a value cannot be sent.
        """
        further = {name: _needed(variable) for name, variable in options.headers_env.items()}
        headers, hidden = dict(further), [value for value in further.values() if len(value) >= _SHORTEST]
        key = "" if place.header.lower() in map(str.lower, further) else _key(options, base_url, place)
        if key:
            headers[place.header] = place.prefix + key
            hidden.append(key)
        return cls(headers=headers, further=further, redact=Redactor(frozenset(hidden)))

    def __repr__(self) -> str:
        """Name the headers only."""
        return f"Credentials({', '.join(self.headers)})"


def _key(options: BatchOptions, base_url: str, place: KeyPlace) -> str:
    """Return the key; the provider's usual one goes to its own host alone, unless the suite names it for another."""
    if options.api_key_env is not None:
        return _needed(options.api_key_env)
    parts = urlsplit(base_url)
    if parts.hostname != place.host:
        return ""
    if parts.scheme != "https":
        raise JrhError(f"a key is sent to {place.host} only over https; fix base_url")
    return _needed(place.variable)


def _needed(variable: str) -> str:
    value = read_secret(variable)
    if not value:
        raise JrhError(f"environment variable {variable} is not set; a batch provider of the suite needs it")
    if not (value.isascii() and value.isprintable()):
        raise JrhError(f"environment variable {variable} contains characters that are not allowed in an HTTP header")
    return value
