"""A question to a model, asked again until its answer can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from attrs import frozen

from jrh.authoring.texts import PROVIDER_ERROR, no_text
from jrh.plugins.protocols import ChatRequest, ModelClient
from jrh.values.types import Json, Reply

T = TypeVar("T")

_NOT_READ: Final = "no answer in the reply"


@frozen(kw_only=True)
class Answer(Generic[T]):
    """What could be read, or why nothing could."""

    value: T | None
    reason: str = ""
    """Of the last attempt; the same words for all replies of its kind."""
    attempts: int
    fingerprint: str

    @property
    def details(self) -> dict[str, Json]:
        """Return what the draft's provenance keeps of it."""
        return {"model": self.fingerprint, "attempts": self.attempts}


async def ask_until_read(
    client: ModelClient, request: ChatRequest, read: Callable[[Reply], T | None], attempts: int
) -> Answer[T]:
    """Ask as a validator until an answer can be read, at most so often; every attempt is a repeat of its own.

    A provider that fails is not asked again here: the gateway has already tried.

    Args:
        client: the model.
        request: what is asked, the same each time.
        read: from a reply with text to its answer; None where there is none.
        attempts: at most; 1 or more.
    """
    reason, attempt = _NOT_READ, 0
    for attempt in range(attempts):
        reply = await client.ask(request, repeat=attempt, purpose="validate")
        value = read(reply) if reply.ok else None
        if value is not None:
            return Answer(value=value, attempts=attempt + 1, fingerprint=client.fingerprint)
        reason = no_text(reply) or _NOT_READ
        if reason == PROVIDER_ERROR:
            break
    return Answer(value=None, reason=reason, attempts=attempt + 1, fingerprint=client.fingerprint)
