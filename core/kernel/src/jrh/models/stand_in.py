"""What components are built with where no model may be asked: before a run, for its plan, for a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from jrh.errors import PluginError
from jrh.models.client import fingerprint_of, with_defaults
from jrh.plugins.protocols import ChatModel, ChatRequest
from jrh.suite.definition import ModelUse
from jrh.values.types import Reply

Answer: TypeAlias = Callable[[ModelUse, ChatModel, ChatRequest], Reply]
"""Answers a request, its sampling filled in, without sending it."""


@frozen
class StandIn:
    """A model (`jrh.ModelClient`) with the name and fingerprint of the real one, which sends nothing."""

    use: ModelUse
    model: ChatModel
    answer: Answer | None = None
    """None: whoever asks is told that this is not the time to."""

    @property
    def name(self) -> str:
        """Return the suite's name of the model."""
        return self.use.name

    @property
    def fingerprint(self) -> str:
        """Return what would answer."""
        return fingerprint_of(self.use, self.model)

    async def ask(self, request: ChatRequest, *, repeat: int = 0, purpose: str = "") -> Reply:  # noqa: ARG002
        """Let the function answer, or refuse: a factory declares and asks nothing."""
        if self.answer is None:
            raise PluginError(f"model '{self.name}' was asked before the run began")
        return self.answer(self.use, self.model, with_defaults(request, self.use.sampling))
