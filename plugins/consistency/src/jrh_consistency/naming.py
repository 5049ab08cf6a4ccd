"""How the id of an item says its set and its members: `q1::a`, `q1::a|b`, `q1::c|a|b`.

Metrics read records, which have no other place for it; so an imported log with such ids is measured like a run.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import permutations
from string import ascii_uppercase
from typing import Final

from attrs import frozen
from jrh import Mode, Task

BETWEEN: Final = "::"
JOINT: Final = "|"
_ORDER: Final = re.compile(r"[A-Z](?: ?> ?[A-Z])+")
_PAIR: Final = 2


class Kind(Enum):
    """What a task asks about a set of responses."""

    SCORES = "scores"
    """One response at a time, on an ordered scale or with a positive label."""
    PAIRS = "comparisons"
    """Which of two responses is better."""
    CHOICES = "choices from lists"
    """Which of three responses or more is best."""
    RANKINGS = "rankings"
    """The order of three responses or more."""
    NONE = ""
    """Labels without an order."""


@frozen(kw_only=True)
class Named:
    """A set and the members that an item shows, in the order of the options A, B, ..."""

    set: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        """Write the id."""
        return f"{self.set}{BETWEEN}{JOINT.join(self.members)}"

    @classmethod
    def read(cls, text: str) -> Named | None:
        """Take an id apart; None for ids of other sources."""
        # The last separator: the id of a request may contain one, that of a response must not.
        before, between, after = text.rpartition(BETWEEN)
        members = tuple(after.split(JOINT))
        # No preference is possible between a response and itself.
        usable = bool(between and before) and all(members) and len(set(members)) == len(members)
        return cls(set=before, members=members) if usable else None


def kind_of(task: Task) -> Kind:
    """Return what a task asks about a set, as its mode and scale say."""
    if task.mode is Mode.PAIRWISE:
        return Kind.PAIRS if len(task.scale.options) == _PAIR else Kind.CHOICES
    # A verdict on one criterion is no verdict on the response.
    if task.mode is not Mode.POINTWISE or task.criteria is not None:
        return Kind.NONE
    if names_orders(task):
        return Kind.RANKINGS if ranking_size(task) else Kind.NONE
    return Kind.SCORES if task.scale.ordered or task.scale.positive_label else Kind.NONE


def names_orders(task: Task) -> bool:
    """Return whether every label has the form of an order, such as `A>B>C`."""
    return all(_ORDER.fullmatch(label) for label in task.scale.labels)


def ranking_size(task: Task) -> int:
    """Return how many responses the labels of a task rank: `A>B>C` and all other orders; 0 for other scales."""
    if not names_orders(task):
        return 0
    orders = {order_of(label) for label in task.scale.labels}
    letters = sorted(next(iter(orders)))
    first = list(ascii_uppercase[: len(letters)])
    # With some orders only, a judge could not give the others.
    return len(letters) if orders == set(permutations(letters)) and letters == first else 0


def order_of(label: str) -> tuple[str, ...]:
    """Return the letters of a ranking, best first."""
    return tuple(part.strip() for part in label.split(">"))
