"""A model that sends nothing, for building components before a run, for a plan or for a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from jrh.errors import PluginError
from jrh.models.client import as_sent, fingerprint_of
from jrh.plugins.protocols import ChatModel, ChatRequest
from jrh.suite.definition import ModelUse
from jrh.values.verdicts import Reply

Answer: TypeAlias = Callable[[ModelUse, ChatModel, ChatRequest, int], Reply]
"""Answers a request, with the suite's sampling filled in, and its repeat, without sending it."""


@frozen
class StandIn:
    """A model (`jrh.ModelClient`) with the name and fingerprint of the real one that sends nothing."""

    use: ModelUse
    model: ChatModel
    answer: Answer | None = None
    """None: asking raises an error."""

    @property
    def name(self) -> str:
        """Return the suite's name of the model."""
        return self.use.name

    @property
    def fingerprint(self) -> str:
        """Return the identity of the model, including the sampling set in the suite."""
        return fingerprint_of(self.use, self.model)

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:  # noqa: ARG002
        """Answer with the function; without one raise, because factories must not ask models."""
        if self.answer is None:
            raise PluginError(f"model '{self.name}' was asked before the run began")
        return self.answer(self.use, self.model, as_sent(request, self.use), repeat)
