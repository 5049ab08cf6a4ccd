"""Ask a model until its answer can be read, or the text that it writes can be used, and record the attempts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, Generic, TypeVar

from attrs import field, frozen
from attrs.validators import ge
from jrh import ChatRequest, Draft, Expectation, Json, Message, ModelClient, Reply, Same, Sampling, Skip, Status

from jrh_authoring.structured import object_schema
from jrh_authoring.texts import PROVIDER_ERROR, Unusable, Written, no_text, read_text
from jrh_authoring.wording import length_ratio

_SAME: Final = Same()


def text_schema(key: str = "text") -> Mapping[str, Json]:
    """Return the JSON schema of a reply with a single text under a key."""
    return object_schema({key: {"type": "string"}})


@frozen(kw_only=True)
class Attempt:
    """One request for a text."""

    seed: int
    status: Status
    """Status of the reply."""
    rejected: str
    """Why its text is not used; empty if it is used."""


@frozen(kw_only=True)
class Generated:
    """The result of all attempts at one text."""

    original: str
    written: Written | None
    """None if no attempt gave a usable text."""
    attempts: tuple[Attempt, ...]

    @property
    def reason(self) -> str:
        """Return why the last attempt failed; empty if it succeeded."""
        return self.attempts[-1].rejected

    @property
    def details(self) -> dict[str, Json]:
        """Return the details for a draft's provenance."""
        rejected: list[Json] = [attempt.rejected for attempt in self.attempts if attempt.rejected]
        details: dict[str, Json] = {"attempts": len(self.attempts), "rejected": rejected}
        if self.written is None:
            return details
        last = self.attempts[-1]
        ratio = length_ratio(self.original, self.written.text)
        return details | {"seed": last.seed, "status": last.status.value, "length_ratio": ratio}


@frozen(kw_only=True)
class TextWriter:
    """Have a model rewrite texts. Every attempt is a separate repeat with its own seed."""

    client: ModelClient
    temperature: float | None
    """None: the model's temperature in the suite."""
    attempts: int = field(validator=ge(1))
    shown: tuple[str, ...] = ()
    """Texts that are never accepted as a result: the task's rubric and instruction."""
    key: str = "text"
    """The key of the text in the reply's JSON object."""
    schema: Mapping[str, Json] | None = None
    """The JSON schema of the reply; None: an object with only the text."""

    async def write(
        self,
        messages: Sequence[Message],
        original: str,
        *,
        seed: Callable[[int], int],
        rejection: Callable[[str], Awaitable[str]] | None = None,
        shown: Collection[str] = (),
    ) -> Generated:
        """Ask until a text is usable, at most `attempts` times. A provider failure ends the attempts.

        Args:
            messages: the request.
            original: the text to start from.
            seed: maps the 0-based number of the attempt to its seed.
            rejection: returns why a readable text is still not used; empty to accept it.
            shown: further texts that are never accepted as a result.
        """
        attempts: list[Attempt] = []
        result: Written | Unusable = Unusable(PROVIDER_ERROR)
        for number in range(self.attempts):
            request = ChatRequest(
                messages=tuple(messages),
                sampling=Sampling(temperature=self.temperature, seed=seed(number)),
                json_schema=self.schema or text_schema(self.key),
            )
            # The attempt is the repeat: otherwise the cache would answer the second attempt with the first reply.
            reply = await self.client.ask(request, repeat=number, purpose="generate")
            result = read_text(reply, original, (*self.shown, *shown), key=self.key)
            if isinstance(result, Written) and rejection is not None:
                reason = await rejection(result.text)
                result = Unusable(reason) if reason else result
            rejected = result.reason if isinstance(result, Unusable) else ""
            attempts.append(Attempt(seed=seed(number), status=reply.status, rejected=rejected))
            # The gateway has retried a provider failure already; other rejections may pass with the next seed.
            if rejected in ("", PROVIDER_ERROR):
                break
        written = result if isinstance(result, Written) else None
        return Generated(original=original, written=written, attempts=tuple(attempts))

    def outcome(
        self,
        generated: Mapping[str, Generated],
        *,
        variant: str,
        expectation: Expectation | None = _SAME,
        details: Mapping[str, Json] | None = None,
    ) -> Draft | Skip:
        """Return a draft with the texts of all fields, or a skip with the first reason why one is missing.

        Args:
            generated: field -> what came of asking for its text.
            variant: of the draft or the skip.
            expectation: of the draft.
            details: further provenance.
        """
        # Also on a skip: what was rejected, and why, is what a reader needs to mend the prompt.
        history: dict[str, Json] = {
            **(details or {}),
            "model": self.client.fingerprint,
            "temperature": self.temperature,
            "fields": {name: result.details for name, result in generated.items()},
        }
        fields: dict[str, Json] = {}
        for name, result in generated.items():
            if result.written is None:
                return Skip(reason=result.reason, variant=variant, details=history)
            fields[name] = result.written.text
        return Draft(
            variant=variant, fields=fields, expectation=expectation, model=self.client.fingerprint, details=history
        )


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
        # A cut or refused reply may still contain something that parses; it is no answer.
        value = read(reply) if reply.ok else None
        if value is not None:
            return Answer(value=value, attempts=attempt + 1, fingerprint=client.fingerprint)
        reason = no_text(reply) or _NOT_READ
        if reason == PROVIDER_ERROR:
            break
    return Answer(value=None, reason=reason, attempts=attempt + 1, fingerprint=client.fingerprint)
