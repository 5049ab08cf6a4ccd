"""The words the models are asked with: templates of the package or of the suite, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from importlib.resources import files
from itertools import count as natural_numbers
from typing import Final

from attrs import frozen
from jrh import JrhError, Message, Task, Text, render, variables_of

from jrh_agentic.aims import Aim
from jrh_agentic.options import PipelineOptions


class Prompt(Enum):
    """The prompts, by the name of their file."""

    PLANNER = "planner"
    EDITOR = "editor"
    SUMMARIZER = "summarizer"
    UPDATE = "update"
    VERIFIER = "verifier"
    SAME = "verifier_same"


_ALWAYS: Final = frozenset({"task", "entry", "aim", "mark"})
_VARIABLES: Final[Mapping[Prompt, frozenset[str]]] = {
    prompt: frozenset(names.split())
    for prompt, names in {
        Prompt.PLANNER: "transcript edits objections max_steps",
        Prompt.EDITOR: "plan step summary edits before after message number",
        Prompt.SUMMARIZER: "transcript",
        Prompt.UPDATE: "summary edit",
        Prompt.VERIFIER: "transcript edits",
        Prompt.SAME: "transcript edits",
    }.items()
}
_NEEDED: Final[Mapping[Prompt, str]] = {
    Prompt.PLANNER: "transcript",
    Prompt.EDITOR: "message",
    Prompt.SUMMARIZER: "transcript",
    Prompt.UPDATE: "edit",
    Prompt.VERIFIER: "transcript",
    Prompt.SAME: "edits",
}
_OPTION: Final[Mapping[Prompt, str]] = {
    Prompt.PLANNER: "planner_prompt",
    Prompt.EDITOR: "editor_prompt",
    Prompt.SUMMARIZER: "summarizer_prompt",
    Prompt.UPDATE: "update_prompt",
    Prompt.VERIFIER: "verifier_prompt",
    Prompt.SAME: "verifier_prompt",
}
_TAG: Final = re.compile(
    r"<\s*/?\s*(?:entry|transcript|edits?|objections|summary|plan|before|after|message)(?![a-z])", re.IGNORECASE
)


def packaged(name: str) -> str:
    """Return a template that comes with the package."""
    return files("jrh_agentic").joinpath("prompts", f"{name}.j2").read_text(encoding="utf-8").removesuffix("\n")


@frozen(kw_only=True)
class Wording:
    """All templates, checked."""

    task: Task
    system: str
    templates: Mapping[Prompt, str]

    @classmethod
    def of(cls, options: PipelineOptions, task: Task, test: str, verifying: Prompt) -> Wording:
        """Take the suite's templates or the package's.

        Raises:
            JrhError: a template is not valid, uses an unknown name, or does not show what it is about.
        """
        prompts = [prompt for prompt in Prompt if prompt not in (Prompt.VERIFIER, Prompt.SAME) or prompt is verifying]
        templates = {prompt: _checked(prompt, getattr(options, _OPTION[prompt]), test) for prompt in prompts}
        return cls(task=task, system=packaged("system"), templates=templates)

    def messages(self, prompt: Prompt, aim: Aim, variables: Mapping[str, object]) -> tuple[Message, ...]:
        """Return the messages of one request; text of the transcript is never read as a template."""
        entry = self.task.rubric or self.task.instruction
        given = {"task": self.task, "entry": entry, "aim": _told(aim), **variables}
        content = render(self.templates[prompt], {**given, "mark": _mark([entry, *variables.values()])})
        return (Message(role="system", content=self.system), Message(role="user", content=content))


def _told(aim: Aim) -> str:
    return aim.words if aim.label is None else f"{aim.words}: a careful judge answers {aim.label}"


def _checked(prompt: Prompt, own: Text | None, test: str) -> str:
    source = own.content if own else packaged(prompt.value)
    used = variables_of(source)
    known = _ALWAYS | _VARIABLES[prompt]
    unknown = sorted(used - known)
    if unknown or _NEEDED[prompt] not in used:
        needed = f"does not show {{{{ {_NEEDED[prompt]} }}}}"
        wrong = f"uses {', '.join(unknown)}, which it is not given" if unknown else needed
        raise JrhError(f"{test}: the template `{_OPTION[prompt]}` {wrong}; there are {', '.join(sorted(known))}")
    return source


def _mark(values: list[object]) -> str:
    """Return what is appended to the tags so that no text can close them; empty where none tries."""
    texts = [value for value in values if isinstance(value, str)]
    if not any(_TAG.search(text) for text in texts):
        return ""
    return next(mark for mark in (f"-{n}" for n in natural_numbers(1)) if not any(mark in text for text in texts))
