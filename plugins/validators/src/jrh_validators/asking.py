"""Ask a validator's model, so often at most, until an answer can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final, Generic, TypeVar

from attrs import frozen
from jrh import ChatRequest, Json, ModelClient, Reply, Status, Validation

T = TypeVar("T")

_REASONS: Final = {
    Status.REFUSED: "the model refused",
    Status.TRUNCATED: "the reply was cut",
    Status.TIMEOUT: "provider error",
    Status.PROVIDER_ERROR: "provider error",
}
_NOT_READ: Final = "no answer in the reply"


@frozen(kw_only=True)
class Answer(Generic[T]):
    """What could be read, or why nothing could."""

    value: T | None
    reason: str = ""
    attempts: int
    fingerprint: str

    @property
    def details(self) -> dict[str, Json]:
        """Return what the draft's provenance keeps of it."""
        return {"model": self.fingerprint, "attempts": self.attempts}


async def ask(client: ModelClient, request: ChatRequest, read: Callable[[Reply], T | None], attempts: int) -> Answer[T]:
    """Ask until `read` finds an answer, at most so often; every attempt is a repeat of its own.

    A provider that fails is not asked again here: the gateway has already tried.
    """
    reason, attempt = _NOT_READ, 0
    for attempt in range(attempts):
        reply = await client.ask(request, repeat=attempt, purpose="validate")
        value = read(reply) if reply.ok else None
        if value is not None:
            return Answer(value=value, attempts=attempt + 1, fingerprint=client.fingerprint)
        reason = _NOT_READ if reply.ok else _REASONS.get(reply.status, _NOT_READ)
        if reason == _REASONS[Status.PROVIDER_ERROR]:
            break
    return Answer(value=None, reason=reason, attempts=attempt + 1, fingerprint=client.fingerprint)


def undecided(reason: str, details: Mapping[str, Json]) -> Validation:
    """Reject because there is no decision; a vote counts it as not cast."""
    return Validation(accepted=False, reason=reason, details={**details, "undecided": True})


@lru_cache
def packaged(name: str) -> str:
    """Return a prompt template that comes with the package, without its last line break."""
    return files("jrh_validators").joinpath("prompts", f"{name}.j2").read_text(encoding="utf-8").removesuffix("\n")
