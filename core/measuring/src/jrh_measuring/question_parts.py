"""The parts of a question, and what differs between two of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Final

from attrs import frozen
from jrh.text.visible import visible_line, visible_text
from jrh.values.cases import Case
from jrh.values.json_values import Json

from jrh_measuring.word_diff import TextPair, mark_words

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
    left, right = dict(_named(before)), dict(_named(after))
    names = list(dict.fromkeys([*right, *left]))
    differ = [name for name in names if left.get(name, "") != right.get(name, "")]
    same = [name for name in names if name not in differ and right.get(name)]
    return QuestionParts(
        changes=tuple(
            PartChange(name=visible_line(name), pair=mark_words(left.get(name, ""), right.get(name, ""), limit))
            for name in differ[:most]
        ),
        context=tuple((visible_line(name), visible_text(right[name], limit)) for name in same[:most]),
        more=len(differ[most:]) + len(same[most:]),
    )


def _named(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the parts of a question by name, as text."""
    for name, value in case.fields.items():
        yield name, _written(value)
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


def _written(value: Json) -> str:
    """Write a field as text that can be read: messages of a transcript one after the other, their parts by name."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_beside(each)}" for key, each in value.items())
    if isinstance(value, Sequence):
        return "\n\n".join(_written(each) for each in value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _beside(value: Json) -> str:
    text = _written(value)
    return f"\n{indent(text, '  ')}" if "\n" in text or isinstance(value, Mapping) else text
