"""Define a finding about a data set."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh.values import Severity

EXAMPLES: Final = 5
"""Examples that a finding names."""


@frozen(kw_only=True)
class Finding:
    """One thing that a data set cannot show, or that makes its numbers misleading."""

    kind: str
    """Short name, such as `constant-gold`."""
    evidence: str
    """What was found, with its numbers."""
    consequence: str
    """What it means for the reader of a report, and what to do."""
    affected: int
    """Number of items affected."""
    items: int
    """Number of items of the task."""
    concerns: tuple[str, ...] = ()
    """Names of the measures affected; empty: all."""
    severity: Severity = Severity.WARNING
    """`info` if it limits what can be said, and contradicts nothing."""
    examples: tuple[str, ...] = ()
    """Ids of some of the items."""

    @property
    def sentence(self) -> str:
        """Return evidence, examples and consequence as one text."""
        some = f" ({', '.join(self.examples)})" if self.examples else ""
        return f"{self.evidence}{some}. {self.consequence}"


def some(ids: list[str], most: int = EXAMPLES) -> tuple[str, ...]:
    """Return the first few ids, with an ellipsis if there are more."""
    return (*ids[:most], *(["..."] if len(ids) > most else []))
