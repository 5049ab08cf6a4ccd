"""Infer from a rubric entry's wording which tools it requires and whether statements must agree with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from jrh.text import TranscriptMessage

_SENTENCE: Final = re.compile(r"[^.;!?\n]+")
_DEMAND: Final = re.compile(
    r"\b(?:must|has to|have to|needs? to|shall|should|is required to)\s+(?:first\s+|always\s+|also\s+)?"
    r"(?P<verb>call|use|run|invoke|query|consult)\s+(?:the\s+)?(?P<kind>tool\s+|function\s+)?(?P<quote>[`'\"])?"
    r"(?P<tool>[\w.-]*\w)(?!['\u2019]s)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\b(?:before|prior to|ahead of)\b(?P<rest>.*)", re.IGNORECASE)
_UNCERTAIN: Final = re.compile(
    r"\b(?:not|never|no|without|none|neither|nor|if|unless|except|when|whenever|where|wherever|only|instead|rather|or"
    r"|either|most|more|fewer|less|may|might|could|can|cannot|optional|optionally|after|until|in case|for example"
    r"|such as)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_EXCEPTION: Final = re.compile(
    r"\b(?:this|that|exceptions?|exempt\w*|waived?|skip\w*|appl(?:y|ies)|required|needed|necessary)\b", re.IGNORECASE
)
_AGREE: Final = re.compile(
    r"\b(?:agrees?|match(?:es)?|consistent|accurate(?:ly)?|faithful(?:ly)?|correct(?:ly)?|supported|contradicts?|invents?"
    r"|fabricates?|truthful(?:ly)?|true|misstates?|misreports?)\b",
    re.IGNORECASE,
)
_INVENTED: Final = re.compile(
    r"\b(?:claims?|invents?|fabricates?|supported|truthful(?:ly)?|honest(?:ly)?|true|accurate(?:ly)?|faithful(?:ly)?)\b",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(r"\b(?:tools?|results?|calls?|records?|lookups?)\b", re.IGNORECASE)


def demanded_tools(entry: str, messages: Sequence[TranscriptMessage]) -> tuple[str, ...]:
    """Return the tools that an entry requires unconditionally and that are called, each once.

    Of a demand that something is done *before* a call of another tool, only those count where that call follows.
    English only.
    """
    called = _first_calls(messages)
    sentences = _SENTENCE.findall(entry)
    doubtful = [sentence for sentence in sentences if _UNCERTAIN.search(sentence)]
    found: dict[str, None] = {}
    for demand in filter(None, map(_DEMAND.search, sentences)):
        tool = demand["tool"]
        named = tool in called and _names_a_tool(demand)
        if named and _followed(demand, called) and not any(_softens(each, tool) for each in doubtful):
            found[tool] = None
    return tuple(found)


def asks_for_agreement(entry: str) -> bool:
    """Return whether a sentence of an entry asks that what is said agrees with what tools returned. English only."""
    return any(_AGREE.search(sentence) and _SOURCE.search(sentence) for sentence in _SENTENCE.findall(entry))


def forbids_invention(entry: str) -> bool:
    """Return whether a sentence of an entry asks that no call or result is made up. English only."""
    return any(_INVENTED.search(sentence) and _SOURCE.search(sentence) for sentence in _SENTENCE.findall(entry))


def _softens(sentence: str, tool: str) -> bool:
    """Return whether a sentence that negates or conditions something may be about the demand of a tool."""
    return tool in sentence or bool(_EXCEPTION.search(sentence))


def _names_a_tool(demand: re.Match[str]) -> bool:
    """Return whether a word is clearly a tool's name: *use search results* does not name the tool *search*."""
    said = demand["verb"].lower() in ("call", "invoke") or demand["kind"] or demand["quote"]
    return bool(said) or not (demand["tool"].isalpha() and demand["tool"].islower())


def _first_calls(messages: Sequence[TranscriptMessage]) -> dict[str, int]:
    first: dict[str, int] = {}
    for place, message in enumerate(messages):
        for call in message.tool_calls:
            first.setdefault(call.name, place)
    return first


def _followed(demand: re.Match[str], called: dict[str, int]) -> bool:
    """Return whether what a tool is demanded *before* is a call that comes later; True where there is no *before*."""
    before = _BEFORE.search(demand.string)
    if before is None:
        return True
    others = [name for name in called if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", before["rest"])]
    return bool(others) and all(called[demand["tool"]] < called[name] for name in others)
