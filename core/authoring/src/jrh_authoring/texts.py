"""Extract the text from a model's reply, or the reason why it is unusable."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from attrs import Factory, frozen
from jrh.plugins.protocols import TOO_LONG
from jrh.values.json_values import Json
from jrh.values.verdicts import Reply, Status

from jrh_authoring.languages import other_language
from jrh_authoring.structured import read_json

LONGEST_TEXT: Final = 100_000
"""Maximum length of a text, in characters; a longer one is rejected."""
PROVIDER_ERROR: Final = "provider error"
"""Reason for a provider failure; the gateway has already retried."""

_LONGEST_REPLY: Final = 2 * LONGEST_TEXT
"""Maximum length of a whole reply: the escaped text plus other content."""
_OF_STATUS: Final = {
    Status.REFUSED: "the model refused",
    Status.TRUNCATED: "the reply was cut",
    Status.INCOMPLETE: "the reply is not complete",
    Status.CONTEXT_OVERFLOW: "the prompt is longer than the model's context",
    Status.NOT_AVAILABLE: "the model does not support a required setting",
}
_REFUSAL: Final = re.compile(
    r"\W*(?:i\W?a?m (?:really |very |so )?sorry\b|sorry,|as an ai\b|i\W?a?m (?:not able|unable) to\b"
    r"|i (?:can\W?t|cannot|can not|won\W?t|will not) (?:help|assist|comply|do|fulfil|provide|create|write|rewrite)\b)",
    re.IGNORECASE,
)
_TELLING: Final = 40
"""Minimum length, in characters, at which one text does not contain another by chance."""


@frozen
class Written:
    """A usable text from a model."""

    text: str
    said: Mapping[str, Json] = Factory(dict)
    """The whole JSON object of the reply."""


@frozen
class Unusable:
    """Why a reply has no usable text, in the same words for all replies of its kind."""

    reason: str


def no_text(reply: Reply) -> str:
    """Return why a reply must not be parsed, in the same words for all components; empty if it may be."""
    if reply.ok:
        return ""
    return "longer than 8 MiB" if reply.finish_reason == TOO_LONG else _OF_STATUS.get(reply.status, PROVIDER_ERROR)


def read_text(reply: Reply, original: str, shown: Collection[str], *, key: str = "text") -> Written | Unusable:
    """Return the text that a model made from another one, or why there is none.

    The reasons are: the model refused, the reply was cut, longer than 8 MiB, provider error, longer than 100,000
    characters, no JSON in the reply, empty text, no text in the reply's JSON, unchanged, the rubric itself, another
    language, not text. Case and white space make no text another one. Pure; never raises.

    Args:
        reply: what the model answered.
        original: the text it was to start from.
        shown: texts it was shown and may not hand back, such as the rubric.
        key: the name of the text in the reply's object.
    """
    reason = no_text(reply)
    if reason:
        return Unusable(reason)
    if len(reply.text) > _LONGEST_REPLY:
        return Unusable(f"longer than {LONGEST_TEXT:,} characters")
    found = read_json(reply.text, keys=(key,))
    if found is None:
        return Unusable("the model refused" if _refuses(reply.text, original) else "no JSON in the reply")
    text = found[key]
    if text is not None and not isinstance(text, str):
        return Unusable("no text in the reply's JSON")
    reason = _fault(text or "", original, shown)
    return Unusable(reason) if reason else Written(text or "", found)


def _fault(text: str, original: str, shown: Collection[str]) -> str:
    bare, before = _bare(text), _bare(original)
    checks: tuple[tuple[Callable[[], bool], str], ...] = (
        (lambda: not bare, "empty text"),
        (lambda: len(text) > LONGEST_TEXT, f"longer than {LONGEST_TEXT:,} characters"),
        (lambda: bare == before, "unchanged"),
        (lambda: any(_hands_back(bare, before, _bare(one)) for one in shown), "the rubric itself"),
        (lambda: _refuses(text, original), "the model refused"),
        (lambda: other_language(original, text), "another language"),
        (lambda: "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text), "not text"),
    )
    return next((reason for failed, reason in checks if failed()), "")


def _refuses(text: str, original: str) -> bool:
    return _REFUSAL.match(text) is not None and _REFUSAL.match(original) is None


def _hands_back(text: str, original: str, shown: str) -> bool:
    """Return whether the text equals or contains a text of the prompt that the original does not contain."""
    return bool(shown) and (text == shown or (len(shown) >= _TELLING and shown in text and shown not in original))


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()
