"""Describe an edit for the record as whole lines of limited length."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import Json
from jrh.text import TranscriptMessage

LONGEST: Final = 2_000
"""Characters of one side of a diff."""
MOST_RECORDED: Final = 100
"""Edits that a draft lists; it counts them all."""


@frozen(kw_only=True)
class Edit:
    """One edit of a transcript."""

    was: int
    """1-based number of the message in the transcript before the edits."""
    message: int | None
    """1-based number in the edited transcript; None where the message is gone."""
    what: str
    """The rule's name, or the goal of the plan's step."""
    diff: str

    def described(self) -> dict[str, Json]:
        """Return what the provenance keeps."""
        return {"was": self.was, "message": self.message, "what": self.what, "diff": self.diff}


def described(edits: Sequence[Edit]) -> dict[str, Json]:
    """Return the edits for the provenance, and how many are left out of the list."""
    kept: list[Json] = [edit.described() for edit in edits[:MOST_RECORDED]]
    return {"edits": kept, "edits_left_out": max(0, len(edits) - MOST_RECORDED)}


def diff(before: TranscriptMessage, after: TranscriptMessage | None) -> str:
    """Return the lines that differ, `-` before and `+` after; equal lines at the beginning and the end are left out.

    Takes time in proportion to the texts.
    """
    old, new = _shown(before).splitlines(), [] if after is None else _shown(after).splitlines()
    start = _equal(old, new)
    end = _equal(old[start:][::-1], new[start:][::-1])
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    return "\n".join(part for part in (_side("-", gone), _side("+", come)) if part)


def as_json(value: Json) -> str:
    """Write a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def cut(text: str, most: int = LONGEST) -> str:
    """Return the text, or its beginning and a word on how much is left out."""
    return text if len(text) <= most else f"{text[:most]}... [{len(text) - most} characters left out]"


def _shown(message: TranscriptMessage) -> str:
    parts = [f"reasoning: {message.reasoning}"] if message.reasoning else []
    parts.append(message.content)
    parts += [f"call {call.id}: {call.name} {as_json(call.arguments)}" for call in message.tool_calls]
    return "\n".join(parts)


def _side(sign: str, lines: Sequence[str]) -> str:
    return cut("\n".join(f"{sign} {line}" for line in lines))


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"a message holds {type(value).__name__}, which is not JSON")
