"""Whether two texts are in the same script and language."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Any, Final

LETTERS: Final = 40
"""Shorter texts are compared by script alone: a classifier guesses there."""
SURE: Final = 0.8
"""Probability from which on the classifier's language counts."""
_READ: Final = 3_000
"""Characters the classifier reads; more do not change its mind."""

# Scripts that one language mixes.
_TOGETHER: Final = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}


def other_language(original: str, changed: str) -> bool:
    """Tell whether the changed text is in another script or language than the original.

    Another script: most letters of one are of another script than most letters of the other. Another language: both
    texts have at least `LETTERS` letters, and py3langid names another language for each with a probability of at least
    `SURE`. A text without letters has neither.
    """
    one, other = _scripts(original), _scripts(changed)
    if not one or not other:
        return False
    if one.most_common(1)[0][0] != other.most_common(1)[0][0]:
        return True
    if min(one.total(), other.total()) < LETTERS:
        return False
    (first, sure), (second, also_sure) = _language(original[:_READ]), _language(changed[:_READ])
    return first != second and min(sure, also_sure) >= SURE


def _scripts(text: str) -> Counter[str]:
    return Counter(_script(character) for character in text if character.isalpha())


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    script = unicodedata.name(letter, "UNKNOWN").partition(" ")[0]
    return _TOGETHER.get(script, script)


# An item's own text is compared with every draft of it.
@lru_cache(maxsize=1024)
def _language(beginning: str) -> tuple[str, float]:
    language, probability = _identifier().classify(beginning)
    return str(language), float(probability)


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
