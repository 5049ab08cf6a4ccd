"""Reduce a transcript by role, reasoning, length of tool outputs and the user's own function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen
from jrh import JrhError, Json, read_transcript
from jrh.text import ToolCall, TranscriptMessage

from jrh_inspect.options import Code, InspectOptions
from jrh_inspect.preprocess import Preprocess

_CODE: Final = "code"
"""The argument of a tool call that holds code."""


@frozen(kw_only=True)
class Shape:
    """The options that change a transcript."""

    options: InspectOptions
    preprocess: Preprocess | None = None

    def of(
        self, messages: Sequence[TranscriptMessage], metadata: Mapping[str, Json], origin: str
    ) -> list[dict[str, Json]] | None:
        """Return the kept messages as an item's field, or None to leave the sample out.

        Raises:
            JrhError: The user's function raises or does not return a transcript.
        """
        kept = [self._kept(message) for message in messages if message.role in self.options.roles]
        written = [message.to_json() for message in kept]
        if self.preprocess is None:
            return written or None
        try:
            returned: Any = self.preprocess(written, metadata)
        except Exception as error:  # the function is the user's, and may raise anything
            raise JrhError(f"{origin}: preprocess raised {type(error).__name__}: {error}") from error
        if returned is None or returned == []:
            return None
        return [message.to_json() for message in read_transcript(returned, f"{origin}: after preprocess")]

    def _kept(self, message: TranscriptMessage) -> TranscriptMessage:
        if message.reasoning and not self.options.reasoning:
            message = evolve(message, reasoning="")
        if message.role == "tool" and self.options.tool_output is not None:
            message = evolve(message, content=_shortened(message.content, self.options.tool_output))
        if self.options.code is Code.COMMENTS and message.role == "assistant":
            message = evolve(message, tool_calls=tuple(_commented(call) for call in message.tool_calls))
        return message


def _commented(call: ToolCall) -> ToolCall:
    """Keep the comment lines of a call's code; a call without code is unchanged."""
    code = call.arguments.get(_CODE)
    if not isinstance(code, str):
        return call
    comments = [line for line in code.splitlines() if line.lstrip().startswith("#")]
    return evolve(call, arguments={**call.arguments, _CODE: "\n".join(comments)})


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = (most + 1) // 2
    tail = most - head
    return f"{text[:head]}\n[{len(text) - most:,} characters of the tool's output left out]\n{text[len(text) - tail :]}"
