"""What a run cost: one sum over all its replies."""

from __future__ import annotations

import math
from collections.abc import Iterable

from attrs import frozen

from jrh.values.report import CostLine, SpendLine


@frozen(kw_only=True)
class SpendTotal:
    """A sum of spending."""

    cost: float
    """US dollars, for the replies of known price."""
    unknown: int
    """Number of replies of unknown price."""
    replies: int
    prompt_tokens: int
    completion_tokens: int
    tokens_unknown: int
    """Number of replies without a token count."""


def total_spending(lines: Iterable[SpendLine]) -> SpendTotal:
    """Add up spending: the only sum of costs that an output may call the run's."""
    some = tuple(lines)
    return SpendTotal(
        cost=round(math.fsum(line.cost for line in some), 12),
        unknown=sum(line.unknown for line in some),
        replies=sum(line.replies for line in some),
        prompt_tokens=sum(line.prompt_tokens for line in some),
        completion_tokens=sum(line.completion_tokens for line in some),
        tokens_unknown=sum(line.tokens_unknown for line in some),
    )


def spending_of(line: CostLine) -> SpendLine:
    """Return the cost of a judge's verdicts as spending, where nothing is known of the calls, as in a log."""
    return SpendLine(
        role="judge",
        name=line.judge,
        model="",
        task=line.task,
        test=line.test,
        replies=line.trials,
        cost=line.cost,
        unknown=line.unknown,
        prompt_tokens=line.prompt_tokens,
        completion_tokens=line.completion_tokens,
        tokens_unknown=line.tokens_unknown,
    )
