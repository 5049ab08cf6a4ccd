"""Read plans: a thesis and ordered steps, and the reasons for dropped steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import Json
from jrh.text import TranscriptMessage
from jrh_authoring import Unusable, object_schema, read_json

from jrh_agentic.asking import NO_JSON, NoPlan
from jrh_agentic.editing import LONGEST_MESSAGE, as_text
from jrh_agentic.messages import cut

_LONGEST: Final = 1_000
"""Characters of a thesis, a goal or a reason."""
_MOST_READ: Final = 100
"""Steps of a reply that are looked at."""
_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_STEP: Final = object_schema({"message": {"type": "integer"}, "goal": _TEXT, "reason": _TEXT})
SCHEMA: Final = object_schema({"thesis": _TEXT, "steps": {"type": "array", "items": _STEP}})
NO_STEP: Final = "no usable step in the plan"


@frozen(kw_only=True)
class Step:
    """One edit that is planned."""

    message: int
    """1-based number of the message."""
    goal: str
    reason: str


@frozen(kw_only=True)
class Plan:
    """What is to be edited, in order."""

    thesis: str
    steps: tuple[Step, ...]
    dropped: tuple[tuple[Json, str], ...]
    """What stood for the message, and why the step was dropped."""

    def described(self) -> dict[str, Json]:
        """Return the plan for the provenance."""
        return {
            "thesis": self.thesis,
            "steps": [{"message": step.message, "goal": step.goal, "reason": step.reason} for step in self.steps],
            "dropped": described(self.dropped),
        }

    def shown(self, current: int) -> str:
        """Return the plan as text, the current step marked."""
        lines = [f"Thesis: {self.thesis}"]
        for number, step in enumerate(self.steps):
            mark = ">" if number == current else " "
            lines.append(f"{mark} {number + 1}. message {step.message}: {step.goal} ({step.reason})")
        return "\n".join(lines)


def described(dropped: Sequence[tuple[Json, str]]) -> list[Json]:
    """Return dropped steps for the provenance."""
    return [{"message": message, "reason": reason} for message, reason in dropped]


def read_plan(text: str, messages: Sequence[TranscriptMessage], most: int) -> Plan | Unusable:
    """Read a plan; steps that cannot be carried out are dropped, and a plan without any other is unusable.

    Args:
        text: the planner's reply.
        messages: the transcript that is planned for.
        most: steps that are kept.
    """
    found = read_json(text, keys=("steps",))
    if found is None:
        return NO_JSON
    written = found["steps"]
    if isinstance(written, str) or not isinstance(written, Sequence):
        return Unusable("no list of steps in the plan")
    steps: list[Step] = []
    dropped: list[tuple[Json, str]] = []
    for each in written[:_MOST_READ]:
        step = _step(each, messages, steps, most)
        if isinstance(step, Step):
            steps.append(step)
        else:
            dropped.append((_number(each), step))
    if not steps:
        return NoPlan(NO_STEP, tuple(dropped))
    return Plan(thesis=_text(found.get("thesis")), steps=tuple(steps), dropped=tuple(dropped))


def _step(written: Json, messages: Sequence[TranscriptMessage], steps: Sequence[Step], most: int) -> Step | str:
    number = _number(written)
    if not isinstance(written, Mapping) or number is None:
        return "it names no message"
    if not 1 <= number <= len(messages):
        return "there is no such message"
    message = messages[number - 1]
    goal = _text(written.get("goal"))
    reasons = (
        (message.role != "assistant", "the message is not the assistant's"),
        (any(step.message == number for step in steps), "an earlier step names this message"),
        (not goal, "it names no goal"),
        (len(as_text(message, number)) > LONGEST_MESSAGE, "the message is too long to edit"),
        (len(steps) >= most, "there are more steps than allowed"),
    )
    refused = next((reason for applies, reason in reasons if applies), "")
    return refused or Step(message=number, goal=goal, reason=_text(written.get("reason")))


def _number(written: Json) -> int | None:
    number = written.get("message") if isinstance(written, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and abs(number) < 10**9 else None


def _text(value: Json) -> str:
    return cut(value.strip(), _LONGEST) if isinstance(value, str) else ""
