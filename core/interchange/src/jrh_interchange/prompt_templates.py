"""Recover templates and fields from finished prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from jrh.errors import JrhError
from jrh_authoring.templates import render

_SHORTEST: Final = 4
"""Minimum length of text common to all prompts of an item to count as its request."""
_QUOTES: Final = ("''", '""', "\u2018\u2019", "\u201c\u201d", "\u00ab\u00bb")
_CODE: Final = re.compile(r"\{(?=[{%#\r]|\Z)|\r")
"""Text that Jinja2 would treat as code: a brace before another mark or at the end of the text; and a bare CR."""


def literal(text: str) -> str:
    """Return the Jinja2 source that renders to exactly this text."""
    return _CODE.sub(lambda found: '{{ "\\r" }}' if found[0] == "\r" else '{{ "{" }}', text)


def template_of(prompt: str, fields: Mapping[str, str]) -> str | None:
    """Return the Jinja2 source that renders the fields to the prompt, or None if the prompt lacks a field.

    Searches for longer texts first, so that a response that contains the request is not split.
    """
    parts: list[tuple[str, bool]] = [(prompt, False)]
    for name, text in sorted(fields.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if not text or not any(text in part for part, done in parts if not done):
            return None
        parts = [piece for part in parts for piece in _divided(part, name, text)]
    source = "".join(part if done else literal(part) for part, done in parts)
    return source if _renders(source, fields, prompt) else None


def _divided(part: tuple[str, bool], name: str, text: str) -> list[tuple[str, bool]]:
    content, done = part
    if done or text not in content:
        return [part]
    pieces: list[tuple[str, bool]] = []
    for place, rest in enumerate(content.split(text)):
        pieces += [(f"{{{{ {name} }}}}", True)] if place else []
        pieces.append((rest, False))
    return pieces


def _renders(source: str, fields: Mapping[str, str], prompt: str) -> bool:
    try:
        return render(source, fields) == prompt
    except JrhError:
        return False


def requests_of(prompts: Sequence[Sequence[str]], judged: Sequence[Sequence[str]]) -> list[str]:
    """Find the request of each item: the longest text common to all its prompts, apart from the judged texts.

    Args:
        prompts: the prompts of every item.
        judged: the judged texts of every item.

    Returns:
        One text per item. All are empty if an item has none, or if items share one: it then belongs to the templates.
    """
    found = [_common(_without(texts, shown)) for texts, shown in zip(prompts, judged, strict=True)]
    found = [text.strip() for text in found]
    while found and all(any(text[:1] + text[-1:] == pair and len(text) > 1 for pair in _QUOTES) for text in found):
        found = [text[1:-1].strip() for text in found]
    if any(len(text) < _SHORTEST for text in found) or len(dict.fromkeys(found)) < len(found):
        return [""] * len(found)
    return found


def _without(prompts: Sequence[str], judged: Sequence[str]) -> list[str]:
    # A different private-use character per prompt replaces the rest, so that no common text reaches across the cut.
    cut = []
    for place, prompt in enumerate(prompts):
        for text in sorted(filter(None, judged), key=len, reverse=True):
            head, found, _ = prompt.partition(text)
            prompt = head if found else prompt  # noqa: PLW2901 - cut step by step
        cut.append(f"{prompt}{chr(0xE000 + place)}")
    return cut


def _common(texts: Sequence[str]) -> str:
    """Return the longest text that occurs in all texts; the first one of several."""
    low, high, best = 0, min(map(len, texts), default=0), ""
    while low < high:
        size = (low + high + 1) // 2
        found = _common_of_size(texts, size)
        if found is None:
            high = size - 1
        else:
            low, best = size, found
    return best


def _common_of_size(texts: Sequence[str], size: int) -> str | None:
    shared: frozenset[str] | None = None
    for text in texts[1:]:
        pieces = frozenset(text[start : start + size] for start in range(len(text) - size + 1))
        shared = pieces if shared is None else shared & pieces
    starts = (texts[0][start : start + size] for start in range(len(texts[0]) - size + 1))
    return next((piece for piece in starts if shared is None or piece in shared), None)
