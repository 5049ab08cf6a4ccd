"""The parts of a question, and what differs between two of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from textwrap import indent
from typing import Final

from attrs import frozen
from jrh import Case, Json
from jrh.text import visible_line, visible_text

TEXT: Final = 3000
"""Characters shown of each text."""
PARTS: Final = 6
"""Parts of a question that are shown of those that changed, and of those that did not; the others are counted."""


@frozen(kw_only=True)
class PartChange:
    """One part of the question that differs, or the one that is shown where none does."""

    name: str
    pair: TextPair


@frozen(kw_only=True)
class QuestionParts:
    """The parts of a question that changed, marked, and those that did not."""

    changes: tuple[PartChange, ...]
    context: tuple[tuple[str, str], ...]
    more: int


NO_PARTS: Final = QuestionParts(changes=(), context=(), more=0)
"""The parts of a question whose cases are not known."""


def compare_questions(before: Case, after: Case, *, limit: int = TEXT, most: int = PARTS) -> QuestionParts:
    """Return what differs between two cases, marked, and what does not.

    Args:
        before: the original.
        after: the changed question.
        limit: characters shown of each text.
        most: parts shown of those that differ, and of those that do not.
    """
    left, right = dict(_text_parts(before)), dict(_text_parts(after))
    # In the order of the changed question, and then what it has lost.
    names = list(dict.fromkeys([*right, *left]))
    differ = [name for name in names if left.get(name, "") != right.get(name, "")]
    # A part that is empty on both sides would be a heading with nothing below it.
    same = [name for name in names if name not in differ and right.get(name)]
    return QuestionParts(
        changes=tuple(
            PartChange(name=visible_line(name), pair=mark_words(left.get(name, ""), right.get(name, ""), limit))
            for name in differ[:most]
        ),
        context=tuple((visible_line(name), visible_text(right[name], limit)) for name in same[:most]),
        more=len(differ[most:]) + len(same[most:]),
    )


def _text_parts(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the parts of a question by name, as text."""
    for name, value in case.fields.items():
        yield name, _format_value(value)
    if case.prompt is not None:
        yield "prompt template", "\n\n".join(part for part in (case.prompt.system, case.prompt.user) if part)
    if case.presented_task is not None:
        task = case.presented_task
        yield "instruction as presented", task.instruction
        yield "rubric as presented", task.rubric
        yield "scale as presented", ", ".join(task.scale.labels)
    if case.condition.option_order:
        yield "order of the options", case.condition.option_order
    if case.sampling.temperature is not None:
        yield "temperature", f"{case.sampling.temperature:g}"
    if case.sampling.max_tokens is not None:
        yield "longest reply in tokens", f"{case.sampling.max_tokens}"


def _format_value(value: Json) -> str:
    """Write a field as text that can be read: messages of a transcript one after the other, their parts by name."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_format_field(part)}" for key, part in value.items())
    if isinstance(value, Sequence):
        return "\n\n".join(_format_value(part) for part in value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _format_field(value: Json) -> str:
    text = _format_value(value)
    return f"\n{indent(text, '  ')}" if "\n" in text or isinstance(value, Mapping) else text


_LEAD: Final = 400
"""Characters that are shown before the first difference of long texts."""
WORDS: Final = 1200
"""Words and gaps that are compared; where a text is longer, both are shown unmarked."""
_PARTS: Final = re.compile(r"\n+|[^\S\n]+|\w+|[^\w\s]")
_GAPS: Final = str.maketrans({" ": "·", "\n": "¶\n", "\t": "⇥\t"})
"""How white space looks where it is all that changed."""


@frozen(kw_only=True)
class Piece:
    """A stretch of text that the other text has too, or has not."""

    text: str
    changed: bool


@frozen(kw_only=True)
class TextPair:
    """Two texts as pieces."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    compared: bool
    """False where the texts are too long to be compared word by word."""


def mark_words(before: str, after: str, limit: int) -> TextPair:
    """Split two texts into what they share and what they do not, word by word.

    Args:
        before: the original.
        after: the changed text.
        limit: characters of each that are shown.
    """
    start = _start(before, after)
    left, right = _excerpt(before, start, limit), _excerpt(after, start, limit)
    ours, theirs = _PARTS.findall(left), _PARTS.findall(right)
    # Common beginnings and ends first: the comparison of the middle takes time in the square of its words.
    head = _common_length(ours, theirs)
    tail = _common_length(ours[head:][::-1], theirs[head:][::-1])
    old, new = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    if max(len(old), len(new)) > WORDS:
        return TextPair(before=_whole(left), after=_whole(right), compared=False)
    # Gaps are junk, or they would align unrelated words. `autojunk` would also drop frequent words of long texts.
    blocks = SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes()
    first, last = (False, "".join(ours[:head])), (False, "".join(ours[len(ours) - tail :]))
    return TextPair(
        before=_pieces([first, *((tag != "equal", "".join(old[at:end])) for tag, at, end, _, _ in blocks), last]),
        after=_pieces([first, *((tag != "equal", "".join(new[at:end])) for tag, _, _, at, end in blocks), last]),
        compared=True,
    )


def _start(before: str, after: str) -> int:
    """Return where to begin, so that the first difference can be seen also where it is far behind."""
    same = _common_length(before, after)
    return 0 if before == after or same < 2 * _LEAD else same - _LEAD


def _excerpt(text: str, start: int, limit: int) -> str:
    shown = visible_text(text[start:], limit)
    return f"({start:,} characters before) …{shown}" if start else shown


def _common_length(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many parts two texts begin with in common."""
    return next(
        (place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
    )


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(text=text, changed=False),)


def _pieces(parts: list[tuple[bool, str]]) -> tuple[Piece, ...]:
    return tuple(
        Piece(text=text.translate(_GAPS) if changed and text.isspace() else text, changed=changed)
        for changed, text in parts
        if text
    )
