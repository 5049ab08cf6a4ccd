"""Define what readers find in a text and the interface of a reader."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

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
    # Details are shown in one line of a report.
    quoted = " ".join(text.split())[:SHOWN]
    return Finding(status=Status.OFF_SCALE, start=start, end=end, detail=f"'{quoted}' is not a label of the scale")


class Grammar(ABC):
    """How decisions of one kind of scale are written."""

    lead: ClassVar[re.Pattern[str]]
    """One word that may come before a decision, such as those of `a score of`."""

    def prepare(self, text: str) -> str:
        """Return the text for the other methods, without parts that only restate the scale."""
        return text

    def read(self, text: str, at: int, *, slot: bool) -> Finding | None:
        """Read the decision that begins at `at`, after decoration and up to six leading words.

        `slot` marks a place where an answer is expected; it accepts spellings that would mean nothing in prose.
        """
        for _ in range(_MOST_LEADS):
            # It matches the empty text too, so it always matches.
            at = DECORATION.match(text, at).end()  # type: ignore[union-attr]
            decision = self.read_at(text, at, slot=slot)
            word = None if decision is not None else self.lead.match(text, at)
            if word is None:
                return decision
            at = word.end()
        return None

    @abstractmethod
    def read_at(self, text: str, at: int, *, slot: bool) -> Finding | None:
        """Read the decision at a place; None where none begins exactly there."""

    @abstractmethod
    def scan(self, text: str, start: int, end: int) -> Iterable[Finding]:
        """Yield the decisions in a stretch of prose that announces one, in order."""

    @abstractmethod
    def mentions(self, text: str) -> Iterable[Finding]:
        """Yield what counts as a decision without being announced, in order."""
