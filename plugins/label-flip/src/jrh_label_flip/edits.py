"""Represent edits of a text and choose among the possible ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen
from jrh import Json, derive_seed


@frozen(kw_only=True)
class Edit:
    """Replace the characters from `start` to `end` with `new`."""

    start: int
    end: int
    new: str
    sentences: tuple[int, ...]
    """The sentences it changes; no other edit may change them."""


def choose(edits: Iterable[Edit], most: int, seed: int) -> list[Edit]:
    """Choose at most `most` edits by seed, no two in one sentence.

    A choice of fewer edits is always a prefix of a choice of more.
    """
    order = sorted(edits, key=lambda edit: (derive_seed(seed, edit.start, edit.end, edit.new), edit.start))
    chosen: list[Edit] = []
    taken: set[int] = set()
    for edit in order:
        if len(chosen) == most:
            break
        if taken.isdisjoint(edit.sentences):
            chosen.append(edit)
            taken.update(edit.sentences)
    return chosen


def described(text: str, edits: Sequence[Edit]) -> list[Json]:
    """Return the edits for the provenance in text order: position, old text, new text."""
    return [
        {"at": edit.start, "old": text[edit.start : edit.end], "new": edit.new}
        for edit in sorted(edits, key=lambda edit: edit.start)
    ]
