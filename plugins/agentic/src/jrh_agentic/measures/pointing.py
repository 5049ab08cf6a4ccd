"""Which messages a rationale points at: by number, or by words it quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import comb
from typing import Final

from jrh.text import TranscriptMessage

from jrh_agentic.diffs import as_json

_LONGEST: Final = 20_000
"""Characters of a rationale that are read."""
_MOST_QUOTES: Final = 50
_SHORTEST_QUOTE: Final = 12
"""Characters; shorter ones stand in many messages by chance."""
_LONGEST_QUOTE: Final = 500
_MOST_NUMBERS: Final = 1_000
_ONE: Final = r"#?\[?\d{1,9}(?!\d)\]?"
_NUMBERED: Final = re.compile(
    rf"\b(?:messages?|msgs?\.?)\s*(?:nos?\.|numbers?)?\s*(?P<list>{_ONE}(?:\s*(?:,\s*and|,|and|&|or|to|through|-|\u2013)\s*{_ONE})*)",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\[(\d{1,9})\]")
_HASHED: Final = re.compile(r"(?<![\w#])#(\d{1,9})\b")
_RANGE: Final = re.compile(r"(\d+)\D*?(?:\bto\b|\bthrough\b|-|\u2013)\D*?(\d+)|(\d+)", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r'"([^"]{4,2000})"|\u201c([^\u201d]{4,2000})\u201d|\u00ab([^\u00bb]{4,2000})\u00bb|`([^`]{4,2000})`'
    r"|(?<!\w)'([^'\n]{12,2000})'(?!\w)|\u2018([^\u2019\n]{12,2000})\u2019(?!\w)"
)
_STRAIGHT: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."})


def numbers_in(rationale: str) -> frozenset[int]:
    """Return the numbers of messages that a rationale names: `message 3`, `messages 3, 5-7 and 9`, `[3]`, `#3`."""
    text = rationale[:_LONGEST]
    found = {int(match[1]) for pattern in (_BRACKETED, _HASHED) for match in pattern.finditer(text)}
    for match in _NUMBERED.finditer(text):
        for first, last, alone in _RANGE.findall(match["list"]):
            low, high = (int(first), int(last)) if first else (int(alone), int(alone))
            found.update(range(low, min(high, low + _MOST_NUMBERS) + 1))
    return frozenset(found)


def quotes_in(rationale: str) -> tuple[str, ...]:
    """Return the passages a rationale quotes, long enough to be told from chance, as `bare` text."""
    quotes = (next(filter(None, match.groups()), "") for match in _QUOTED.finditer(rationale[:_LONGEST]))
    found = dict.fromkeys(bare(quote).strip(" .,;:!?")[:_LONGEST_QUOTE] for quote in quotes)
    return tuple(quote for quote in found if len(quote) >= _SHORTEST_QUOTE)[:_MOST_QUOTES]


def bare(text: str) -> str:
    """Return a text without what quoting changes: case, white space, typographic marks."""
    return " ".join(text.translate(_STRAIGHT).split()).casefold()


def texts_of(messages: Sequence[TranscriptMessage]) -> Mapping[int, str]:
    """Return what the assistant says, thinks and calls, as `bare` text, by the number of the message."""
    return {
        number: bare("\n".join(_parts(message)))
        for number, message in enumerate(messages, 1)
        if message.role == "assistant"
    }


def _parts(message: TranscriptMessage) -> Iterator[str]:
    yield from (message.reasoning, message.content)
    for call in message.tool_calls:
        yield f"{call.name} {as_json(call.arguments)}"


def pointed_at(rationale: str, texts: Mapping[int, str]) -> frozenset[int]:
    """Return the numbers of the assistant's messages that a rationale names or quotes."""
    named = numbers_in(rationale) & texts.keys()
    quotes = quotes_in(rationale)
    quoted = {number for number, text in texts.items() if any(quote in text for quote in quotes)} if quotes else set()
    return frozenset(named | quoted)


@lru_cache(maxsize=4096)
def chance(messages: int, edited: int, pointed: int) -> float:
    """Return the probability that so many different messages, drawn at random, include an edited one.

    With n messages, e of them edited, and k pointed at: 1 - C(n - e, k) / C(n, k), the complement of the
    hypergeometric distribution at 0.
    """
    return 1.0 - comb(messages - edited, pointed) / comb(messages, pointed)
