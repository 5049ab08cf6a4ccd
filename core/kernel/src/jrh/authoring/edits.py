"""Edits of a text: which go together, and the text with them made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from attrs import frozen

from jrh.hashing import shuffled
from jrh.values.types import Json


class Replacement(Protocol):
    """Characters of a text and what stands in their place."""

    @property
    def start(self) -> int:
        """Return where they begin."""

    @property
    def end(self) -> int:
        """Return where they end."""

    @property
    def new(self) -> str:
        """Return what stands there instead."""


@frozen(kw_only=True)
class Edit:
    """Put `new` in the place of `old`, which begins at `start`."""

    start: int
    old: str
    """Empty where something is inserted."""
    new: str
    """Empty where something is taken away."""
    kind: str

    @property
    def end(self) -> int:
        """Return where the old text ends."""
        return self.start + len(self.old)

    def details(self) -> dict[str, Json]:
        """Return what the draft's provenance keeps of it."""
        return {"at": self.start, "from": self.old, "to": self.new, "kind": self.kind}


def edits_apart(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in text order, without those that overlap an earlier one."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def apply_edits(text: str, edits: Iterable[Replacement]) -> str:
    """Return the text with the edits made; nothing outside of them changes.

    Args:
        text: what they were found in.
        edits: in any order; they do not overlap.
    """
    pieces, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*pieces, text[done:]])


def edits_at(strength: float, possible: int) -> int:
    """Return how many of the possible edits a strength from 0 to 1 makes: its share, rounded half up, at least one."""
    return max(1, int(strength * possible + 0.5))


@frozen(kw_only=True)
class PlannedEdits:
    """What rules can change in one text, in the order in which it is taken."""

    text: str
    edits: Sequence[Edit]
    """None overlaps another."""
    seed: int

    @classmethod
    def of(cls, text: str, edits: Sequence[Edit], seed: int) -> PlannedEdits:
        """Put the edits in an order drawn by the seed.

        The strength is no part of it: a weaker draft makes some of the edits that a stronger one makes.
        """
        return cls(text=text, edits=shuffled(edits, seed), seed=seed)

    def made(self, count: int) -> tuple[str, dict[str, Json]]:
        """Return the text with the first so many edits, and what the draft's provenance keeps of them."""
        picked = edits_apart(self.edits[:count])
        details: dict[str, Json] = {
            "edits": [edit.details() for edit in picked],
            "places_possible": len(self.edits),
            "seed": self.seed,
        }
        return apply_edits(self.text, picked), details
