"""Simulate a chat model whose replies are determined by the messages and a seed."""

from __future__ import annotations

import asyncio
from typing import Final

from jrh import BuildContext, ChatRequest, Usage, content_id
from jrh.plugins import Completion, Rates

from jrh_simulated.answers import MARK, Draws, pick
from jrh_simulated.options import ModelOptions, ReplyMode

GARBAGE: Final = f"{MARK} ..."
"""A reply that no parser can read a decision from."""

_CHARACTERS_PER_TOKEN: Final = 4


class MadeUpModel:
    """A free chat model without intelligence: the same messages and sampling seed give the same reply."""

    # Free, so that budgets and plans can be tried without a price.
    rates = Rates(input=0.0, output=0.0)

    def __init__(self, options: ModelOptions, *, seed: int) -> None:
        """Keep the options and the seed of all draws."""
        self._options = options
        self._draws = Draws(seed)
        # Of the options that affect replies; latency does not.
        digest = content_id(seed, list(options.labels), list(options.script), options.refusals, options.garbage)[:12]
        self.fingerprint = f"simulated/{options.mode.value}/{digest}"

    @classmethod
    def build(cls, options: ModelOptions, context: BuildContext) -> MadeUpModel:
        """Build the model with a seed of the run."""
        return cls(options, seed=context.seed("simulated-model"))

    async def complete(self, request: ChatRequest) -> Completion:
        """Return a made-up reply after the planted latency."""
        options = self._options
        parts = [part for message in request.messages for part in (message.role, message.content)]
        # The sampling seed is part of the draw: repeats get other replies.
        fate, choice, late, _ = self._draws.uniforms("reply", str(request.sampling.seed), *parts)
        latency = options.latency + options.jitter * late
        if latency:
            await asyncio.sleep(latency)
        usage = _usage(parts)
        if fate < options.refusals:
            return Completion(
                text=None, finish_reason="stop", refusal=f"{MARK} refused", usage=usage, model_version=self.fingerprint
            )
        garbage = fate < options.refusals + options.garbage
        text = GARBAGE if garbage else self._text(request, choice)
        return Completion(text=text, finish_reason="stop", usage=usage, model_version=self.fingerprint)

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""

    def _text(self, request: ChatRequest, choice: float) -> str:
        if self._options.mode is ReplyMode.ECHO:
            return request.messages[-1].content if request.messages else ""
        return pick(choice, self._options.labels if self._options.mode is ReplyMode.LABEL else self._options.script)


def _usage(parts: list[str]) -> Usage:
    """Return made-up token counts of a plausible size, so that budgets and estimates can be tried out."""
    return Usage(prompt_tokens=1 + sum(map(len, parts)) // _CHARACTERS_PER_TOKEN, completion_tokens=8)
