"""Read the credentials of an endpoint from the environment, send them as headers, and keep them out of every text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from attrs import frozen
from jrh import JrhError
from jrh.plugins import read_secret
from jrh.text import Redactor

from jrh_chat.endpoint_options import EndpointOptions

_SHORTEST: Final = 8
"""Shorter header values are no secrets, and would be masked in every text."""


@frozen(kw_only=True)
class KeyPlace:
    """Where a provider's key comes from and goes to."""

    host: str
    """The provider's own host: its usual variable is read for this one alone."""
    variable: str
    header: str = "Authorization"
    prefix: str = ""
    begin: str = ""
    """What messages begin with, such as "openai-http: "."""
    user: str = ""
    """What needs a variable, in messages; empty: the option that names it."""


@frozen(kw_only=True, repr=False)
class Credentials:
    """Secret header values; its repr does not show them."""

    headers: Mapping[str, str]
    further: Mapping[str, str]
    """The headers of `headers_env`."""
    redact: Redactor

    @classmethod
    def from_environment(cls, options: EndpointOptions, place: KeyPlace) -> Credentials:
        """Read the key and the further headers. A user-defined header of the key's name replaces the key.

        Raises:
            JrhError: a named variable is not set, the provider's own endpoint has no key, or a value cannot be sent in
                a header.
        """
        further = {name: _require(variable, f"header {name}", place) for name, variable in options.headers_env.items()}
        headers, hidden = dict(further), [value for value in further.values() if len(value) >= _SHORTEST]
        # Names of headers have no case.
        key = "" if place.header.lower() in map(str.lower, further) else _key(options, place)
        if key:
            headers[place.header] = place.prefix + key
            hidden.append(key)
        return cls(headers=headers, further=further, redact=Redactor(frozenset(hidden)))

    def __repr__(self) -> str:
        """Name the headers only."""
        return f"Credentials({', '.join(self.headers)})"


def _key(options: EndpointOptions, place: KeyPlace) -> str:
    """Return the key; the provider's usual one goes to its own host alone, unless the suite names it for another."""
    if options.api_key_env is not None:
        return _require(options.api_key_env, "api_key_env", place)
    parts = urlsplit(options.base_url)
    # A key must not go to another server because a variable happens to be set.
    if parts.hostname != place.host:
        return ""
    if parts.scheme != "https":
        raise JrhError(f"{place.begin}a key is sent to {place.host} only over https; fix base_url")
    key = _read(place.variable, place)
    if not key and not place.user:
        raise JrhError(
            f"{place.begin}{place.host} needs a key, but environment variable {place.variable} is not set; "
            "set it, or name another one in api_key_env"
        )
    return key or _require(place.variable, "", place)


def _require(variable: str, purpose: str, place: KeyPlace) -> str:
    value = _read(variable, place)
    if not value:
        raise JrhError(f"{place.begin}environment variable {variable} is not set; {place.user or purpose} needs it")
    return value


def _read(variable: str, place: KeyPlace) -> str:
    value = read_secret(variable)
    # Without the value in the message. A line feed would end the header.
    if value and not (value.isascii() and value.isprintable()):
        raise JrhError(
            f"{place.begin}environment variable {variable} contains characters that are not allowed in an HTTP header"
        )
    return value
