"""Render and check the models' prompts, built-in or from the suite."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from attrs import frozen
from jrh import Message, Task, Text
from jrh_authoring import check_template, packaged_template, render, tag_mark

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


_PACKAGE: Final = "jrh_agentic"
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


@frozen(kw_only=True)
class Wording:
    """All templates, checked."""

    task: Task
    system: str
    templates: Mapping[Prompt, str]

    @classmethod
    def of(cls, options: PipelineOptions, task: Task, test: str, verifying: Prompt) -> Wording:
        """Load the suite's templates or the built-in ones.

        Raises:
            JrhError: a template is not valid, uses an unknown name, or does not show what it is about.
        """
        prompts = [prompt for prompt in Prompt if prompt not in (Prompt.VERIFIER, Prompt.SAME) or prompt is verifying]
        templates = {prompt: _checked(prompt, getattr(options, _OPTION[prompt]), test) for prompt in prompts}
        return cls(task=task, system=packaged_template(_PACKAGE, "system"), templates=templates)

    def messages(self, prompt: Prompt, aim: Aim, variables: Mapping[str, object]) -> tuple[Message, ...]:
        """Return the messages of one request; text of the transcript is never read as a template."""
        entry = self.task.rubric or self.task.instruction
        given = {"task": self.task, "entry": entry, "aim": _told(aim), **variables}
        mark = tag_mark(*(str(value) for value in (entry, *variables.values())))
        content = render(self.templates[prompt], {**given, "mark": f"-{mark}"})
        return (Message(role="system", content=self.system), Message(role="user", content=content))


def _told(aim: Aim) -> str:
    return aim.words if aim.label is None else f"{aim.words}: a careful judge answers {aim.label}"


def _checked(prompt: Prompt, own: Text | None, test: str) -> str:
    source = own.content if own else packaged_template(_PACKAGE, prompt.value)
    check_template(
        f"{test}: the template `{_OPTION[prompt]}`",
        source,
        known=_ALWAYS | _VARIABLES[prompt],
        needed=_NEEDED[prompt],
    )
    return source
