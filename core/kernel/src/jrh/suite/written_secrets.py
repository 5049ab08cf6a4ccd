"""Find secrets written in a suite: its options go into the store, the log, the records and every report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from jrh.document.positions import Location
from jrh.text.redact import Redactor, environment_secrets

_NAME: Final = re.compile(
    r"(api|access|private|subscription|account|signing|client)[-_ ]?key$"
    r"|(access|auth|bearer|refresh|session|id|api)[-_ ]?token$"
    r"|secret$|passw(or)?d$|credentials?$|authorization$|^x-api-key$",
    re.IGNORECASE,
)
"""Names of secrets anywhere. Not every key or token: `prompt_cache_key` and `eos_token` are settings."""
_CARRIED: Final = re.compile(
    r"key$|token$|secret$|passw(or)?d$|credentials?$|auth(orization)?$|^cookie$|^sig(nature)?$", re.IGNORECASE
)
"""Names of secrets in a query or among headers, which hold little else."""
_VALUE: Final = re.compile(
    r"^(bearer|basic|token)\s+(?=\S*\d)\S{16,}$|^(sk|rk|pk|gsk|xai)-(?=\S*\d)[\w-]{16,}$"
    r"|^(ghp|gho|github_pat|hf|gsk|glpat)[_-]\w{16,}$|^AKIA[0-9A-Z]{16}$|^AIza[\w-]{30,}$|^eyJ[\w-]{10,}\.[\w-]{10,}\.",
    re.IGNORECASE,
)
"""The shapes of the keys of common providers."""
_SHORTEST_OWN: Final = 16
"""A value of the environment is looked for in the suite from this length on: shorter ones may be ordinary words."""


def written_secrets(options: Mapping[str, Any], own: Sequence[str]) -> Iterator[tuple[Location, str]]:
    """Yield where options hold a secret, and what to do about it; the secret itself is never in the message.

    Args:
        options: of one component, as the suite has them.
        own: names of the component's options; those that end in `_env` are the way to do it.
    """
    named = [name for name in own if name.endswith("_env")]
    where = f"name the variable in `{'` or `'.join(named)}`" if named else "have the component read it from there"
    hidden = Redactor(frozenset(value for value in environment_secrets() if len(value) >= _SHORTEST_OWN))
    for at, what in _found((), options, hidden):
        if not str(at[0]).endswith("_env"):  # its component says what is wrong there
            yield at, f"{what}; a suite must hold no secret: put it in an environment variable and {where}"


def _found(at: Location, value: Any, hidden: Redactor) -> Iterator[tuple[Location, str]]:
    if isinstance(value, Mapping):
        headers = bool(at) and "headers" in str(at[-1]).lower()
        for name, part in value.items():
            # At the top are a component's own options, whose meaning it knows itself.
            if at and isinstance(part, str) and part and (_CARRIED if headers else _NAME).search(str(name)):
                yield (*at, str(name)), f"'{name}' looks like a secret"
            else:
                yield from _found((*at, str(name)), part, hidden)
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from _found((*at, place), part, hidden)
    elif isinstance(value, str):
        what = _in_text(value, hidden)
        if what:
            yield at, what


def _in_text(text: str, hidden: Redactor) -> str:
    if _VALUE.search(text.strip()):
        return "the value has the form of a key"
    if hidden(text) != text:
        return "the value contains a secret of the environment"
    if "://" not in text or any(sign in text.strip() for sign in " \n"):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    for name, value in parse_qsl(parts.query):
        if _CARRIED.search(name) or _VALUE.search(value):
            return f"'{name}' in the address looks like a secret"
    return "the address contains a password" if parts.password else ""
