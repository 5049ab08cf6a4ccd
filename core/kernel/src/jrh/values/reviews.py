"""Define what people decide about perturbed cases."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from attrs import Factory, frozen

from jrh.values.cases import Changes, Equals, Expectation, NotAbove, NotBelow, Same


class ReviewAction(Enum):
    """What a reviewer did with a case."""

    ACCEPT = "accept"
    EDIT = "edit"
    """The text or the expected label was changed: the case as it was made is not accepted."""
    REJECT = "reject"
    SKIP = "skip"
    UNDO = "undo"
    """Takes the reviewer's last decision about the case back."""


DECIDING = (ReviewAction.ACCEPT, ReviewAction.EDIT, ReviewAction.REJECT)
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
    """Return the expectation that a code stands for.

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
    probability: float
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
