"""Lengthen a text or a transcript to a size, and plant evidence at a depth of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from attrs import evolve, frozen
from jrh import JrhError, Json, read_transcript
from jrh.text import ToolCall, TranscriptMessage

NO_TEXT: Final = "the judged field has no text"
TOO_LONG: Final = "the text without its evidence is longer than the requested length"
TWICE: Final = "the evidence is found more than once"
NO_TOOL: Final = "only a transcript has tool results"
_NEAR: Final = 200
"""Characters within which the end of a sentence, or else of a word, is looked for."""
_MESSAGE: Final = 2_000
_TOOL: Final = "read_notes"
_GAP: Final = "\n\n"
Filler = Callable[[str, int], str]
"""The text without evidence, and a number of characters -> text of that length."""


class Impossible(Exception):
    """Evidence does not fit an item; the message is the reason of the skip."""


def body_of(value: Json, *, tool: bool) -> Body:
    """Read a judged field.

    Raises:
        Impossible: it has no text, or no tool results where evidence is to stand in one.
    """
    if isinstance(value, str):
        if tool:
            raise Impossible(NO_TOOL)
        if not value.strip():
            raise Impossible(NO_TEXT)
        return Plain(text=value)
    if not isinstance(value, Sequence) or not value:
        raise Impossible(NO_TEXT)
    try:
        return Messages(messages=read_transcript(list(value)), tool=tool)
    except JrhError:
        raise Impossible(NO_TEXT) from None


@frozen(kw_only=True)
class Plain:
    """A text."""

    text: str

    def texts(self) -> tuple[str, ...]:
        """Return the text."""
        return (self.text,)

    def less(self, text: str) -> Plain:
        """Return the text without what was found in it."""
        return Plain(text=self.text.replace(text, "", 1))

    def lengthen(self, size: int, filler: Filler) -> Plain:
        """Return the text, then filler.

        Raises:
            Impossible: it is longer already.
        """
        # The gap between text and filler counts, too: sizes are exact.
        missing = size - len(self.text) - len(_GAP)
        if missing < 0:
            raise Impossible(TOO_LONG)
        return Plain(text=f"{self.text}{_GAP}{filler(self.text, missing)}")

    def plant(self, text: str, depth: float) -> tuple[str, int]:
        """Put a paragraph where a sentence ends nearest to the depth; return the text, and 0 for no message."""
        at = _boundary(self.text, depth)
        return _GAP.join(part for part in (self.text[:at].rstrip(), text, self.text[at:].lstrip()) if part), 0


@frozen(kw_only=True)
class Messages:
    """A transcript; evidence is a message of the agent, or part of a tool result."""

    messages: tuple[TranscriptMessage, ...]
    tool: bool

    def texts(self) -> tuple[str, ...]:
        """Return the contents of the messages."""
        return tuple(message.content for message in self.messages)

    def less(self, text: str) -> Messages:
        """Return the transcript without what was found in one message."""
        return evolve(
            self, messages=tuple(evolve(turn, content=turn.content.replace(text, "", 1)) for turn in self.messages)
        )

    def lengthen(self, size: int, filler: Filler) -> Messages:
        """Return the transcript with further messages of the agent before its last message.

        Raises:
            Impossible: it is longer already.
        """
        content = _GAP.join(text for text in self.texts() if text)
        missing = size - sum(map(len, self.texts()))
        if missing < 0:
            raise Impossible(TOO_LONG)
        text = filler(content, missing)
        # In messages of one size; a single one would hold most of the transcript.
        pieces = [text[at : at + _MESSAGE] for at in range(0, len(text), _MESSAGE)]
        added = tuple(TranscriptMessage(role="assistant", content=piece) for piece in pieces if piece.strip())
        at = len(self.messages) - 1
        while at > 0 and self.messages[at].role == "tool":  # a call and its result stay together
            at -= 1
        return evolve(self, messages=(*self.messages[:at], *added, *self.messages[at:]))

    def plant(self, text: str, depth: float) -> tuple[Json, int]:
        """Put a message, or a call of a tool and its result, between the messages nearest to the depth.

        Returns the transcript, and the number of the message that holds the text.
        """
        at = self._place(depth)
        new: tuple[TranscriptMessage, ...] = (TranscriptMessage(role="assistant", content=text),)
        if self.tool:
            call = ToolCall(id=f"{_TOOL}-{at + 1}", name=_TOOL)
            new = (
                TranscriptMessage(role="assistant", tool_calls=(call,)),
                TranscriptMessage(role="tool", content=text, tool_call_id=call.id, name=_TOOL),
            )
        messages = (*self.messages[:at], *new, *self.messages[at:])
        return [message.to_json() for message in messages], at + len(new)

    def _place(self, depth: float) -> int:
        ends = [0, *accumulate(len(message.content) for message in self.messages)]
        after = [
            at
            for at in range(len(ends))
            # A call and its result stay together, and nothing comes before the task itself.
            if (at == len(self.messages) or self.messages[at].role != "tool")
            and (at > 0 or self.messages[0].role not in ("system", "user"))
        ]
        return min(after, key=lambda at: (abs(ends[at] - depth * ends[-1]), at))


Body: TypeAlias = Plain | Messages
"""What is judged, without its evidence."""


def _boundary(text: str, depth: float) -> int:
    """Return the end of a sentence, or else of a word, that is nearest to the depth."""
    at = round(depth * len(text))
    if at in (0, len(text)):
        return at
    start = max(at - _NEAR, 0)
    window = text[start : at + _NEAR]
    # Inside a word only where the text has no white space nearby.
    for ends in (r"(?<=[.!?])\s+", r"\s+"):
        places = [start + match.start() for match in re.finditer(ends, window)]
        if places:
            return min(places, key=lambda place: (abs(place - at), place))
    return at
