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


def shuffled(edits: Sequence[Edit], seed: int) -> list[Edit]:
    """Return the edits in an order that the seed decides."""
    # `Random.random` alone: the one method whose sequence Python keeps between its versions.
    draws = random.Random(seed)  # noqa: S311 - a seeded choice, no secret
    keys = [draws.random() for _ in edits]
    return [edits[place] for place in sorted(range(len(edits)), key=keys.__getitem__)]


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made; they do not overlap."""
    pieces, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*pieces, text[done:]])
