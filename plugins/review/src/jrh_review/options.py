"""The section `review` of a suite: which cases people decide about before a judge is asked."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from attrs.validators import ge, gt, le, optional
from jrh import content_id
from jrh.plugins import option
from jrh.text import is_person_name

MOST_REVIEWERS: Final = 20


class Policy(Enum):
    """What a run does with cases that wait for a person's decision."""

    WAIT = "wait"
    """No judge is asked before every case of the queue is decided."""
    DECIDED = "decided"
    """The run goes on with the cases that are decided, and those outside of the queue."""
    OPTIONAL = "optional"
    """Cases without a decision count as they were made."""


class First(Enum):
    """Which cases reviewers see first."""

    RANDOM = "random"
    DISAGREEMENT = "disagreement"
    """Cases that judges answer differently, or unlike the stated label."""


@frozen(kw_only=True)
class LabelsFrom:
    """A file of people's labels."""

    labels_from: Path = option(
        "A file of people's labels, as `jrh label` stores them, relative to the suite: the majority is the "
        "gold label of items without one, and judges are compared with the agreement of people."
    )


@frozen(kw_only=True)
class GoldFrom:
    """A judge whose own grading is the gold label."""

    gold_from: str = option(
        "A judge of the suite: it grades the originals first; its commonest verdict is the gold label "
        "of items without one. Agreement with it is not called accuracy."
    )


@frozen(kw_only=True)
class QueueRequest:
    """Which cases to review."""

    tests: tuple[str, ...] = option("Review cases of these tests. Default: all.", default=())
    sample: int | None = option("Review this many cases, drawn at random. Default: all.", optional(gt(0)), default=None)
    seed: int = option("Seed of the sample.", default=0)
    first: First = option(
        "Cases that come first and are likelier in a sample. disagreement: judges differ, or give another "
        "label than the stated one. It needs verdicts: the first run asks the judges about all cases, and its end "
        "makes the queue.",
        default=First.RANDOM,
    )

    @property
    def id(self) -> str:
        """Return an id of what is asked for."""
        return content_id(list(self.tests), self.sample, self.seed, self.first.value)

    @property
    def at_once(self) -> bool:
        """Return whether the queue is drawn from all cases rather than filled while they are made."""
        return self.sample is not None or self.first is not First.RANDOM


@frozen(kw_only=True)
class Review(QueueRequest):
    """Which cases people decide about before a judge is asked."""

    reviewers: int = option(
        "How many people decide about each case; if they differ, a further decision settles it.",
        ge(1),
        le(MOST_REVIEWERS),
        default=1,
    )
    names: tuple[str, ...] = option("The reviewers' names. Default: `reviewer 1`, `reviewer 2` and so on.", default=())
    policy: Policy = option(
        "wait: ask no judge before every queued case is decided. decided: leave out undecided cases. "
        "optional: judge undecided cases as they are.",
        default=Policy.WAIT,
    )

    @property
    def people(self) -> tuple[str, ...]:
        """Return the reviewers' names."""
        return self.names or tuple(f"reviewer {number + 1}" for number in range(self.reviewers))

    def check_suite(self, suite: Any, plugins: object) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield what is wrong in this suite, each with its place."""
        known = [use.name for use in suite.tests]
        for place, name in enumerate(self.tests):
            if name not in known:
                yield ("tests", place), f"the suite has no test '{name}'\nIt has: {', '.join(known)}."
        if self.names and (len(set(self.names)) != len(self.names) or len(self.names) < self.reviewers):
            yield ("names",), f"give at least {self.reviewers} names, all different, or none"
        for place, name in enumerate(self.names):
            if not is_person_name(name):
                yield ("names", place), "a name has 1 to 80 visible characters"
