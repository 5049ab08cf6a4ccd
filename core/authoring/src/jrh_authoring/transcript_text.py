"""Render a transcript as text for judges: numbered messages, within a maximum length.

Message text is indented, so that it cannot imitate the header of another message.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from attrs import define, field, frozen
from jrh.text import TranscriptMessage

from jrh_authoring.structured import json_text

SHORTEST_LIMIT: Final = 2_000
"""Minimum limit in characters: with less, not even the first and the last message could be shown."""

_LABEL: Final = "  "
"""Indentation of labels that the rendering adds within a message."""
_TEXT: Final = "    "
"""Indentation of the message's own text, so that no line of it can look like a header or a label."""
_LEAST_OUTPUT: Final = 400
"""Tool outputs are not shortened below this many characters; after that, whole messages are omitted."""
_NOTICE: Final = 80
"""Upper bound for the length of an omission notice, in characters."""
_LONGEST_NAME: Final = 200


@frozen(kw_only=True)
class LeftOut:
    """What a rendering omits."""

    characters: int = 0
    """Number of omitted characters of the full rendering."""
    messages: tuple[int, ...] = ()
    """Numbers of the messages that are omitted completely."""
    shortened: tuple[int, ...] = ()
    """Numbers of the messages shown without part of their middle."""

    def __bool__(self) -> bool:
        """Return whether anything is omitted."""
        return bool(self.characters)


@frozen(kw_only=True)
class Rendered:
    """A transcript as text."""

    text: str
    left_out: LeftOut = LeftOut()


def render_transcript(transcript: Sequence[TranscriptMessage] | str, *, limit: int | None = None) -> Rendered:
    """Render a transcript for a judge; the same messages and limit give the same text.

    Every message has a header `[3] assistant` with its number, counted from 1 in the whole transcript, so that numbers
    do not change when messages are omitted. Its own text is indented deeper than anything the rendering says itself:
    no text can pass for another message, a tool call or a notice. Tool calls and failed calls are shown.

    Where the text is longer than the limit, the middle of long tool outputs is left out first, then whole messages from
    the middle, then the middle of the first and the last message; each is said in its place.

    Args:
        transcript: messages of `read_transcript`, or plain text, which is shown as it is.
        limit: the most characters of the text, at least `SHORTEST_LIMIT`; None shows everything.

    Raises:
        ValueError: the limit is too small.
    """
    if limit is not None and limit < SHORTEST_LIMIT:
        raise ValueError(f"a transcript needs at least {SHORTEST_LIMIT} characters, got {limit}")
    if isinstance(transcript, str):
        if limit is None or len(transcript) <= limit:
            return Rendered(text=transcript)
        text, cut = _without_middle(transcript, limit, indent="")
        return Rendered(text=text, left_out=LeftOut(characters=cut))
    # Numbered before anything is left out, so that a number means the same message in every rendering.
    blocks = [_Block.of(number, message) for number, message in enumerate(transcript, 1)]
    if limit is not None and _size(blocks) > limit:
        _shorten_outputs(blocks, limit)
        if _size(blocks) > limit:
            return _without_middle_messages(blocks, limit)
    return _join(blocks)


@define
class _Block:
    """One message as text."""

    number: int
    header: str
    body: str
    is_output: bool
    full: str = field(init=False)
    """The body before shortening."""
    cut: int = 0
    """Number of omitted characters of the body."""

    def __attrs_post_init__(self) -> None:
        self.full = self.body

    @classmethod
    def of(cls, number: int, message: TranscriptMessage) -> _Block:
        named = f" {_line(message.name)}" if message.name else ""
        call = f" (call {_line(message.tool_call_id)})" if message.tool_call_id else ""
        return cls(
            number=number,
            header=f"[{number}] {message.role}{named}{call}",
            body="\n".join(_parts(message)),
            is_output=message.role == "tool",
        )

    @property
    def size(self) -> int:
        """Return the length of the block, including the empty line after it."""
        return len(self.header) + len(self.body) + 3

    @property
    def whole(self) -> int:
        """Return the size before shortening."""
        return self.size - len(self.body) + len(self.full)

    def shorten(self, most: int) -> None:
        """Cut the middle of the body to at most this many characters; repeated calls start from the full body."""
        is_longer = len(self.full) > most
        self.body, self.cut = _without_middle(self.full, most, indent=_TEXT) if is_longer else (self.full, 0)

    def __str__(self) -> str:
        return f"{self.header}\n{self.body}" if self.body else self.header


def _parts(message: TranscriptMessage) -> list[str]:
    parts = []
    if message.reasoning:
        parts += [f"{_LABEL}reasoning:", _indent(message.reasoning)]
        if message.content:
            parts.append(f"{_LABEL}text:")
    if message.content:
        parts.append(_indent(message.content))
    for call in message.tool_calls:
        call_id = f" (call {_line(call.id)})" if call.id else ""
        parts += [f"{_LABEL}calls {_line(call.name)}{call_id}:", _indent(json_text(call.arguments))]
    if message.error:
        parts += [f"{_LABEL}failed:", _indent(message.error)]
    return parts


def _indent(text: str) -> str:
    return "".join(_TEXT + line for line in text.splitlines(keepends=True))


def _line(text: str) -> str:
    """Shorten and escape a name so that it stays on one line."""
    # Names of tools come from logs: a line break in one would forge a header.
    shown = text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + "..."
    return shown if shown.isprintable() else json.dumps(shown)


def _without_middle(text: str, most: int, *, indent: str) -> tuple[str, int]:
    """Return the text with a notice instead of its middle, and the number of omitted characters."""
    room = max(most - _NOTICE, 0)
    head = (room + 1) // 2
    tail = room - head
    cut = len(text) - room
    notice = f"{_LABEL}[{cut:,} characters left out here]"
    return f"{text[:head]}\n{notice}\n{indent}{text[len(text) - tail :]}", cut


def _size(blocks: Sequence[_Block]) -> int:
    return sum(block.size for block in blocks) - 2


def _shorten_outputs(blocks: Sequence[_Block], limit: int) -> None:
    """Cap all tool outputs at the same length: the largest at which everything fits, but not below the minimum."""
    outputs = [block for block in blocks if block.is_output]
    if not outputs:
        return
    lengths = [len(block.body) for block in outputs]
    fixed = _size(blocks) - sum(lengths)
    caps = range(_LEAST_OUTPUT, max(lengths) + 1)
    # The size grows with the cap, so that the first cap that is too large is found by bisection.
    over = bisect_left(caps, x=True, key=lambda cap: fixed + sum(min(length, cap) for length in lengths) > limit)
    cap = caps[max(over - 1, 0)] if caps else _LEAST_OUTPUT
    for block in outputs:
        block.shorten(cap)


def _without_middle_messages(blocks: list[_Block], limit: int) -> Rendered:
    """Keep messages from both ends in turn while they fit; the first and the last one always stay."""
    # The notice about what is missing needs room of its own.
    room = limit - _NOTICE
    first, last = blocks[0], blocks[-1]
    if len(blocks) == 1:
        first.shorten(limit - len(first.header) - 1)
        return _join(blocks)
    for end in (first, last):
        end.shorten(room // 2 - len(end.header) - 3)
    head, tail = 1, len(blocks) - 1
    left = room - first.size - last.size
    while head < tail:
        if head <= len(blocks) - tail and blocks[head].size <= left:
            left -= blocks[head].size
            head += 1
        elif blocks[tail - 1].size <= left:
            tail -= 1
            left -= blocks[tail].size
        else:
            break
    for end in (first, last):
        # What is left after whole messages goes back to the two that were cut.
        before = end.size
        end.shorten(len(end.body) + left)
        left -= end.size - before
    return _join(blocks, head, tail)


def _join(blocks: Sequence[_Block], start: int = 0, end: int = 0) -> Rendered:
    """Join the blocks, with a notice instead of those from `start` up to `end`."""
    out, shown = blocks[start:end], [*blocks[:start], *blocks[end:]]
    dropped = sum(block.whole for block in out)
    texts = [str(block) for block in shown]
    if out:
        numbers = f"messages {out[0].number} to {out[-1].number}" if len(out) > 1 else f"message {out[0].number}"
        texts.insert(start, f"[{numbers} left out: {dropped:,} characters]")
    left_out = LeftOut(
        characters=dropped + sum(block.cut for block in shown),
        messages=tuple(block.number for block in out),
        shortened=tuple(block.number for block in shown if block.cut),
    )
    return Rendered(text="\n\n".join(texts), left_out=left_out)
