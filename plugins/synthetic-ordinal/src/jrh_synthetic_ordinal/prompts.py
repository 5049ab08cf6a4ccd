"""The words writer and grader are asked with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from attrs import frozen
from jrh import Item, JrhError, Json, Message, Task, Text, content_id, render, variables_of

_WRITER: Final = frozenset(("task", "level", "request", "response", "examples", "mark"))
_GRADER: Final = frozenset(("task", "request", "response", "mark"))

WRITTEN: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"response": {"type": "string"}},
    "required": ["response"],
    "additionalProperties": False,
}
"""The JSON schema of the writer's reply."""


def graded(task: Task) -> Mapping[str, Json]:
    """Return the JSON schema of the grader's reply."""
    return {
        "type": "object",
        "properties": {"rationale": {"type": "string"}, "level": {"type": "string", "enum": list(task.scale.labels)}},
        "required": ["rationale", "level"],
        "additionalProperties": False,
    }


@frozen(kw_only=True)
class Wording:
    """The templates, checked."""

    system: str
    writer: str
    grader: str

    @classmethod
    def of(cls, prompt: Text | None, grader_prompt: Text | None) -> Wording:
        """Take the suite's templates or the package's.

        Raises:
            JrhError: a template is not valid, uses an unknown name, or does not show what it is about.
        """
        writer = prompt.content if prompt else _packaged("write")
        grader = grader_prompt.content if grader_prompt else _packaged("grade")
        _check("prompt", writer, _WRITER, "level")
        _check("grader_prompt", grader, _GRADER, "response")
        return cls(system=_packaged("system"), writer=writer, grader=grader)

    def to_write(self, task: Task, source: Item, level: str, examples: Sequence[Item]) -> tuple[Message, ...]:
        """Return the messages that ask for a response of a level."""
        shown: list[dict[str, str]] = [{**_texts(example), "level": example.gold or ""} for example in examples]
        texts = _texts(source)
        mark = _mark(texts, *shown)
        content = render(self.writer, {**texts, "task": task, "level": level, "examples": shown, "mark": mark})
        return (Message(role="system", content=self.system), Message(role="user", content=content))

    def to_grade(self, task: Task, source: Item, response: str) -> tuple[Message, ...]:
        """Return the messages that ask for the level of a response."""
        texts = {**_texts(source), "response": response}
        return (Message(role="user", content=render(self.grader, {**texts, "task": task, "mark": _mark(texts)})),)


def _packaged(name: str) -> str:
    return (
        files("jrh_synthetic_ordinal").joinpath("prompts", f"{name}.j2").read_text(encoding="utf-8").removesuffix("\n")
    )


def _check(option: str, template: str, known: frozenset[str], needed: str) -> None:
    used = variables_of(template)
    unknown = sorted(used - known)
    if unknown or needed not in used:
        wrong = f"uses {', '.join(unknown)}, which it is not given" if unknown else f"does not show {{{{ {needed} }}}}"
        raise JrhError(f"synthetic-ordinal: the template `{option}` {wrong}; there are {', '.join(sorted(known))}")


def _texts(item: Item) -> dict[str, str]:
    return {name: str(item.fields.get(name) or "") for name in ("request", "response")}


def _mark(*texts: Mapping[str, str]) -> str:
    """Return what is appended to the tags: no text holds its own hash, so none can close them."""
    return f"-{content_id([dict(part) for part in texts])[:8]}"
