"""Edits of a text, and the choice of some of those that are possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen
from jrh import Json, derive_seed


@frozen(kw_only=True)
class Edit:
    """Put `new` in the place of the characters from `start` to `end`."""

    start: int
    end: int
    new: str
    sentences: tuple[int, ...]
    """The sentences it changes; no other edit may change them as well."""


def choose(edits: Iterable[Edit], most: int, seed: int) -> list[Edit]:
    """Choose at most so many edits by seed, no two in one sentence.

    The choice of fewer is always the beginning of the choice of more.
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
    """Return the edits for the provenance: where, what stood there, what stands there now; in text order."""
    return [
        {"at": edit.start, "old": text[edit.start : edit.end], "new": edit.new}
        for edit in sorted(edits, key=lambda edit: edit.start)
    ]
