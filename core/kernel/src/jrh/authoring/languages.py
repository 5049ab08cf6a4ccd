"""Detect whether a text is in a different script or language than its original; in doubt, it is not."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

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
_TELLING: Final = 4
"""Function words that identify a language."""
_MOST_LETTERS: Final = 2_000
"""Maximum number of letters and words used to detect script and language."""
# Japanese mixes kana and Chinese characters, so these count as one script.
_TOGETHER: Final = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def other_language(original: str, text: str) -> bool:
    """Tell whether most letters are of another script or, for Latin letters, the likeliest language is another one.

    A language is known by its function words: at least four, and twice as many as those of any other of the seven
    languages that are looked for. What is not known is no other language.
    """
    if other_script(original, text):
        return True
    language, before = _language(text), _language(original)
    return bool(language and before and language != before)


def other_script(original: str, text: str) -> bool:
    """Tell whether most letters of a text are of another script than most letters of the original.

    The first letters decide, 2,000 of each; a text without letters has no script.
    """
    script, before = _script(text), _script(original)
    return bool(script and before and script != before)


def _script(text: str) -> str:
    letters = [letter for letter in text[: 4 * _MOST_LETTERS] if letter.isalpha()][:_MOST_LETTERS]
    counted = Counter(_script_of(letter) for letter in letters)
    return counted.most_common(1)[0][0] if counted else ""


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    script = unicodedata.name(letter, "?").partition(" ")[0]
    return _TOGETHER.get(script, script)


def _language(text: str) -> str:
    words = [word.lower() for word in _WORD.findall(text[: 8 * _MOST_LETTERS])][:_MOST_LETTERS]
    hits = {
        language: sum(word in function_words for word in words) for language, function_words in _FUNCTION_WORDS.items()
    }
    first, second = sorted(hits.values(), reverse=True)[:2]
    if first < _TELLING or first < 2 * second:
        return ""
    return max(hits, key=hits.__getitem__)
