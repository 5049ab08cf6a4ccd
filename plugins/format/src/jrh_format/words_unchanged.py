"""Prove from two texts alone that no word changed.

The validator ignores how a draft was made. It splits both texts at white space and compares the words. From the changed
text it removes only the marks that the draft's variant adds, and only where they are markup.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from attrs import frozen
from jrh import Draft, Item, Validation
from markdown_it import MarkdownIt

# White space that layout may change. Other Unicode white space (no-break, line separator) counts as part of the words.
_WORD: Final = re.compile(r"[^ \t\r\n]+")
_OPENING: Final = re.compile(r"(?P<fence>`{3,})(?:\r\n?|\n)")
_MARKS: Final = {"bullets": "-", "heading": "#"}
_CLINGING_CODES: Final = (range(0x200C, 0x200E), range(0x1F3FB, 0x1F400), range(0xE0020, 0xE0080))
_MARKDOWN: Final = MarkdownIt("commonmark")


@frozen
class _Word:
    text: str
    before: str
    """The character before it; empty at the start."""
    leads: bool
    """It is the first of its line."""


@frozen
class WordsUnchanged:
    """Accepts a draft whose changed fields differ from the item's in layout alone."""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Compare every field the draft changes with the item's; the first difference is the reason."""
        for name, changed in draft.fields.items():
            original = item.fields.get(name)
            if not isinstance(original, str) or not isinstance(changed, str):
                return Validation(accepted=False, reason="a changed field is not text", details={"field": name})
            reason = difference(original, changed, draft.variant)
            if reason:
                return Validation(accepted=False, reason=reason, details={"field": name})
        return Validation(accepted=True)


def difference(original: str, changed: str, variant: str = "") -> str:
    """Return how the changed text differs from the original beyond layout; empty if it does not.

    Args:
        original: the text before.
        changed: the text after.
        variant: `bullets` allows a `-`, `heading` a `#`, each as a word of its own at the start of a line;
            `code-fence` allows one fence around everything. Any other allows white space only.
    """
    if variant == "code-fence":
        return _fence_difference(original, changed)
    if not _only_marks_added(original, changed, _MARKS.get(variant)):
        return "the words changed"
    # Every sign that clings is beyond ASCII.
    ascii_only = original.isascii() and changed.isascii()
    if not ascii_only and _attached_words(original) != _attached_words(changed):
        return "the layout change splits a character"
    if _code(original) != _code(changed):
        return "fenced code changed"
    return ""


def _only_marks_added(original: str, changed: str, mark: str | None) -> bool:
    """Return whether the words are the same but for marks that lead lines; tries the usual reading first."""
    words = _original_words(original)
    if mark is None:
        return words == _split(changed)
    return words == _words_without_marks(changed, mark) or _same_words(words, _words(changed), mark)


def _split(text: str) -> list[str]:
    """Return what `_WORD` finds, in a third of the time."""
    return list(filter(None, text.replace("\t", " ").replace("\r", " ").replace("\n", " ").split(" ")))


@lru_cache(maxsize=2)
def _original_words(text: str) -> list[str]:
    """Return the words of a text that is compared with all of its layouts, one after the other."""
    return _split(text)


def _words_without_marks(text: str, mark: str) -> list[str]:
    """Return the words without those that are a mark and lead a line."""
    words: list[str] = []
    for line in text.replace("\r", "\n").split("\n"):
        line_words = _split(line)
        words += line_words[1:] if line_words[:1] == [mark] else line_words
    return words


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        leads = not words or "\n" in gap or "\r" in gap
        words.append(_Word(match.group(), gap[-1:], leads))
        end = match.end()
    return words


def _same_words(original: list[str], changed: list[_Word], mark: str) -> bool:
    """Return whether removing some line-leading marks, and nothing else, leaves the original words.

    A mark may also be a word of the original, so all readings are followed at once. `read` holds the counts of
    original words that the changed words so far can match.
    """
    read = {0}
    for word in changed:
        matched = {n + 1 for n in read if n < len(original) and original[n] == word.text}
        read = matched | read if word.leads and word.text == mark else matched
        if not read:
            return False
    return len(original) in read


def _attached_words(text: str) -> list[tuple[str, str]]:
    """Return (preceding character, word) for words that start with a sign that attaches to what precedes it."""
    if not any(map(_clings, set(text))):
        return []
    return [(word.before, word.text) for word in _words(text) if _clings(word.text[0])]


@lru_cache(maxsize=4096)
def _clings(character: str) -> bool:
    code = ord(character)
    return unicodedata.category(character).startswith("M") or any(code in codes for codes in _CLINGING_CODES)


def _code(text: str) -> list[str]:
    if "`" not in text and "~" not in text:  # no fence begins otherwise
        return []
    return [token.content for token in _MARKDOWN.parse(text) if token.type == "fence"]


def _fence_difference(original: str, changed: str) -> str:
    opening = _OPENING.match(changed)
    if opening is None or not changed.endswith(opening["fence"], opening.end()):
        return "the text is not inside a single code fence"
    fence = opening["fence"]
    inside = _without_break(changed[opening.end() : -len(fence)])
    if inside != _without_break(original):
        return "the words changed"
    # Ask a Markdown parser: a line of the text must not close the fence early.
    closed_early = fence in inside and len(_MARKDOWN.parse(changed)) != 1
    return "the text ends the code fence early" if closed_early else ""


def _without_break(text: str) -> str:
    """Return a text without one line break at its end."""
    return text[:-2] if text.endswith("\r\n") else text[:-1] if text.endswith(("\r", "\n")) else text
