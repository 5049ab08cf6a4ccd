"""What the replies of one model have used: the estimate of a call that no longer fits the budget at its worst case."""

from __future__ import annotations

import math
from typing import Final

from attrs import define, evolve

from jrh.models.ledger import cost_of, longest_reply, prompt_tokens_at_most
from jrh.plugins.protocols import ChatRequest, Rates
from jrh.values.verdicts import Reply

ENOUGH: Final = 5
"""Replies after which their use says something about the next one."""
PROMPT_MARGIN: Final = 1.1
"""Tokens per byte of the next prompt, relative to the most seen."""
REPLY_MARGIN: Final = 1.25
"""Length that a reply must be given, relative to the longest seen."""


@define
class SeenUsage:
    """The most that replies of one model have used."""

    replies: int = 0
    longest: int = 0
    """Tokens of the longest reply."""
    per_byte: float = 0.0
    """Most tokens of a prompt per byte of its upper bound."""
    dearer: float = 1.0
    """Highest cost of a reply relative to what its tokens cost by the prices, where the provider states costs."""

    def note(self, request: ChatRequest, reply: Reply, rates: Rates | None) -> None:
        """Take a reply into account that says what it used."""
        prompt, completion = reply.usage.prompt_tokens, reply.usage.completion_tokens
        if prompt is not None and completion is not None:
            self.replies += 1
            self.longest = max(self.longest, completion)
            self.per_byte = max(self.per_byte, prompt / prompt_tokens_at_most(request))
            priced = cost_of(reply.usage, rates)
            if priced and reply.cost is not None:
                self.dearer = max(self.dearer, reply.cost / priced)

    def narrowed(self, request: ChatRequest, rates: Rates, room: float) -> tuple[ChatRequest, float] | None:
        """Return the request with a limit on its reply that keeps it within `room`, and its cost at most.

        None if too little has been seen, or if a reply as long as the longest one would not fit.
        """
        longest = longest_reply(request, rates)
        if self.replies < ENOUGH or longest is None:
            return None
        room /= self.dearer
        bound = prompt_tokens_at_most(request)
        prompt = min(bound, math.ceil(bound * self.per_byte * PROMPT_MARGIN)) * rates.input
        tokens = longest if rates.output <= 0.0 else min(longest, math.floor((room - prompt) / rates.output))
        if prompt > room or tokens < min(longest, math.ceil(self.longest * REPLY_MARGIN)):
            return None
        narrow = evolve(request, sampling=evolve(request.sampling, max_tokens=tokens))
        return narrow if tokens < longest else request, (prompt + tokens * rates.output) * self.dearer
