"""Compare the script and language of two texts, and recognise English; in doubt, a text is in the same language.

Languages are those that py3langid names: langid.py (M. Lui and T. Baldwin, ACL 2012), as maintained today.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

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
_LATIN: Final = "LATIN"
_ENGLISH: Final = "en"
# Japanese mixes kana and Chinese characters, so these count as one script.
_TOGETHER: Final = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def other_language(original: str, text: str) -> bool:
    """Tell whether a text is in another script or language than its original.

    Another script: most letters are of another script. Another language: both texts have at least 30 letters, the
    original's language is known (probability 0.5 or more), the text is in another one (0.8 or more), and the original's
    language is hardly possible (0.02 or less).
    """
    if _other_script(original, text):
        return True
    if min(_letters(original), _letters(text)) < _LETTERS:
        return False
    before, after = _languages(original[:_READ]), _languages(text[:_READ])
    (language, known), (other, sure) = _likeliest(before), _likeliest(after)
    return language != other and known >= _KNOWN and sure >= _SURE and after[language] <= _HARDLY


def is_english(text: str, context: str = "") -> bool:
    """Tell whether a text is English, as rules for English need it.

    The likeliest language decides where there are at least 20 letters. A shorter text, and one that may be English
    without English being likeliest (probability 0.1 or more), is read together with its context, unless it is surely
    (0.8) of another language. A text without letters, or in another script, is not English.

    Args:
        text: the text.
        context: what it answers or belongs to.
    """
    if _script(text) != _LATIN:
        return False
    found = _languages(text[:_READ])
    language, sure = _likeliest(found)
    long = _letters(text) >= _LETTERS_OF_ENGLISH
    if language == _ENGLISH and long:
        return True
    if (long and found[_ENGLISH] < _PERHAPS) or (language != _ENGLISH and sure >= _SURE):
        return False
    return _likeliest(_languages(f"{context} {text}"[:_READ]))[0] == _ENGLISH


def _other_script(original: str, text: str) -> bool:
    """Tell whether most letters of a text are of another script than most letters of the original.

    The first letters decide, 2,000 of each; a text without letters has no script.
    """
    script, before = _script(text), _script(original)
    return bool(script and before and script != before)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _script(text: str) -> str:
    letters = [letter for letter in text[: 4 * _MOST_LETTERS] if letter.isalpha()][:_MOST_LETTERS]
    counted = Counter(_script_of(letter) for letter in letters)
    return counted.most_common(1)[0][0] if counted else ""


@lru_cache(maxsize=4096)
def _script_of(letter: str) -> str:
    script = unicodedata.name(letter, "?").partition(" ")[0]
    return _TOGETHER.get(script, script)


def _likeliest(languages: Mapping[str, float]) -> tuple[str, float]:
    return max(languages.items(), key=lambda each: each[1])


# An item's own text is compared with every draft of it.
@lru_cache(maxsize=1024)
def _languages(beginning: str) -> Mapping[str, float]:
    return {str(language): float(probability) for language, probability in _identifier().rank(beginning)}


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
