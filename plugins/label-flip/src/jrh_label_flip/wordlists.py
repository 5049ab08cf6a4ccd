"""Closed lists of words, written as running text."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a text that are separated by white space, in order."""
    return tuple(text.split())


def words(text: str) -> frozenset[str]:
    """Return the words of a text that are separated by white space, to look them up."""
    return frozenset(listed(text))


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of words of a text, in which commas separate the pairs."""
    return tuple((one, other) for one, other in (pair.split() for pair in text.split(",")))
