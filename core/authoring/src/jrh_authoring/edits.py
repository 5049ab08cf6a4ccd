"""Select edits of a text that do not overlap, and apply them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from attrs import frozen
from jrh.hashing import shuffled
from jrh.values.json_values import Json


class Replacement(Protocol):
    """A span of a text, and its replacement."""

    @property
    def start(self) -> int:
        """Return the start of the span."""

    @property
    def end(self) -> int:
        """Return the end of the span."""

    @property
    def new(self) -> str:
        """Return the replacement."""


@frozen(kw_only=True)
class Edit:
    """Replace `old`, which begins at `start`, by `new`."""

    start: int
    old: str
    """Empty for an insertion."""
    new: str
    """Empty for a deletion."""
    kind: str

    @property
    def end(self) -> int:
        """Return the end of the old text."""
        return self.start + len(self.old)

    def details(self) -> dict[str, Json]:
        """Return the details for the draft's provenance."""
        return {"at": self.start, "from": self.old, "to": self.new, "kind": self.kind}


def edits_apart(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in text order, without those that overlap an earlier one."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def apply_edits(text: str, edits: Iterable[Replacement]) -> str:
    """Apply the edits to the text; nothing else changes.

    Args:
        text: the text in which the edits were found.
        edits: the edits, in any order, without overlaps.
    """
    pieces, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*pieces, text[done:]])


def edits_at(strength: float, possible: int) -> int:
    """Return the number of edits for a strength from 0 to 1: its share of the possible ones, rounded, at least 1."""
    return max(1, int(strength * possible + 0.5))


@frozen(kw_only=True)
class PlannedEdits:
    """The possible edits of one text, in the order in which they are applied."""

    text: str
    edits: Sequence[Edit]
    """Edits without overlaps."""
    seed: int

    @classmethod
    def of(cls, text: str, edits: Sequence[Edit], seed: int) -> PlannedEdits:
        """Order the edits randomly by the seed.

        The order does not depend on the strength, so a weaker draft makes a subset of the edits of a stronger one.
        """
        return cls(text=text, edits=shuffled(edits, seed), seed=seed)

    def made(self, count: int) -> tuple[str, dict[str, Json]]:
        """Apply the first `count` edits; return the text and the details for the draft's provenance."""
        picked = edits_apart(self.edits[:count])
        details: dict[str, Json] = {
            "edits": [edit.details() for edit in picked],
            "places_possible": len(self.edits),
            "seed": self.seed,
        }
        return apply_edits(self.text, picked), details
