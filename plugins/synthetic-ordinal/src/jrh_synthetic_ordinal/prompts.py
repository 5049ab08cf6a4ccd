"""Render the prompts of the writer and the grader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import Item, Json, Message, Task, Text, render
from jrh.text import check_template, object_schema, packaged_template, tag_mark
from jrh_authoring import text_schema

_WRITER: Final = frozenset(("task", "level", "request", "response", "examples", "mark"))
_GRADER: Final = frozenset(("task", "request", "response", "mark"))

VARIATIONS: Final = (
    "Begin with another thought than the obvious one.",
    "Arrange it differently from how it is usually arranged.",
    "Use other examples and details than those that come first to mind.",
    "Vary the length and the rhythm of the sentences.",
)
"""Asked for in turn where the temperature of a model cannot be raised."""
RESPONSE: Final = "response"
"""The name of the text in the writer's reply."""
WRITTEN: Final = text_schema(RESPONSE)
"""The JSON schema of the writer's reply."""


def graded(task: Task) -> Mapping[str, Json]:
    """Return the JSON schema of the grader's reply."""
    levels: list[Json] = [*task.scale.labels]
    return object_schema({"rationale": {"type": "string"}, "level": {"type": "string", "enum": levels}})


@frozen(kw_only=True)
class Wording:
    """The templates, checked."""

    system: str
    writer: str
    grader: str

    @classmethod
    def of(cls, prompt: Text | None, grader_prompt: Text | None) -> Wording:
        """Load the suite's templates or the built-in ones.

        Raises:
            JrhError: A template is invalid, uses an unknown variable, or does not show the required text.
        """
        writer = prompt.content if prompt else packaged_template("jrh_synthetic_ordinal", "write")
        grader = grader_prompt.content if grader_prompt else packaged_template("jrh_synthetic_ordinal", "grade")
        check_template("synthetic-ordinal: the template `prompt`", writer, known=_WRITER, needed="level")
        check_template("synthetic-ordinal: the template `grader_prompt`", grader, known=_GRADER, needed="response")
        return cls(system=packaged_template("jrh_synthetic_ordinal", "system"), writer=writer, grader=grader)

    def to_write(
        self, task: Task, source: Item, level: str, examples: Sequence[Item], variation: int = 0
    ) -> tuple[Message, ...]:
        """Return the messages that request a response of a level; a `variation` asks for another way."""
        shown: list[dict[str, str]] = [{**_texts(example), "level": example.gold or ""} for example in examples]
        texts = _texts(source)
        mark = _mark(texts, *shown)
        content = render(self.writer, {**texts, "task": task, "level": level, "examples": shown, "mark": mark})
        if variation:
            content = f"{content}\n\n{VARIATIONS[(variation - 1) % len(VARIATIONS)]}"
        return (Message(role="system", content=self.system), Message(role="user", content=content))

    def to_grade(self, task: Task, source: Item, response: str) -> tuple[Message, ...]:
        """Return the messages that ask for the level of a response."""
        texts = {**_texts(source), "response": response}
        return (Message(role="user", content=render(self.grader, {**texts, "task": task, "mark": _mark(texts)})),)


def _texts(item: Item) -> dict[str, str]:
    return {name: str(item.fields.get(name) or "") for name in ("request", "response")}


def _mark(*texts: Mapping[str, str]) -> str:
    return f"-{tag_mark([dict(part) for part in texts])}"
