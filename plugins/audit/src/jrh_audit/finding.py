"""A finding about a data set."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Finding:
    """One thing that a data set cannot show, or that stands between its numbers and what they seem to say."""

    kind: str
    """Short name, such as `constant-gold`."""
    evidence: str
    """What was found, with its numbers."""
    consequence: str
    """What follows for the reader of a report."""
    affected: int
    """Items it is about."""
    items: int
    """Items of the task."""
    concerns: tuple[str, ...] = ()
    """Names of the measures it is about; empty: all."""
    examples: tuple[str, ...] = ()
    """Some of the items, by id."""

    @property
    def sentence(self) -> str:
        """Return evidence, examples and consequence as one text."""
        some = f" ({', '.join(self.examples)})" if self.examples else ""
        return f"{self.evidence}{some}. {self.consequence}"


def some(ids: list[str], most: int = 5) -> tuple[str, ...]:
    """Return the first few ids, with an ellipsis where there are more."""
    return (*ids[:most], *(["..."] if len(ids) > most else []))
