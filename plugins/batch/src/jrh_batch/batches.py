"""What is known of a batch, and what a provider's protocol has to do with it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from attrs import Factory, asdict, frozen
from jrh import ChatRequest
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Completion


@frozen(kw_only=True)
class Batch:
    """Calls that are submitted together."""

    name: str
    """jrh's own name of it, which no other batch has."""
    calls: tuple[str, ...]
    """The ids of the calls, in the order of the lines."""
    noted: float
    """When it was noted last, in seconds since 1970: it was submitted after this, if at all."""
    file: str = ""
    """The provider's id of the uploaded requests; empty if there is none yet, or none at this provider."""
    id: str = ""
    """The provider's id of the batch; empty while it is not known."""

    def to_text(self) -> str:
        """Write the batch down."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Batch:
        """Read a batch that was written down."""
        found = json.loads(text)
        return cls(**{**found, "calls": tuple(found["calls"])})


@frozen(kw_only=True)
class Refusal:
    """Why a provider did no work on a batch."""

    text: str
    queue_full: bool = False
    """Too many tokens are waiting already; the same batch is accepted later."""
    lines: Mapping[int, ModelFault] = Factory(dict)
    """Place of a line, from 0 -> what is wrong with it; empty: the batch is refused as a whole."""
    fault: ModelFault = Factory(lambda self: ModelFault(FaultKind.REJECTED, self.text), takes_self=True)
    """What every call gets where no line is named."""


@frozen(kw_only=True)
class Look:
    """The state of a batch."""

    ended: bool = False
    refusal: Refusal | None = None
    files: tuple[str, ...] = ()
    """The provider's ids of the files with results, answers before errors."""
    missing: ModelFault = ModelFault(FaultKind.MALFORMED, "the batch has ended without a result for this request")
    """What calls without a result get."""


class Dialect(Protocol):
    """One provider's protocol."""

    max_requests: int
    max_bytes: int

    def line(self, call: str, request: ChatRequest) -> bytes:
        """Write one request; raise `ModelFault` if the provider cannot be asked this."""

    async def upload(self, batch: Batch, lines: Sequence[bytes]) -> str:
        """Upload the requests and return the file's id; the empty text where the protocol has no files."""

    async def create(self, batch: Batch, lines: Sequence[bytes]) -> str:
        """Submit the batch, sending once, and return its id."""

    async def find(self, batch: Batch, taken: Collection[str]) -> str:
        """Return the id of a batch that may have been submitted; the empty text if it was not.

        Args:
            batch: what was noted of it.
            taken: ids of other batches of this run.

        Raises:
            ModelFault: the provider does not tell.
            StillPendingError: a batch that is still being worked on may be this one.
        """

    async def look(self, batch: Batch) -> Look:
        """Return the state of a batch."""

    def results(self, batch: Batch, look: Look) -> AsyncIterator[tuple[str, Completion | ModelFault]]:
        """Yield the results of a batch that has ended, by the id of the call."""

    async def aclose(self) -> None:
        """Close connections."""
