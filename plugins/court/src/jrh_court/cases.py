"""The cases of a court and their rulings: light to import, as every run asks the stage of corrected labels.

The docket's work with arrays and files is in `docket`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

from attrs import Factory, frozen
from jrh import Item, Task, content_id

_VERSION: Final = 1

Limits: TypeAlias = tuple[float, float, float]
"""A share, and the limits of its interval."""


class Ruling(Enum):
    """What a referee says of the two verdicts of a case; the values are the labels of the court's suite."""

    FIRST = "only verdict 1"
    SECOND = "only verdict 2"
    BOTH = "both defensible"
    NEITHER = "neither"
    SILENT = "the rubric does not say"


@frozen(kw_only=True)
class CourtCase:
    """One item that is ruled on."""

    id: str
    """Says nothing of the item."""
    item: str
    cluster: str
    judge: str
    """The judge's commonest verdict."""
    label: str
    """The label of people."""
    shown: tuple[str, str]
    content: str
    """Digest of the item's texts."""

    @property
    def pair(self) -> tuple[str, str]:
        """Return the label of people and that of the judge."""
        return self.label, self.judge

    @property
    def agrees(self) -> bool:
        """Return whether the judge gave the label of people."""
        return self.judge == self.label

    def defensible(self, ruling: Ruling) -> tuple[str, ...] | None:
        """Return the labels that a ruling leaves standing; None: the rubric does not say."""
        right: Mapping[Ruling, tuple[str, ...] | None] = {
            Ruling.FIRST: self.shown[:1],
            Ruling.SECOND: self.shown[1:],
            Ruling.BOTH: self.shown,
            Ruling.NEITHER: (),
            Ruling.SILENT: None,
        }
        return right[ruling]


@frozen(kw_only=True)
class Docket:
    """The cases of a court, and what they were drawn from."""

    version: int = _VERSION
    run: str
    run_id: str
    judge: str
    task: str
    seed: int
    simulated: bool
    agreements: int
    """Items on which the judge gives the label of people."""
    disagreements: int
    clusters: int
    differ: Limits
    """The share of disagreements among these items, and the limits of its interval."""
    level: float
    left_out: Mapping[str, int] = Factory(dict)
    """Why items are not among them -> items."""
    notes: tuple[str, ...] = ()
    """What else they rest on, a sentence each."""
    cases: tuple[CourtCase, ...]
    question: str = ""
    """Digest of instruction, rubric and scale."""
    digest: str = ""
    """Of all this, and of the cases as referees see them."""

    @property
    def items(self) -> int:
        """Return the number of items with a verdict and a label."""
        return self.agreements + self.disagreements

    def drawn(self, *, agreeing: bool) -> int:
        """Return how many cases were drawn from the items on which judge and people agree, or from the others."""
        return sum(case.agrees is agreeing for case in self.cases)


def question_of(task: Task) -> str:
    """Return the digest of what is asked: a ruling on another question says nothing of this one."""
    return content_id("court", task.instruction, task.rubric, list(task.scale.labels))


def content_of(item: Item) -> str:
    """Return the digest of an item's texts: a ruling on other texts says nothing of it."""
    return content_id("court", item.fields)
