"""Render the prompts, ask the models, and record attempts, outcomes and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, TypeVar

from attrs import Factory, define, frozen
from jrh import ChatRequest, Json, Message, ModelClient, Reply, Sampling, Task, content_id
from jrh_authoring import (
    PROVIDER_ERROR,
    Unusable,
    load_template,
    no_text,
    read_text,
    render,
    tag_mark,
)

from jrh_agentic.aims import Aim


class Prompt(Enum):
    """The prompts, by the name of their file."""

    PLANNER = "planner"
    EDITOR = "editor"
    SUMMARIZER = "summarizer"
    UPDATE = "update"
    VERIFIER = "verifier"
    SAME = "verifier_same"


_PACKAGE: Final = "jrh_agentic"


def word_request(task: Task, prompt: Prompt, aim: Aim, variables: Mapping[str, object]) -> tuple[Message, ...]:
    """Return the messages of one request; text of the transcript is never read as a template."""
    entry = task.rubric or task.instruction
    # No text contains its own hash, so that nothing in a transcript can close the tag it is shown in.
    mark = tag_mark(*(str(value) for value in (entry, *variables.values())))
    values = {"task": task, "entry": entry, "aim": _aim_sentence(aim), **variables, "mark": f"-{mark}"}
    system, content = (load_template(_PACKAGE, name) for name in ("system", prompt.value))
    return (Message(role="system", content=system), Message(role="user", content=render(content, values)))


def _aim_sentence(aim: Aim) -> str:
    return aim.words if aim.label is None else f"{aim.words}: a careful judge answers {aim.label}"


T = TypeVar("T")


class Role(Enum):
    """Who is asked."""

    PLANNER = "planner"
    EDITOR = "editor"
    SUMMARIZER = "summarizer"
    VERIFIER = "verifier"


@frozen
class NoPlan(Unusable):
    """Why a reply holds no plan that can be carried out."""

    dropped: tuple[Json, ...] = ()
    """The message that each dropped step named, and why it was dropped, for the provenance."""


_REFUSAL: Final = "the model refused"
"""What the kernel calls a refusal, whether the status, the provider's filter or the words say it."""
REFUSED: Final = Unusable("refused")
FAILED: Final = Unusable(PROVIDER_ERROR)
NO_JSON: Final = Unusable("no JSON in the reply")
# Bounds the work of searching a reply for JSON.
_LONGEST_REPLY: Final = 400_000


@define
class Journal:
    """What was asked for one transcript, in order."""

    calls: list[dict[str, Json]] = Factory(list)

    def note(self, role: Role, request: ChatRequest, reply: Reply, outcome: str) -> None:
        """Add a call; `outcome` is empty where its reply was used."""
        self.calls.append(
            {
                "role": role.value,
                # An id and a length in place of the prompt, which repeats the transcript at every call.
                "prompt": content_id([message.content for message in request.messages])[:16],
                "characters": sum(len(message.content) for message in request.messages),
                "seed": request.sampling.seed,
                "status": reply.status.value,
                "rejected": outcome,
                "cost": reply.cost,
                "prompt_tokens": reply.usage.prompt_tokens,
                "completion_tokens": reply.usage.completion_tokens,
            }
        )

    def costs(self) -> dict[str, Json]:
        """Return calls and US dollars by role; the dollars are None where those of any call are unknown."""
        by_role = {role.value: [call["cost"] for call in self.calls if call["role"] == role.value] for role in Role}
        return {role: _total(costs) for role, costs in by_role.items() if costs}


def _total(costs: list[Json]) -> Json:
    # One unknown cost makes the sum unknown: a partial sum would be taken for the price.
    known = [cost for cost in costs if isinstance(cost, (int, float))]
    return {"calls": len(costs), "usd": round(sum(known), 9) if len(known) == len(costs) else None}


@frozen(kw_only=True)
class Roles:
    """The models, and how often each is asked for one thing."""

    clients: Mapping[Role, ModelClient]
    attempts: int
    temperature: float | None
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def ask(
        self,
        role: Role,
        messages: tuple[Message, ...],
        read: Callable[[str], T | Unusable],
        journal: Journal,
        *parts: object,
        schema: Mapping[str, Json] | None = None,
    ) -> T | Unusable:
        """Ask until a reply can be used; a refusal and an unreadable reply are followed by another attempt.

        Args:
            role: who is asked.
            messages: the prompt.
            read: returns what a reply says.
            journal: where every call is noted.
            parts: what the request is for; tells its seeds from those of others.
            schema: the JSON that is asked for.
        """
        outcome: T | Unusable = FAILED
        # Plans and edits may vary; a summary or a verification has nothing to gain from it.
        creative = role in (Role.PLANNER, Role.EDITOR)
        for attempt in range(self.attempts):
            request = ChatRequest(
                messages=messages,
                sampling=Sampling(
                    temperature=self.temperature if creative else 0.0, seed=self.seed(role.value, *parts, attempt)
                ),
                json_schema=schema,
            )
            purpose = "validate" if role is Role.VERIFIER else "generate"
            reply = await self.clients[role].ask(request, repeat=attempt, purpose=purpose)
            outcome = read_reply(reply, read)
            journal.note(role, request, reply, outcome.reason if isinstance(outcome, Unusable) else "")
            # A provider that failed has been asked again by the gateway already.
            if not isinstance(outcome, Unusable) or outcome == FAILED:
                break
        return outcome


def read_reply(reply: Reply, read: Callable[[str], T | Unusable]) -> T | Unusable:
    """Return what a reply says, or why it cannot be used."""
    reason = no_text(reply)
    if reason:
        return REFUSED if reason == _REFUSAL else Unusable(reason)
    if len(reply.text) > _LONGEST_REPLY:
        return Unusable("the reply is too long")
    answer = read(reply.text)
    # A refusal in words has no JSON; what a plan or an edit says is not taken for one.
    return REFUSED if answer == NO_JSON and read_text(reply, original="", shown=()) == Unusable(_REFUSAL) else answer
