"""Keys never leave the process: whatever is stored, logged or shown passes through here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

MASK: Final = "[redacted]"
_SECRET_NAME: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)S?$", re.IGNORECASE)
_SHORTEST: Final = 8


class Redactor:
    """Replace the values of secret environment variables in text."""

    def __init__(self, secrets: frozenset[str]) -> None:
        """Keep the secrets, longest first, so that one that contains another goes whole."""
        self._secrets = tuple(sorted(secrets, key=lambda secret: (-len(secret), secret)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Redactor:
        """Take every variable whose name ends like a secret's and whose value has at least 8 characters.

        A value that may be no secret is still taken: a redacted word costs nothing, a leaked key does.
        """
        variables = os.environ if environment is None else environment
        return cls(
            frozenset(
                value.strip()
                for name, value in variables.items()
                if _SECRET_NAME.search(name) and len(value.strip()) >= _SHORTEST
            )
        )

    def __call__(self, text: str) -> str:
        """Return the text with every secret masked."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text
