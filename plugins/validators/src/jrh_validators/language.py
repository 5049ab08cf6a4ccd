"""Compare the script and language of two texts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from jrh.authoring import other_script

LETTERS: Final = 40
"""Shorter texts are compared by script only; the classifier would guess."""
SURE: Final = 0.8
"""Lowest probability at which the classifier's language counts."""
_READ: Final = 3_000
"""Characters the classifier reads; more do not change its result."""


def other_language(original: str, changed: str) -> bool:
    """Return whether the changed text is in another script or language than the original.

    Another script: most letters of one are of another script than most letters of the other. Another language: both
    texts have at least `LETTERS` letters, and py3langid names another language for each with a probability of at least
    `SURE`. A text without letters has neither.
    """
    if other_script(original, changed):
        return True
    if min(_letters(original), _letters(changed)) < LETTERS:
        return False
    (first, sure), (second, also_sure) = _language(original[:_READ]), _language(changed[:_READ])
    return first != second and min(sure, also_sure) >= SURE


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


# An item's own text is compared with every draft of it.
@lru_cache(maxsize=1024)
def _language(beginning: str) -> tuple[str, float]:
    language, probability = _identifier().classify(beginning)
    return str(language), float(probability)


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
