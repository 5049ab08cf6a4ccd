"""Keys never leave the process: whatever is stored, logged or shown passes through here."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import attrs

MASK: Final = "[redacted]"
_SECRET_NAME: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(_ID|_?\d+)?$", re.IGNORECASE)
SHORTEST: Final = 8
"""Characters of a value that is taken for a secret; keys are longer, and placeholders such as `EMPTY` are not."""
_SCHEME_AND_SECRET: Final = 2


class Redactor:
    """Replace secrets in text, also where they are written for a URL, HTML or JSON; shows nothing of them itself."""

    __slots__ = ("_forms",)

    def __init__(self, secrets: frozenset[str]) -> None:
        """Keep every form of the secrets, longest first, so that one that contains another goes whole."""
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, *, also: Iterable[str] = ()) -> Redactor:
        """Take every variable whose name ends like a secret's and whose value has at least 8 characters.

        A value that may be no secret is still taken: a redacted word costs nothing, a leaked key does.

        Args:
            environment: the variables; those of the process by default.
            also: further secrets, of any length.
        """
        variables = os.environ if environment is None else environment
        found = (value.strip() for name, value in variables.items() if _SECRET_NAME.search(name))
        return cls(frozenset([*also, *(value for value in found if len(value) >= SHORTEST)]))

    def __call__(self, text: str) -> str:
        """Return the text with every secret masked."""
        # Looking for one text after the other is much faster than one pattern of them all: nearly no text holds any.
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def __repr__(self) -> str:
        """Show nothing."""
        return "Redactor()"


def named_secrets(options: Iterable[Any]) -> Iterator[str]:
    """Yield the values of the environment variables that options name, whatever these variables are called.

    An option whose name ends in `_env` holds the name of such a variable, or a mapping to such names. Values of fewer
    than 8 characters are left out: they are placeholders, such as `EMPTY`, and would be masked in every reply.
    """
    for each in options:
        for attribute in attrs.fields(type(each)):
            if attribute.name.endswith("_env"):
                named = getattr(each, attribute.name)
                for name in named.values() if isinstance(named, Mapping) else (named,):
                    value = os.environ.get(name or "", "").strip()
                    if len(value) >= SHORTEST:
                        yield value


def error_line(error: BaseException) -> str:
    """Say an error of a plugin in one line, for people: its type and its text, with every secret masked."""
    text = Redactor.from_environment()(" ".join(str(error).split()))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _forms(secret: str) -> Iterator[str]:
    """Yield how a secret may be echoed: as it is, without its scheme (`Bearer ...`), or escaped."""
    words = secret.split()
    bare = len(words) == _SCHEME_AND_SECRET and len(words[1]) >= SHORTEST
    for text in (secret, words[1]) if bare else (secret,):
        yield text
        yield from _in_url(text)
        yield html.escape(text)
        yield from _in_json(text)


def _in_url(text: str) -> tuple[str, str]:
    escaped = quote(text, safe="", errors="replace")
    return escaped, re.sub("%..", lambda code: code[0].lower(), escaped)


def _in_json(text: str) -> Iterator[str]:
    for escaped in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield escaped
        yield escaped.replace("/", "\\/")
