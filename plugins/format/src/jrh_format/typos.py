"""Find the words of a text that can get one typing error, and check that a changed text has no other change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from attrs import frozen
from jrh import Draft, Item, Validation

from jrh_format.blocks import Kind, Line
from jrh_format.options import Typo

if TYPE_CHECKING:
    from jrh_format.layouts import Draws, Place

# Four letters or more: `not` and `no` stay what they are. Capitals inside a word, digits, addresses and names of code
# are no prose: an error there is read as another name.
_WORD: Final = re.compile(r"(?<![\w'\u2019@/.\\-])[A-Za-z][a-z]{3,}(?![\w'\u2019@/\\-]|\.\w|:/)")
_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_KEYS: Final = {
    key: row[max(place - 1, 0) : place] + row[place + 1 : place + 2] for row in _ROWS for place, key in enumerate(row)
}
"""Letter -> its neighbours in a row of an English keyboard."""
_EACH: Final = (Typo.SWAP, Typo.DROP, Typo.DOUBLE, Typo.KEY)


def typo_places(kind: Typo, text: str, lines: Sequence[Line], draws: Draws) -> Iterator[Place]:
    """Yield one place for every word that can get an error; the first and the last letter of a word stay."""
    known = {match[0].lower() for match in _WORD.finditer(text)}
    for line in lines:
        for match in _WORD.finditer(text, line.start, line.end) if line.kind in (Kind.PROSE, Kind.STRUCTURED) else ():
            word = match[0]
            chosen = kind if kind is not Typo.MIXED else _EACH[draws.below(len(_EACH))]
            start, end, new = _error(chosen, word, 1 + draws.below(len(word) - 2), draws)
            changed = word[:start] + new + word[end:]
            # Another word of the text would be another statement, and not a typing error.
            if changed != word and changed.lower() not in known:
                yield ((match.start() + start, match.start() + end, new),)


def _error(kind: Typo, word: str, at: int, draws: Draws) -> tuple[int, int, str]:
    """Return start, end and new text of an error at an inner letter of a word."""
    if kind is Typo.SWAP:
        at, places = min(at, len(word) - 3), range(1, len(word) - 2)
        # Two equal letters exchange to nothing: the next two that differ, if there are any.
        at = next((place for place in (*places[at - 1 :], *places) if word[place] != word[place + 1]), at)
        return at, at + 2, word[at + 1] + word[at]
    if kind is Typo.DROP:
        return at, at + 1, ""
    if kind is Typo.DOUBLE:
        return at, at, word[at]
    keys = _KEYS[word[at]]
    return at, at + 1, keys[draws.below(len(keys))]


_PARTS: Final = re.compile(r"(\w+)")


@frozen
class OneTypoPerWord:
    """Accepts a draft whose changed fields differ from the item's in single typing errors inside of words."""

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Compare every field the draft changes with the item's; the first other difference is the reason."""
        for name, changed in draft.fields.items():
            original = item.fields.get(name)
            if not isinstance(original, str) or not isinstance(changed, str):
                return Validation(accepted=False, reason="a changed field is not text", details={"field": name})
            before, after = _PARTS.split(original), _PARTS.split(changed)
            differing = [pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]]
            if len(before) != len(after) or not all(_is_typo(*pair) for pair in differing):
                return Validation(accepted=False, reason="more than typing errors changed", details={"field": name})
        return Validation(accepted=True)


def _is_typo(before: str, after: str) -> bool:
    """Tell whether two words differ by one exchange of neighbours, or by one letter, inside of them."""
    if min(len(before), len(after)) < 3 or (before[0], before[-1]) != (after[0], after[-1]):  # noqa: PLR2004 - an inner letter
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    one, other = before[shared:], after[shared:]
    swapped = len(one) > 1 and one[1] + one[0] + one[2:] == other
    return swapped or one[1:] == other[1:] or one[1:] == other or one == other[1:]
