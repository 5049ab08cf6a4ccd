"""Define what readers find in a text and the interface of a reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol

from attrs import frozen
from jrh import Status

from jrh_parsers.cues import DECORATION

SHOWN = 40
"""Characters of a reply that a detail may quote."""
_MOST_LEADS = 6


@frozen(kw_only=True)
class Finding:
    """One passage of a text that states a decision, or that there is none."""

    status: Status
    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""
    label: str | None = None
    """The label, exactly as the scale has it; only with status `ok`."""
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Return whether it is a label."""
        return self.status is Status.OK


def label_finding(label: str, start: int, end: int) -> Finding:
    """Return a finding of a label."""
    return Finding(status=Status.OK, label=label, start=start, end=end)


def unparsable(detail: str, start: int = 0, end: int = 0) -> Finding:
    """Return a finding that no single decision can be read."""
    return Finding(status=Status.UNPARSABLE, start=start, end=end, detail=detail)


def off_scale(text: str, start: int, end: int) -> Finding:
    """Return a finding of a decision that is not on the scale."""
    quoted = " ".join(text.split())[:SHOWN]
    return Finding(status=Status.OFF_SCALE, start=start, end=end, detail=f"'{quoted}' is not a label of the scale")


def read_behind(text: str, at: int, lead: re.Pattern[str], read: Callable[[int], Finding | None]) -> Finding | None:
    """Read the decision behind decoration and up to six leading words, such as `a score of`.

    Args:
        text: the text.
        at: where to begin.
        lead: matches one leading word.
        read: reads the decision at a place; None where none begins there.
    """
    for _ in range(_MOST_LEADS):
        at = DECORATION.match(text, at).end()  # type: ignore[union-attr]
        decision = read(at)
        word = None if decision is not None else lead.match(text, at)
        if word is None:
            return decision
        at = word.end()
    return None


class Grammar(Protocol):
    """How decisions of one kind of scale are written."""

    def prepare(self, text: str) -> str:
        """Return the text for the other methods, without parts that only restate the scale."""

    def read(self, text: str, at: int, *, slot: bool) -> Finding | None:
        """Read the decision that begins at `at`.

        `slot` marks a place where an answer is expected; it accepts spellings that would mean nothing in prose.
        """

    def scan(self, text: str, start: int, end: int) -> Iterable[Finding]:
        """Yield the decisions in a stretch of prose that announces one, in order."""

    def mentions(self, text: str) -> Iterable[Finding]:
        """Yield what counts as a decision without being announced, in order."""
