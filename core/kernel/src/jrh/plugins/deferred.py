"""Define models that answer hours later: their calls survive a kill of the process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from jrh.plugins.protocols import ChatModel, ChatRequest, Completion


class ModelNotes(Protocol):
    """Keep texts of a model in the run directory, such as the ids of its batches. They survive a kill."""

    def read(self) -> Mapping[str, str]:
        """Return all notes by name."""

    async def write(self, name: str, text: str) -> None:
        """Write a note; it is durable when this returns. An empty text deletes it. Secrets are masked."""


@runtime_checkable
class DeferredModel(ChatModel, Protocol):
    """Answer requests hours later, as batch APIs do (`ModelSpec(deferred=True)`).

    A call has an id, which jrh writes down before it hands the call over. After a kill, jrh hands the same call over
    with the same id, and the model has to find out whether the provider has it already.
    """

    @property
    def price_factor(self) -> float:
        """Return the share of the suite's price that a call costs: 0.5 for half price."""

    @property
    def at_once(self) -> int:
        """Return the largest number of calls that wait for their answers together."""

    def attach(self, notes: ModelNotes, *, wait: bool) -> None:
        """Take the notes of earlier processes; called once, before the first call.

        Args:
            notes: what earlier processes noted, and where to note more.
            wait: whether to wait for answers; otherwise calls end in `StillPendingError` once the provider has them.
        """

    async def complete_call(self, call: str, request: ChatRequest) -> Completion:
        """Hand a call over, unless the provider has it already, and wait for the answer.

        There is no time limit. A call that ends in `ModelFault` is over; jrh may ask again under another id.

        Args:
            call: the id of the call, at most 64 letters, digits and hyphens.
            request: the request.

        Raises:
            ModelFault: the provider has answered with an error, or will never answer.
            StillPendingError: the provider has the call, or may have it, and this process does not wait any longer.
        """

    def leave(self) -> None:
        """End all waiting calls in `StillPendingError`: the run stops."""
