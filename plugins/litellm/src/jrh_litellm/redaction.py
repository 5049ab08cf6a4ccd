"""Keep keys out of texts."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

REDACTED: Final = "[redacted]"

# litellm reads keys from the environment by itself, so that any of these may turn up in a provider's text.
_SECRET_NAME: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST: Final = 8
# OpenAI's own error texts show parts of a key: "Incorrect API key provided: sk-ab***yz".
_KEY_SHAPED: Final = re.compile(r"\bsk-[\w*.-]{4,}")


class Redactor:
    """Removes secrets from texts; shows nothing of itself."""

    __slots__ = ("_pattern",)

    def __init__(self, secrets: Iterable[str]) -> None:
        """Keep the secrets, in every form in which a server may echo them."""
        forms = {
            form
            for secret in secrets
            if secret
            for form in (secret, quote(secret, safe=""), html.escape(secret), *_in_json(secret))
        }
        # Longest first: a secret that contains another must go as a whole.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    @classmethod
    def from_environment(cls, key: str | None) -> Redactor:
        """Take the key and every variable of the environment whose name speaks of a secret."""
        found = (value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name))
        return cls([*([key] if key else []), *(value for value in found if len(value) >= _SHORTEST)])

    def __call__(self, text: str) -> str:
        """Return the text without any secret, and without anything of the shape of an OpenAI key."""
        bare = self._pattern.sub(REDACTED, text) if self._pattern else text
        return _KEY_SHAPED.sub(REDACTED, bare)

    def __repr__(self) -> str:
        """Show nothing."""
        return "Redactor()"


def _in_json(text: str) -> tuple[str, str]:
    escaped = json.dumps(text)[1:-1]
    return escaped, escaped.replace("/", "\\/")
