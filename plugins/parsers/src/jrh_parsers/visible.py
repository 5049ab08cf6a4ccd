"""Extract the part of a reply to read: without thinking blocks, with plain characters, of limited length."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from jrh_authoring import without_thinking

READ_CHARACTERS = 32_768
"""Characters read at the end of a reply: the last verdict binds, and the limit bounds the work."""

_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_EDGE_UNDERSCORES = re.compile(r"(?<![^\W_])_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?![^\W_])")
_PLAIN = {
    **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
    **dict.fromkeys("\u2014\u2015", " - "),
    **dict.fromkeys("\u2028\u2029\u0085", "\n"),
    "\u20e3": "",  # the frame of a keycap digit
}
_LOOK_ALIKES = (range(0xFF01, 0xFF5F), range(0x1D400, 0x1D800))
"""Full-width forms and mathematical letters and digits, which stand for one ASCII character each."""
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)


def visible(text: str) -> str | None:
    """Return what may be read of a reply; None if the reply ends inside a thinking block."""
    answer = without_thinking(text)
    return None if answer is None else plain(answer[-READ_CHARACTERS:])


def plain(text: str) -> str:
    """Write look-alike characters as ASCII: full-width and mathematical letters, digits of other scripts, quotes.

    Not NFKC: that would turn `4²` into `42`, `3½` into `31` and a half, and `№4` into `No4`.
    """
    # Most replies are ASCII: one test spares them the substitution.
    if not text.isascii():
        text = _NON_ASCII.sub(lambda match: _plain_character(match[0]), text)
    # Markdown emphasis uses * or _; normalise to *, which is never part of a word.
    return _EDGE_UNDERSCORES.sub("*", text) if "_" in text else text


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    code = ord(character)
    if any(code in block for block in _LOOK_ALIKES):
        return unicodedata.normalize("NFKC", character)
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Zs":
        return " "
    # Zero-width marks and variation selectors only change how the neighbours look.
    return "" if category == "Cf" or code in _VARIATION_SELECTORS else character
