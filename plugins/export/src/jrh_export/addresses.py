"""Show addresses without the keys they may hold."""

from __future__ import annotations

import re
from typing import Final

_CREDENTIALS: Final = re.compile(r"(?<=://)[^/\s@]+@")


def without_keys(text: str) -> str:
    """Mask the user and the password of every address in a text."""
    return _CREDENTIALS.sub("[redacted]@", text)
