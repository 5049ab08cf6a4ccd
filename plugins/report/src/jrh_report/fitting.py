"""A document that keeps to a number of characters: blocks are shortened by lines, the least important ones first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen
from jrh_measuring import comment_length, lines_that_fit

_GAP: Final = "\n\n"


@frozen(kw_only=True)
class Block:
    """A part of a document that can be shortened: a head, lines, a tail."""

    lines: tuple[str, ...]
    head: str = ""
    """Written directly before the first line."""
    tail: str = ""
    """Written directly after the last line."""
    rank: int = 0
    """Blocks of a lower rank are served first."""
    share: int = 1 << 30
    """Characters the block may take before every other block was served."""
    what: str = ""
    """Names the block where it has to be left out."""
    kept: int | None = None
    """Lines that are shown; None: all."""

    def text(self) -> str:
        """Return the block as it is in the document, saying how many lines it lacks."""
        shown = self.lines[: self.kept]
        omitted = len(self.lines) - len(shown)
        more = f"\n\n{omitted:,} more in report.json" if omitted else ""
        return f"{self.head}{chr(10).join(shown)}{more}{self.tail}"


@frozen(kw_only=True)
class Fitted:
    """A document that fits."""

    text: str
    left_out: tuple[str, ...]
    """The blocks that are not there at all."""
    shortened: bool
    """Whether anything is not there."""


def fit(blocks: Sequence[Block], limit: int) -> Fitted:
    """Shorten blocks until the document keeps to the limit.

    Blocks are served by rank, equal ranks in the order of the document, each up to its share; what is left then goes to
    those that wanted more, in the same order. A block of which no line fits is left out.

    Args:
        blocks: in the order of the document.
        limit: characters of the whole, counted by `comment_length`.
    """
    order = sorted(range(len(blocks)), key=lambda place: (blocks[place].rank, place))
    shown: dict[int, Block] = {}
    left = limit
    # Shares first: otherwise the first long block would take all the room.
    for place in order:
        part = _shorten_block(blocks[place], min(blocks[place].share, left))
        if part is not None:
            shown[place] = part
            left -= _size(part)
    for place in order:
        before = shown.get(place)
        room = left + (_size(before) if before else 0)
        part = _shorten_block(blocks[place], room) if before is None or before.kept is not None else before
        if part is not None:
            shown[place] = part
            left = room - _size(part) if part is not before else left
    missing = [block for place, block in enumerate(blocks) if place not in shown]
    return Fitted(
        text=_GAP.join(shown[place].text() for place in sorted(shown)),
        left_out=tuple(block.what for block in missing),
        shortened=bool(missing) or any(block.kept is not None for block in shown.values()),
    )


def _size(block: Block) -> int:
    # The first block has no gap before it, so the document stays at least two characters below the limit.
    return comment_length(block.text()) + len(_GAP)


def _shorten_block(block: Block, room: int) -> Block | None:
    """Return the block with as many lines as there is room for; None where there is none for the first."""
    if _size(block) <= room:
        return block
    lines = lines_that_fit(lambda count: evolve(block, kept=count).text(), len(block.lines), room - len(_GAP))
    return evolve(block, kept=lines) if lines else None
