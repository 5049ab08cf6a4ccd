"""Ask a model until its answer can be parsed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from attrs import frozen
from jrh.plugins.protocols import ChatRequest, ModelClient
from jrh.values.json_values import Json
from jrh.values.verdicts import Reply

from jrh_authoring.texts import PROVIDER_ERROR, no_text

T = TypeVar("T")

_NOT_READ: Final = "no answer in the reply"


@frozen(kw_only=True)
class Answer(Generic[T]):
    """The parsed answer, or the reason why there is none."""

    value: T | None
    reason: str = ""
    """Reason of the last failed attempt, in the same words for all failures of its kind."""
    attempts: int
    fingerprint: str

    @property
    def details(self) -> dict[str, Json]:
        """Return the details for the draft's provenance."""
        return {"model": self.fingerprint, "attempts": self.attempts}


async def ask_until_read(
    client: ModelClient, request: ChatRequest, read: Callable[[Reply], T | None], attempts: int
) -> Answer[T]:
    """Ask, as a validator, until an answer can be parsed. Every attempt is a separate repeat.

    Stops at a provider failure, because the gateway has already retried.

    Args:
        client: the model.
        request: the request, the same for each attempt.
        read: parses a reply with text; returns None if it contains no answer.
        attempts: maximum number of attempts, at least 1.
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
