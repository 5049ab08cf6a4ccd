"""Extract the text from a model's reply, and compare languages; in doubt, a text is in the same language.

Languages are those that py3langid names: langid.py (M. Lui and T. Baldwin, ACL 2012), as maintained today.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, Final

from attrs import Factory, frozen
from jrh import Json, Reply, Status
from jrh.plugins import TOO_LONG

from jrh_authoring.structured import read_json

_MOST_LETTERS: Final = 2_000
"""Letters that decide the script."""
_READ: Final = 3_000
"""Characters the classifier reads; more do not change its result."""
# Formulas, names and single words look like some language or other: the classifier guesses below these lengths.
_LETTERS: Final = 30
"""Shorter texts are compared by script only."""
_LETTERS_OF_ENGLISH: Final = 20
"""Shorter texts are read together with their context."""
_SURE: Final = 0.8
"""Lowest probability at which another language counts."""
_KNOWN: Final = 0.5
"""Lowest probability at which the original's language is known."""
_HARDLY: Final = 0.02
"""Highest probability of the original's language in a text of another language."""
_PERHAPS: Final = 0.1
"""Lowest probability of English at which the context decides."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
# Words that no other language of Latin script has among its common ones, those of requests included, and words that
# some have: a text full of them needs no classifier, whose model takes half a second and 120 MB to load.
_ENGLISH_ALONE: Final = frozenset(
    _WORD.findall(
        "the and that from with they this which have been were would what when where who how you your he she their "
        "there these those could should does did it its it's isn't not can be if because about into than other then "
        "each every any after before through much many more very our his them some out up yes since enough exactly "
        "answer convert describe explain translate write"
    )
)
_ENGLISH_TOO: Final = frozenset(
    _WORD.findall("a an are as at by do for has i in is most my no of on one or over so to was we will")
)
_PLAIN_SHARE: Final = 0.25
"""Lowest share of these words in a text that is plainly English. Of 1,957 long texts by people and models that have
it, the classifier takes none for another language; of 5,223 pieces of translations into twelve languages, none has it.
"""
_LATIN: Final = "LATIN"
_ENGLISH: Final = "en"
# Japanese mixes kana and Chinese characters, so these count as one script.
_TOGETHER: Final = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def other_language(original: str, text: str) -> bool:
    """Tell whether a text is in another script or language than its original.

    Another script: most of the first 2,000 letters are of another script; a text without letters has none. Another
    language: both texts have at least 30 letters, the original's language is known (probability 0.5 or more), the
    text is in another one (0.8 or more), and the original's language is hardly possible (0.02 or less). Texts that
    share most of their words, and texts full of English function words, are in one language.
    """
    script, script_before = _script(text), _script(original)
    if script and script_before and script != script_before:
        return True
    # Shorter texts, formulas and names look like some language or other.
    if min(_letters(original), _letters(text)) < _LETTERS:
        return False
    if _share_most_words(original, text) or (_plainly_english(original) and _plainly_english(text)):
        return False
    before, after = _languages(original[:_READ]), _languages(text[:_READ])
    (language, known), (other, sure) = _likeliest(before), _likeliest(after)
    return language != other and known >= _KNOWN and sure >= _SURE and after[language] <= _HARDLY


def is_english(text: str, context: str = "") -> bool:
    """Tell whether a text is English, as rules for English need it.

    A text full of English function words is English. Else the likeliest language decides where there are at least 20
    letters. A shorter text, and one that may be English without English being likeliest (probability 0.1 or more), is
    read together with its context, unless it is surely (0.8) of another language; a single short word is not sure. A
    text without letters, or in another script, is not English.

    Args:
        text: the text.
        context: what it answers or belongs to.
    """
    # py3langid would guess some language for digits alone; without Latin letters there is no English.
    if _script(text) != _LATIN:
        return False
    long = _letters(text) >= _LETTERS_OF_ENGLISH
    if _plainly_english(text if long else f"{context} {text}") and (long or _may_be_english(text, context)):
        return True
    languages = _languages(text[:_READ])
    language, sure = _likeliest(languages)
    if language == _ENGLISH and long:
        return True
    if (long and languages[_ENGLISH] < _PERHAPS) or (language != _ENGLISH and sure >= _SURE):
        return False
    return _likeliest(_languages(f"{context} {text}"[:_READ]))[0] == _ENGLISH


def _share_most_words(original: str, text: str) -> bool:
    before, after = ({*_WORD.findall(each[:_READ].casefold())} for each in (original, text))
    return 2 * len(before & after) > max(len(before), len(after))


def _plainly_english(text: str) -> bool:
    """Tell whether two English function words, one that no other language has, and a quarter of the text show it."""
    words = _WORD.findall(text[:_READ].casefold())
    common = [word for word in words if word in _ENGLISH_ALONE or word in _ENGLISH_TOO]
    return len({*common}) > 1 and not _ENGLISH_ALONE.isdisjoint(common) and len(common) >= _PLAIN_SHARE * len(words)


def _may_be_english(text: str, context: str) -> bool:
    """Tell whether a short text is one plain word, repeats its context, or has a word that no other language has."""
    words = {*_WORD.findall(text.casefold())}
    repeated = words <= {*_WORD.findall(context.casefold())} | _ENGLISH_ALONE | _ENGLISH_TOO
    return repeated or (len(words) == 1 and text.isascii()) or not _ENGLISH_ALONE.isdisjoint(words)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _script(text: str) -> str:
    # Four characters per letter leave room for spaces and digits without reading a whole book.
    letters = [letter for letter in text[: 4 * _MOST_LETTERS] if letter.isalpha()][:_MOST_LETTERS]
    counted = Counter(_script_of(letter) for letter in letters)
    return counted.most_common(1)[0][0] if counted else ""


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    script = unicodedata.name(letter, "?").partition(" ")[0]
    return _TOGETHER.get(script, script)


def _likeliest(languages: Mapping[str, float]) -> tuple[str, float]:
    return max(languages.items(), key=lambda entry: entry[1])


# An item's own text is compared with every draft of it.
@lru_cache(maxsize=1024)
def _languages(beginning: str) -> Mapping[str, float]:
    return {str(language): float(probability) for language, probability in _identifier().rank(beginning)}


@lru_cache(maxsize=1)
def _identifier() -> Any:
    # The model takes a moment to load, and most runs compare no languages.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


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
    # Before parsing: a runaway reply is not worth the time.
    if len(reply.text) > _LONGEST_REPLY:
        return Unusable(f"longer than {LONGEST_TEXT:,} characters")
    reply_object = read_json(reply.text, keys=(key,))
    if reply_object is None:
        return Unusable("the model refused" if _refuses(reply.text, original) else "no JSON in the reply")
    text = reply_object[key]
    if text is not None and not isinstance(text, str):
        return Unusable("no text in the reply's JSON")
    reason = _fault(text or "", original, shown)
    return Unusable(reason) if reason else Written(text or "", reply_object)


def _fault(text: str, original: str, shown: Collection[str]) -> str:
    # Case and white space alone are no rewriting.
    bare, before = _bare(text), _bare(original)
    checks: tuple[tuple[Callable[[], bool], str], ...] = (
        (lambda: not bare, "empty text"),
        (lambda: len(text) > LONGEST_TEXT, f"longer than {LONGEST_TEXT:,} characters"),
        (lambda: bare == before, "unchanged"),
        (lambda: any(_hands_back(bare, before, _bare(text_shown)) for text_shown in shown), "the rubric itself"),
        (lambda: _refuses(text, original), "the model refused"),
        (lambda: other_language(original, text), "another language"),
        (lambda: "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text), "not text"),
    )
    return next((reason for failed, reason in checks if failed()), "")


def _refuses(text: str, original: str) -> bool:
    # An original that itself says "I cannot help with that" may be rewritten into such a text.
    return _REFUSAL.match(text) is not None and _REFUSAL.match(original) is None


def _hands_back(text: str, original: str, shown: str) -> bool:
    """Return whether the text equals or contains a text of the prompt that the original does not contain."""
    return bool(shown) and (text == shown or (len(shown) >= _TELLING and shown in text and shown not in original))


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()
