"""What people decide about cases, and what their decisions about one case amount to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import combinations
from typing import Final, NamedTuple

from attrs import Factory, frozen
from jrh import Changes, Equals, Expectation, JrhError, NotAbove, NotBelow, Same


class StaleError(JrhError):
    """Report a decision or a label that was made without knowing of a later one. Reload the page."""


class ReviewAction(Enum):
    """What a reviewer did with a case."""

    ACCEPT = "accept"
    EDIT = "edit"
    """The text or the expected label was changed: the case as it was made is not accepted."""
    REJECT = "reject"
    SKIP = "skip"
    UNDO = "undo"
    """Takes the reviewer's last decision about the case back."""


DECIDING: Final = (ReviewAction.ACCEPT, ReviewAction.EDIT, ReviewAction.REJECT)
"""Actions that decide about a case; their places are their codes in statistics."""
_EXPECTATIONS: Final[Mapping[str, type[Same | Changes | NotAbove | NotBelow]]] = {
    "same": Same,
    "changes": Changes,
    "not-above": NotAbove,
    "not-below": NotBelow,
}


def expectation_code(expectation: Expectation | None) -> str:
    """Return an expectation as reviews write it: `same`, `changes`, `not-above`, `not-below` or `=LABEL`."""
    if isinstance(expectation, Equals):
        return f"={expectation.label}"
    return next((code for code, kind in _EXPECTATIONS.items() if type(expectation) is kind), "")


def expectation_of(code: str) -> Expectation:
    """Return the expectation of a code.

    Raises:
        KeyError: no expectation has the code.
    """
    return Equals(label=code[1:]) if code.startswith("=") else _EXPECTATIONS[code]()


class QueuedCase(NamedTuple):
    """A case that people review."""

    case_id: str
    task: str
    test: str
    item_id: str
    cluster: str
    probability: float = 1.0
    """Chance with which the case came into the queue."""


@frozen(kw_only=True)
class Decision:
    """One row of the log of decisions. Rows are added and never changed."""

    number: int = 0
    """Place in the log, from 1; 0: not stored yet."""
    case_id: str
    reviewer: str
    made: str
    """When, ISO 8601 in UTC."""
    action: ReviewAction
    settles: bool = False
    """Whether it was made knowing the decisions of two others or more; it then decides the case."""
    reason: str = ""
    before: Mapping[str, str] = Factory(dict)
    """Field -> its text in the case, for the fields that the edit changed."""
    after: Mapping[str, str] = Factory(dict)
    expected_before: str = ""
    """The expectation, as `same`, `changes`, `not-above`, `not-below` or `=LABEL`; empty: not edited."""
    expected_after: str = ""

    @property
    def content(self) -> tuple[object, ...]:
        """Return what was decided, without who, when and why: two people agree where it is equal."""
        return self.action, dict(self.after), self.expected_after


@frozen(kw_only=True)
class CaseReview:
    """All that was decided about one case."""

    log: tuple[Decision, ...] = ()

    def own(self, reviewer: str) -> Decision | None:
        """Return what a reviewer decided without knowing of others; a skip counts, what was taken back does not."""
        return _standing(row for row in self.log if row.reviewer == reviewer and not row.settles)

    @property
    def blind(self) -> Mapping[str, Decision]:
        """Return the decision of everybody who decided."""
        decisions = {row.reviewer: self.own(row.reviewer) for row in self.log}
        return {name: row for name, row in decisions.items() if row is not None and row.action in DECIDING}

    @property
    def is_open(self) -> bool:
        """Tell whether two people have decided: from then on everybody may see what."""
        return len(self.blind) > 1

    @property
    def settlement(self) -> Decision | None:
        """Return the decision that settles the case, if one was made."""
        # Skipping a conflict leaves it open for somebody else.
        return _standing(row for row in self.log if row.settles and row.action is not ReviewAction.SKIP)

    def counts_for(self, reviewer: str) -> Decision | None:
        """Return the decision that a reviewer sees as the current one: what settles the case, or the own one."""
        return (self.settlement if self.is_open else None) or self.own(reviewer)

    @property
    def in_conflict(self) -> bool:
        """Tell whether people decided differently and nothing settles it."""
        different = any(first.content != other.content for first, other in combinations(self.blind.values(), 2))
        return different and self.settlement is None

    @property
    def outcome(self) -> Decision | None:
        """Return the decision that counts; None where there is none, or a conflict."""
        if self.settlement is not None:
            return self.settlement
        # Without a conflict all decisions have the same content, so that the first says it.
        return None if self.in_conflict else next(iter(self.blind.values()), None)

    def effective_decision(self, reviewers: int) -> Decision | None:
        """Return the decision that counts, once enough people have decided or somebody has settled a conflict."""
        enough = self.settlement is not None or len(self.blind) >= reviewers
        return self.outcome if enough else None

    def visible_to(self, reviewer: str) -> CaseReview:
        """Return what a reviewer may know: the own decisions, and everybody's once two have decided."""
        # Agreement between reviewers is only worth stating if the second did not see the first decision.
        if self.is_open:
            return self
        return CaseReview(log=tuple(row for row in self.log if row.reviewer == reviewer))

    def version(self, reviewer: str) -> int:
        """Return a number that grows with every row a reviewer may know of; it tells nothing of hidden ones."""
        return max((row.number for row in self.visible_to(reviewer).log), default=0)


def _standing(log: Iterable[Decision]) -> Decision | None:
    # Rows are never changed, so an undo is the last row about a case, not the lack of one.
    last = next(reversed(list(log)), None)
    return None if last is None or last.action is ReviewAction.UNDO else last


def case_reviews(log: Iterable[Decision]) -> Mapping[str, CaseReview]:
    """Sort a log of decisions by case."""
    by_case: dict[str, list[Decision]] = {}
    for decision in log:
        by_case.setdefault(decision.case_id, []).append(decision)
    return {case_id: CaseReview(log=tuple(rows)) for case_id, rows in by_case.items()}
