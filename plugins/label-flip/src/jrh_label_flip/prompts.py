"""The words a model is asked with."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import count as natural_numbers
from typing import Final

from attrs import frozen
from jrh import Item, Message, Task, Text, render
from jrh.text import check_template, object_schema, packaged_template

from jrh_label_flip.aims import Aim
from jrh_label_flip.options import Error
from jrh_label_flip.wordlists import words

DESCRIPTIONS: Final[Mapping[Error, str]] = {
    Error.FLIP: "Change what it says so that the judge's answer has to be another one.",
    Error.NEGATION: "Negate a statement, or take the negation of one away",
    Error.ANTONYM: "Replace a word by its opposite, so that a statement becomes false",
    Error.NUMBER: "Replace a number by a wrong one",
    Error.CALCULATION: "Make a mistake in a calculation, and keep the wrong result in what follows from it",
    Error.UNIT: "Give a quantity a wrong unit",
    Error.DATE: "Replace a date, a year or a time by a wrong one",
    Error.ENTITY: "Replace the name of a person, place or thing by a wrong one of the same kind",
    Error.OPPOSITE_FACT: "State the opposite of a fact",
    Error.CONSISTENCY: "Let the response contradict something it says itself",
    Error.REMOVED_FACT: "Leave out a fact that a complete response needs",
    Error.SEQUENCE: "Put steps or events into a wrong order",
    Error.SPELLING: "Misspell a word",
    Error.GRAMMAR: "Make a mistake of grammar",
    Error.ASSUMPTION: "Let the response rest on a wrong assumption",
    Error.CONTEXTUAL: "Bring in something that does not belong to the request",
    Error.COMPREHENSIVENESS: "Replace something specific that a complete response needs by something vague",
    Error.DO_LESS: "Do less than the request asks for",
    Error.DO_MORE: "Do more than the request asks for, where that makes the response worse",
    Error.IGNORED_FORMAT: "Break a rule of format or length that the request sets",
}
"""Instruction to the model for each kind of error."""

SCHEMA: Final = object_schema(
    {"response": {"type": "string"}, "changes": {"type": "array", "items": {"type": "string"}}}
)
VARIABLES: Final = words("task request response other target error description count mark")
_TAG: Final = re.compile(r"<\s*/?\s*(?:request|response|other)(?![a-z])", re.IGNORECASE)


@frozen(kw_only=True)
class Wording:
    """The template of the request to the model, checked."""

    user: str
    system: str

    @classmethod
    def of(cls, prompt: Text | None) -> Wording:
        """Take the suite's template or the package's.

        Raises:
            JrhError: the template is not valid, uses an unknown name, or does not show the response.
        """
        user = prompt.content if prompt else packaged_template("jrh_label_flip", "rewrite")
        check_template("label-flip: the prompt template", user, known=VARIABLES, needed="response")
        return cls(user=user, system=packaged_template("jrh_label_flip", "system"))

    def messages(self, task: Task, item: Item, aim: Aim, error: Error, count: int) -> tuple[Message, ...]:
        """Return the messages for one item; text of the item is never read as a template."""
        texts = {
            "request": str(item.fields.get("request", "")),
            "response": str(item.fields[aim.field]),
            "other": str(item.fields.get(aim.other, "")) if aim.other else "",
        }
        content = render(
            self.user,
            {
                **texts,
                "task": task,
                "target": aim.wanted,
                "error": error.value,
                "count": count,
                "description": described(error, count),
                "mark": _mark(texts.values()),
            },
        )
        return (Message(role="system", content=self.system), Message(role="user", content=content))


def described(error: Error, count: int) -> str:
    """Say what the model has to do: the error, and how many of it."""
    if error is Error.FLIP:
        return DESCRIPTIONS[error]
    return (
        f"{DESCRIPTIONS[error]}. Plant {'exactly one error' if count == 1 else f'exactly {count} errors'} of this kind."
    )


def _mark(texts: Collection[str]) -> str:
    """Return what is appended to the tags so that no text can close them; empty where none tries."""
    if not any(_TAG.search(text) for text in texts):
        return ""
    return next(mark for mark in (f"-{n}" for n in natural_numbers(1)) if not any(mark in text for text in texts))
