"""Define what a report says of the decisions that people made about cases."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from jrh.values.measures import Interval


@frozen(kw_only=True)
class ReviewEstimate:
    """A share or an agreement, with its interval."""

    estimate: float | None
    """None: not estimable; `why` says so."""
    interval: Interval | None = None
    """Clustered by item."""
    n: int
    """Number of cases it rests on."""
    why: str = ""


@frozen(kw_only=True)
class ReviewedTest:
    """What people decided about the cases of one test."""

    task: str
    test: str
    queued: int
    decided: int
    """Cases with a decision that counts."""
    counts: Mapping[str, int]
    """`accept`, `edit`, `reject` -> number of decided cases."""
    shares: Mapping[str, ReviewEstimate]
    """The same as shares, weighted by the inverse of the chance to be in the queue."""
    conflicts: int
    weighted: bool
    """Whether the cases came into the queue with different chances."""


@frozen(kw_only=True)
class ReviewersAgree:
    """How far people agree about cases that they decided without seeing each other's decisions."""

    who: str
    """The two names, or `all`."""
    coefficient: str
    """`cohen-kappa` or `krippendorff-alpha`."""
    agreement: ReviewEstimate


@frozen(kw_only=True)
class ValidatorCheck:
    """One validator's answers against the decisions of people, over the cases of one test that people decided."""

    task: str
    test: str
    validator: str
    precision: ReviewEstimate
    """Share of the cases that the validator accepted which people accepted as they were."""
    recall: ReviewEstimate
    """Share of the cases that people accepted which the validator accepted."""


@frozen(kw_only=True)
class ReviewEffect:
    """The share of verdicts as expected with and without the decisions of people."""

    judge: str
    task: str
    test: str
    counted: ReviewEstimate
    """As the report has it: without rejected cases, with edited ones as edited. `n` counts verdicts."""
    made: ReviewEstimate
    """With all cases as they were made."""


@frozen(kw_only=True)
class ReviewReport:
    """The decisions that count in a run, and their statistics."""

    tests: tuple[ReviewedTest, ...]
    agreement: tuple[ReviewersAgree, ...]
    validators: tuple[ValidatorCheck, ...]
    effects: tuple[ReviewEffect, ...]
    outside: int
    """Cases that people rejected or edited and that are not in the queue (any more): these decisions count, too."""
    later: int
    """Decisions since the last `jrh run`; they count from the next one on."""
