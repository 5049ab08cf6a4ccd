"""Identify where requests go: whatever makes a gateway choose another model is part of a model's identity."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from jrh.hashing import content_id

CREDENTIALS: Final = frozenset(
    {"authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key", "x-auth-token", "cookie"}
)
"""Headers that say who asks and not who answers: a run goes on with a new key and repeats no call."""
_DIGITS: Final = 12


def routing_digest(parts: Mapping[str, Any]) -> str:
    """Return `#` and the digest of everything that routes a request; empty if no part is set.

    Args:
        parts: such as the query of the address, `header_digests`, and extra fields of the body.
    """
    given = {name: value for name, value in parts.items() if value}
    return f"#{content_id(given)[:_DIGITS]}" if given else ""


def header_digests(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of header values that may route a request; headers with credentials are left out.

    No value can be read from its digest: the digest is salted with the header's name and slow to compute (scrypt), and
    12 digits of it are kept. It has no key of its own, because a lost key would repeat every paid call.
    """
    routing = ((name.lower(), value) for name, value in headers.items())
    return {name: _slow_digest(name, value) for name, value in sorted(routing) if name not in CREDENTIALS}


@lru_cache(maxsize=256)
def _slow_digest(name: str, value: str) -> str:
    salt = f"jrh routing header {name}".encode()
    return hashlib.scrypt(value.encode(), salt=salt, n=2**14, r=8, p=1, dklen=16).hex()[:_DIGITS]
