"""Define a row of the list of cases: one case as one judge judged it, all repeats together."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from attrs import field, frozen
from attrs.validators import in_


class CaseRow(NamedTuple):
    """One case and judge. Scores are means over the repeats that have one; None where none has."""

    position: int
    """Place in the plan of its first trial; names the row."""
    task: str
    test: str
    variant: str
    stratum: str
    judge: str
    item_id: str
    case_id: str
    gold: str
    """Empty: unlabelled."""
    trials: int
    verdict: str
    """The commonest canonical label; empty: no verdict."""
    verdicts: str
    """Every label with its count, such as `4x YES, 1x NO`."""
    missing: int
    """Trials without a verdict."""
    status: str
    """The commonest status of those; empty: none."""
    moved: float | None
    """Share of reference verdicts of the same judge and item that a verdict differs from."""
    right: float | None
    """Share of verdicts equal to the right label, where one is stated."""
    expected: float | None
    """Share of verdicts that meet the expectation."""


class CaseOrder(Enum):
    """What the list can be sorted by."""

    PLAN = "plan"
    ITEM = "item"
    JUDGE = "judge"
    TEST = "test"
    VERDICT = "verdict"
    MOVED = "moved"
    RIGHT = "right"
    EXPECTED = "expected"


YES_NO = ("", "yes", "no")


@frozen(kw_only=True)
class CaseFilter:
    """Which rows are listed; an empty field filters nothing."""

    task: str = ""
    test: str = ""
    judge: str = ""
    variant: str = ""
    stratum: str = ""
    item_id: str = ""
    status: str = ""
    """A status of a missing verdict; `missing`: any of them."""
    moved: str = field(default="", validator=in_(YES_NO))
    """Whether the verdict differs from more than half of its reference verdicts."""
    right: str = field(default="", validator=in_(YES_NO))
    """Whether more than half of the verdicts equal the right label."""
    expected: str = field(default="", validator=in_(YES_NO))
    """Whether more than half of the verdicts meet the expectation."""
    search: str = ""
    """Text that the item's id or the case's texts contain."""
    rationale: str = ""
    """Text that a rationale contains."""


class CaseChoices(NamedTuple):
    """What a list can be filtered by: the values that occur."""

    judges: tuple[str, ...]
    tests: tuple[str, ...]
    variants: tuple[str, ...]
    strata: tuple[str, ...]
    statuses: tuple[str, ...]


class CaseRecord(NamedTuple):
    """One trial of a case, with its verdict."""

    trial_id: str
    judge: str
    repeat: int
    status: str
    presented: str | None
    canonical: str | None
    rationale: str
    detail: str
    probability: float | None
    cost: float | None
