"""How far the voters of a validator agree, from the votes that its validations report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from jrh.store.cases_table import VOTES
from jrh.store.run_store import Store
from jrh.values.measures import Interval
from jrh.values.report import Agreement
from jrh_stats import krippendorff_alpha

PREFIX: Final = "validator:"
"""In a draft's details, what a validator said stands under this and the validator's name."""
_PAIR: Final = 2

Ballot: TypeAlias = tuple[str, Mapping[str, Any]]
"""An item's cluster, and voter -> vote on one draft of it; None is a vote that was not cast."""


def agreements(store: Store, task: str, test: str, level: float) -> tuple[Agreement, ...]:
    """Measure the agreement on all drafts of a test, accepted and rejected, for every validator that reports votes."""
    ballots: dict[str, list[Ballot]] = {}
    for cluster, details in store.cases.voted(task, test):
        for name, said in details.items():
            votes = said.get(VOTES) if name.startswith(PREFIX) and isinstance(said, dict) else None
            if isinstance(votes, dict):
                ballots.setdefault(name.removeprefix(PREFIX), []).append((cluster, votes))
    return tuple(measured(name, cast, level) for name, cast in ballots.items())


def measured(validator: str, ballots: Sequence[Ballot], level: float) -> Agreement:
    """Estimate Krippendorff's alpha for nominal votes, drafts of items of one cluster being one.

    Args:
        validator: the suite's name for it.
        ballots: one per draft.
        level: coverage of the interval.
    """
    cast = [[json.dumps(vote) for vote in votes.values() if vote is not None] for _, votes in ballots]
    kinds = sorted({vote for votes in cast for vote in votes})
    clusters = {name: place for place, name in enumerate(dict.fromkeys(name for name, _ in ballots))}
    found = krippendorff_alpha(
        [[votes.count(kind) for kind in kinds] or [0] for votes in cast],
        clusters=[clusters[name] for name, _ in ballots],
        level=level,
    )
    interval = None
    if found.low is not None and found.high is not None:
        interval = Interval(low=found.low, high=found.high, level=level, method=found.method)
    return Agreement(
        validator=validator,
        estimate=found.value,
        interval=interval,
        drafts=len(ballots),
        comparable=sum(len(votes) >= _PAIR for votes in cast),
        voters=len({voter for _, votes in ballots for voter in votes}),
        missing=sum(len(votes) for _, votes in ballots) - sum(map(len, cast)),
        flags=found.flags,
    )
