"""Mask secrets in everything that jrh stores, logs or shows."""

from __future__ import annotations

import base64
import html
import inspect
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb
from types import CodeType
from typing import Any, Final
from urllib.parse import quote

import attrs

from jrh.errors import JrhError

MASK: Final = "[redacted]"
_SECRET_NAME: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(_ID|_?\d+)?$", re.IGNORECASE)
SHORTEST: Final = 8
"""Minimum length of a value treated as a secret: real keys are longer, placeholders such as `EMPTY` are shorter."""
_SCHEME_AND_SECRET: Final = 2
_NO_PLUGIN: Final = frozenset(
    {"jrh", "pluggy", "attr", "attrs", "cattrs", "click", "importlib_metadata", *sys.stdlib_module_names}
)
"""Packages that only pass an error of a plugin on."""
_MOST: Final = 300
"""Characters of an error's text that are shown."""
_WORD: Final = re.compile(r"[\w+/.~-]{12,}=*", re.ASCII)
"""What may be a key, or hold one. Nearly no word of prose is as long, so that a text is read fast."""
_FORM: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|rk|pk|gsk|xai|pplx|nvapi|tgp|lsv2|xox[abeprs])[-_](?=[\w-]*\d)[\w-]{16,}"
    r"|(?:gh[opsur]|github_pat|glpat|hf|gsk|npm|pypi|r8|fw|dop_v1|whsec)[-_](?=[A-Za-z_]*\d|hf_)[A-Za-z0-9_-]{16,}"
    r"|hf_[A-Za-z]{30,}|A[KS]IA[0-9A-Z]{16}(?![A-Za-z0-9])|AIza[\w-]{30,}|ya29\.[\w-]{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?)",
    re.ASCII,
)
"""The keys of common providers."""
_SCHEME: Final = re.compile(r"\bbearer\s+[\"'`]?$", re.IGNORECASE)
"""What precedes a word that is a key if it has a digit."""
_NAMED: Final = re.compile(
    r"(?:(?<!cache[-_ ])key|token|secret|passw(?:or)?d|passphrase|\bpwd|credential|auth(?:orization)?|cookie|\bsig"
    r"(?:nature)?)s?[\"'`\])]*(?:\s*(?:[:=]|=>)\s*|\s+is:?\s+)[\"'`]*(?:[\w-]{1,20}[=\s]\s*)?[\"'`]*$"
    r"|--?[\w-]*(?:key|token|secret|password|auth)[\"',\s]+$|\b(?:basic|token)\s+$",
    re.IGNORECASE | re.ASCII,
)
"""What precedes a word that is a key if it looks random."""
_BEFORE: Final = 60
"""Characters before a word that may name it."""
_OTHERS: Final = re.compile(r"(?<=://)[^\s/:@]{0,100}:[^\s/@]{3,200}(?=@)|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*")
"""The user and the password in an address, and private keys."""
_BRIEF: Final = 500
"""Characters of a text that often comes again, as brief answers and explanations do: its keys are looked for once."""
_CHANGE: Final = re.compile(r"(?<=[a-z])[A-Z\d]|(?<=[A-Z])\d|(?<=\d)[A-Za-z]")
_MIXED: Final = re.compile(r"[A-Z\d]")
_DIGIT: Final = re.compile(r"\d")
_RANDOM: Final = 0.2
"""Changes between small letters, capitals and digits per character: 0.4 in random text, below 0.1 in names."""


class Redactor:
    """Mask secrets in text, also reversed, as hex, base64 or escaped for a URL, HTML or JSON; its repr shows none."""

    __slots__ = ("_forms",)

    def __init__(self, secrets: frozenset[str]) -> None:
        """Keep every form of the secrets, longest first, so that a secret containing another is masked as a whole."""
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, *, also: Iterable[str] = ()) -> Redactor:
        """Collect every variable whose name looks like a secret's and whose value has at least 8 characters.

        A value that may be no secret is still taken: a redacted word costs nothing, a leaked key does.

        Args:
            environment: the variables; those of the process by default.
            also: further secrets, of any length.
        """
        return cls(frozenset([*also, *environment_secrets(environment)]))

    def __call__(self, text: str) -> str:
        """Return the text with every secret masked, and with every word that has the form of a key."""
        # Nearly no text contains a secret, and plain substring searches are much faster than one combined pattern.
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return mask_keys(text)

    def knows(self, text: str) -> bool:
        """Tell whether a text holds one of the secrets in some form."""
        return any(form in text for form in self._forms)

    def __repr__(self) -> str:
        """Reveal no secret."""
        return "Redactor()"


def find_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the keys in a text begin and end, in order for each kind of key."""
    for word in _WORD.finditer(text):
        start, end = word.span()
        before = text[max(0, start - _BEFORE) : start]
        if forms := list(_FORM.finditer(text, start, end)):
            yield from (form.span() for form in forms)
        # Nearly all long words of a reply are names of fields, in small letters.
        elif _MIXED.search(word[0]) and _is_named(before, word[0]):
            yield start, end
    if "://" in text or "PRIVATE KEY" in text:
        yield from (other.span() for other in _OTHERS.finditer(text))


def _is_named(before: str, word: str) -> bool:
    # Keys are drawn by chance: they change between letters and digits again and again.
    if len(_CHANGE.findall(word)) >= _RANDOM * len(word):
        return bool(_NAMED.search(before) or _SCHEME.search(before))
    return bool(_DIGIT.search(word) and _SCHEME.search(before))


def mask_keys(text: str) -> str:
    """Return a text with its keys masked."""
    return (_mask_brief if len(text) <= _BRIEF else _mask)(text)


def _mask(text: str) -> str:
    for start, end in sorted(find_keys(text), reverse=True):
        text = text[:start] + MASK + text[end:]
    return text


_mask_brief: Final = lru_cache(maxsize=1024)(_mask)


def environment_secrets(environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the values of at least 8 characters of all variables whose name looks like a secret's."""
    variables = os.environ if environment is None else environment
    # Stripped as `read_secret` does: what is sent, and may be echoed, has no line break of a file.
    values = (value.strip() for name, value in variables.items() if _SECRET_NAME.search(name))
    yield from (value for value in values if len(value) >= SHORTEST)


def secrets_of_options(options: Iterable[Any]) -> Iterator[str]:
    """Yield the values of the environment variables that options refer to, whatever their names.

    An option whose name ends in `_env` holds the name of such a variable, or a mapping to such names. Values of fewer
    than 8 characters are left out: they are placeholders, such as `EMPTY`, and would be masked in every reply.
    """
    for name in _secret_names(options):
        value = os.environ.get(name, "").strip()
        if len(value) >= SHORTEST:
            yield value


def secret_variables(options: Iterable[Any]) -> frozenset[str]:
    """Return the names of the variables that hold secrets: those that options refer to, and those named like one."""
    return frozenset([*_secret_names(options), *filter(_SECRET_NAME.search, os.environ)])


def _secret_names(options: Iterable[Any]) -> Iterator[str]:
    for component in options:
        for attribute in attrs.fields(type(component)):
            if attribute.name.endswith("_env"):
                variables = getattr(component, attribute.name)
                yield from filter(None, variables.values() if isinstance(variables, Mapping) else (variables,))


def error_line(error: BaseException) -> str:
    """Format an error of a plugin as one line: its type, its text with every secret masked, and where it was raised.

    A plain `JrhError` is a plugin's sentence for the user: its text alone, since nothing in the plugin is to be mended.
    """
    text, at = Redactor.from_environment()(" ".join(str(error).split())), error_place(error)
    # After masking: a cut before it could leave a part of a key that matches no form of it.
    text = text if len(text) <= _MOST else f"{text[:_MOST]} ..."
    if type(error) is JrhError and text:
        return text
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{line} ({at})" if at else line


def error_place(error: BaseException) -> str:
    """Return file and line of a plugin that an error came from, such as `polite.py, line 5`; empty if none is known.

    What a plugin calls may raise too: the line is the plugin's own. Paths of this machine are left out.
    """
    plugin, place, catcher = "", "", ""
    for frame, line in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        package = module.partition(".")[0]
        catcher = catcher or package
        # The package that caught the error has called the plugin. It is blamed only where no other package was running.
        if package not in _NO_PLUGIN and plugin in ("", catcher):
            plugin = package
        if plugin == package:
            place = _place(frame.f_code.co_filename, module, line)
    return place


def place_in_code(thing: object) -> str:
    """Return file and line of a function, method or class, such as `polite.py, line 5`; empty if Python has none."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    code = getattr(thing, "__code__", None)
    module = str(getattr(thing, "__module__", ""))
    if isinstance(code, CodeType):
        return _place(code.co_filename, module, code.co_firstlineno)
    if not isinstance(thing, type):
        return ""
    try:
        return _place(str(inspect.getsourcefile(thing)), module, inspect.getsourcelines(thing)[1])
    except (OSError, TypeError):  # a class of a local plugin has no file that Python could look up
        methods = [code.__code__ for code in vars(thing).values() if inspect.isfunction(code)]
        first = min(methods, key=lambda code: code.co_firstlineno, default=None)
        return _place(first.co_filename, module, first.co_firstlineno) if first else ""


def _place(file: str, module: str, line: int) -> str:
    parts = Path(file).parts
    return f"{'/'.join(parts[-2:] if '.' in module else parts[-1:])}, line {line}"


def _forms(secret: str) -> Iterator[str]:
    """Yield the forms in which a secret may be echoed: unchanged, without its scheme (`Bearer ...`), or encoded."""
    words = secret.split()
    # A header's value such as `Bearer KEY`: the key may be echoed without the scheme.
    bare = len(words) == _SCHEME_AND_SECRET and len(words[1]) >= SHORTEST
    for text in (secret, words[1]) if bare else (secret,):
        yield text
        yield from _in_url(text)
        yield html.escape(text)
        yield from _in_json(text)
        yield from _in_base64(text)
        if len(text) >= SHORTEST:  # reversed, a word of a few letters is often another word
            yield text[::-1]
            yield from _in_hex(text)


def _in_url(text: str) -> Iterator[str]:
    for safe in ("", "/"):
        escaped = quote(text, safe=safe, errors="replace")
        yield escaped
        yield re.sub("%..", lambda code: code[0].lower(), escaped)


def _in_base64(text: str) -> Iterator[str]:
    """Yield what base64 makes of a secret at each of the three places where it can begin in a longer text.

    Only the digits that the secret alone decides are looked for, in both alphabets; `Basic` credentials need this.
    """
    raw = text.encode("utf-8", "surrogatepass")
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        first = -(-before * 8 // 6)
        last = (before + len(raw)) * 8 // 6
        form = encoded[first:last]
        if len(form) >= SHORTEST:
            yield form
            yield form.replace("+", "-").replace("/", "_")


def _in_hex(text: str) -> Iterator[str]:
    r"""Yield the digits of the bytes: in a row, apart (`73 6b`, `73:6b`) and escaped (`\x73`, `%73`, `\u0073`)."""
    octets = text.encode("utf-8", "surrogatepass").hex(" ").split()
    units = text.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    # The letter of an escape is lower case whatever the case of the digits.
    for before, between, digits in (
        *(("", between, octets) for between in ("", " ", ":", "-", ", ")),
        *((escape, escape, octets) for escape in ("\\x", "\\\\x", "%")),
        *((escape, escape, units) for escape in ("\\u", "\\\\u")),
        ("0x", ", 0x", octets),
    ):
        yield before + between.join(digits)
        yield before + between.join(digit.upper() for digit in digits)


def _in_json(text: str) -> Iterator[str]:
    """Yield the secret as JSON and as JSON within JSON, since providers wrap each other's errors."""
    for once in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield from (once, json.dumps(once)[1:-1], once.replace("/", "\\/"))
