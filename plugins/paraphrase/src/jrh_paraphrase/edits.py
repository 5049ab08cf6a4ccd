"""Swaps in a text: where they stand, and how some of them are made."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from attrs import frozen
from jrh import Json


@frozen(kw_only=True)
class Edit:
    """Put `new` in the place of `old`, which begins at `start`."""

    start: int
    old: str
    new: str
    kind: str

    @property
    def end(self) -> int:
        """Return where the old text ends."""
        return self.start + len(self.old)

    def details(self) -> dict[str, Json]:
        """Return what the draft's provenance keeps of it."""
        return {"at": self.start, "from": self.old, "to": self.new, "kind": self.kind}


def apart(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits in text order, without those that overlap an earlier one."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def chosen(edits: Sequence[Edit], strength: float, seed: int) -> list[Edit]:
    """Choose a share of the edits by seed, rounded half up and at least one; a weaker choice is part of a stronger."""
    # `Random.random` alone: the one method whose sequence Python keeps between its versions.
    draws = random.Random(seed)  # noqa: S311 - a seeded choice, no secret
    order = sorted(range(len(edits)), key=[draws.random() for _ in edits].__getitem__)
    count = max(1, int(strength * len(edits) + 0.5))
    return [edits[place] for place in sorted(order[:count])]


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made; they stand in text order and do not overlap."""
    pieces, done = [], 0
    for edit in edits:
        pieces += [text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*pieces, text[done:]])
