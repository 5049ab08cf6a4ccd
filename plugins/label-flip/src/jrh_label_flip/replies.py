"""What a model wrote, or why it is no text that may become a case."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Final

from attrs import frozen
from jrh import Json, Reply, Status, read_json

LONGEST: Final = 100_000
"""Characters of a rewritten text."""
_LONGEST_REPLY: Final = 2 * LONGEST
"""Characters of a whole reply: the text, escaped, and what is said about it."""

PROVIDER_ERROR: Final = "provider error"
_STATUSES: Final[Mapping[Status, str]] = {
    Status.REFUSED: "the model refused",
    Status.TRUNCATED: "the reply was cut",
    Status.TIMEOUT: PROVIDER_ERROR,
    Status.PROVIDER_ERROR: PROVIDER_ERROR,
}
_REFUSAL: Final = re.compile(
    r"\W*(?:i\W?a?m (?:really |very |so )?sorry\b|sorry, (?:but )?i\b|as an ai\b|i\W?a?m (?:not able|unable) to"
    r"|i (?:can\W?t|cannot|can not|won\W?t|will not) (?:help|assist|comply|do|fulfil|provide|create|write|rewrite))",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_FUNCTION_WORDS: Final = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and are that this these with from they their which have is was it its not for by be",
        "de": "der die das und ist nicht ein eine mit von den dem zu auf für sich auch werden wird sind",
        "fr": "le les des et est une dans que qui pour pas sur avec sont du aux cette ces plus il elle",
        "es": "el los las y es una que en por con para no del se su como más son esta al",
        "it": "il gli che di è una per non con sono della del nel si anche come più questo alla le",
        "pt": "o os as e é uma que em por com para não do da se como mais são no na",
        "nl": "de het een en is niet van dat die op zijn met voor aan ook worden wordt naar door deze",
    }.items()
}
_NO_CHANCE: Final = 40
"""Characters; a text so long does not stand in another one by chance."""
_TELLING: Final = 4
"""Function words that make a language known."""
_MOST_LETTERS: Final = 2_000
"""Letters and words looked at to tell script and language."""


@frozen(kw_only=True)
class Written:
    """A usable text of a model."""

    text: str
    changes: tuple[str, ...] = ()
    """What the model says it changed."""


def written(reply: Reply, original: str, forbidden: Collection[str]) -> Written | str:
    """Return the text of a reply, or in a few words why there is none.

    Args:
        reply: what the model answered with.
        original: the text that was to be rewritten.
        forbidden: texts the model was shown and may not hand back, such as the rubric.
    """
    if not reply.ok:
        return _STATUSES.get(reply.status, PROVIDER_ERROR)
    if len(reply.text) > _LONGEST_REPLY:
        return "longer than 100,000 characters"
    found = read_json(reply.text, keys=("response",))
    if found is None:
        return "the model refused" if _REFUSAL.match(reply.text) else "no JSON in the reply"
    text = found["response"]
    if not isinstance(text, str):
        return "no text in the reply's JSON"
    fault = _fault(text, original, forbidden)
    return fault or Written(text=text, changes=_texts(found.get("changes")))


def _fault(text: str, original: str, forbidden: Collection[str]) -> str:
    checks: tuple[tuple[Callable[[], bool], str], ...] = (
        (lambda: not text.strip(), "empty text"),
        (lambda: len(text) > LONGEST, "longer than 100,000 characters"),
        (lambda: _bare(text) == _bare(original), "unchanged"),
        (lambda: any(_copies(text, original, shown) for shown in forbidden), "the rubric itself"),
        (lambda: bool(_REFUSAL.match(text)) and not _REFUSAL.match(original), "the model refused"),
        (lambda: _other_language(text, original), "another language"),
        (lambda: "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text), "not text"),
    )
    return next((reason for failed, reason in checks if failed()), "")


def _bare(text: str) -> str:
    return " ".join(text.split())


def _copies(text: str, original: str, shown: str) -> bool:
    """Tell whether the text is a text that was shown, or holds the whole of it although the original does not."""
    bare, bare_shown = _bare(text), _bare(shown)
    held = len(bare_shown) >= _NO_CHANCE and bare_shown in bare and bare_shown not in _bare(original)
    return bool(bare_shown) and (bare == bare_shown or held)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(part for part in value if isinstance(part, str)) if isinstance(value, (list, tuple)) else ()


def _other_language(text: str, original: str) -> bool:
    """Tell whether script or, for Latin letters, the likeliest language is another one; in doubt it is the same."""
    script, script_before = _script(text), _script(original)
    if script and script_before and script != script_before:
        return True
    language, before = _language(text), _language(original)
    return bool(language and before and language != before)


def _script(text: str) -> str:
    letters = [letter for letter in text[: 4 * _MOST_LETTERS] if letter.isalpha()][:_MOST_LETTERS]
    counted = Counter(unicodedata.name(letter, "?").partition(" ")[0] for letter in letters)
    return counted.most_common(1)[0][0] if counted else ""


def _language(text: str) -> str:
    """Return the language whose function words are the most, if they are several, and twice those of the next."""
    words = [word.lower() for word in _WORD.findall(text[: 8 * _MOST_LETTERS])][:_MOST_LETTERS]
    hits = {
        language: sum(word in function_words for word in words) for language, function_words in _FUNCTION_WORDS.items()
    }
    first, second = sorted(hits.values(), reverse=True)[:2]
    if first < _TELLING or first < 2 * second:
        return ""
    return max(hits, key=hits.__getitem__)
