"""Define the scale of a task: its labels, their order, and the distance between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from string import ascii_uppercase
from typing import Final

from attrs import field, frozen
from attrs.validators import min_len

from jrh.errors import JrhError

_TWO: Final = 2


class ScaleKind(Enum):
    """How the labels of a scale relate to each other."""

    LABELS = "labels"
    """Unordered labels, such as YES and NO."""
    ORDINAL = "ordinal"
    """Ordered levels, such as 1 to 6, from lowest to highest."""
    PAIRWISE = "pairwise"
    """The preferred option, A or B or a further one, optionally with a tie as the last label."""


@frozen(kw_only=True)
class Scale:
    """List the labels a judge may answer with. Labels are text, exactly as written in a file."""

    kind: ScaleKind
    labels: tuple[str, ...] = field(validator=min_len(2))
    """All labels; ordinal ones from lowest to highest."""
    tie: str | None = None
    """The label that prefers neither option; pairwise scales only; always the last of `labels`."""
    positive: str = ""
    """The declared positive label, for false positive and false negative rates; unordered labels only."""

    def __attrs_post_init__(self) -> None:
        """Reject repeated labels, a tie that is not the last label, and a positive label that is none."""
        # Ranks and maps between labels need each of them once.
        if len(set(self.labels)) != len(self.labels):
            raise JrhError(f"a scale needs distinct labels, got {', '.join(self.labels)}")
        # Last, so that the options before it are those that can be swapped.
        if self.tie is not None and (self.kind is not ScaleKind.PAIRWISE or self.labels[-1] != self.tie):
            raise JrhError(f"the tie '{self.tie}' must be the last label of a pairwise scale")
        if self.positive and (self.kind is not ScaleKind.LABELS or self.positive not in self.labels):
            raise JrhError(f"the positive label '{self.positive}' must be one of the `labels` of an unordered scale")

    @classmethod
    def of_labels(cls, *labels: str) -> Scale:
        """Make a scale of unordered labels."""
        return cls(kind=ScaleKind.LABELS, labels=labels)

    @classmethod
    def of_levels(cls, low: int, high: int) -> Scale:
        """Make an ordinal scale of the whole numbers from `low` to `high`, both included."""
        if high <= low:
            raise JrhError(f"an ordinal scale goes from a lower to a higher number, got [{low}, {high}]")
        # Labels are text everywhere: `4` in a file and `4` in a reply are compared as they are written.
        return cls(kind=ScaleKind.ORDINAL, labels=tuple(str(level) for level in range(low, high + 1)))

    @classmethod
    def of_pairs(cls, *, tie: str | None = None, options: int = 2) -> Scale:
        """Make the pairwise scale A/B, or that of more options (A/B/C), optionally with a tie label."""
        if not 1 < options <= len(ascii_uppercase):
            raise JrhError(f"a comparison has 2 to {len(ascii_uppercase)} options, got {options}")
        return cls(kind=ScaleKind.PAIRWISE, labels=(*ascii_uppercase[:options], *((tie,) if tie else ())), tie=tie)

    def __contains__(self, label: object) -> bool:
        """Return whether the text is exactly one of the labels."""
        return label in self.labels

    @property
    def options(self) -> tuple[str, ...]:
        """Return the labels without the tie."""
        return tuple(label for label in self.labels if label != self.tie)

    @property
    def own_order(self) -> str:
        """Return the options in their own order, such as `AB`; empty where they have no letters to name an order by."""
        # An order is written as a word, such as `BA`, which needs options of one letter.
        named = all(len(option) == 1 and option.isupper() for option in self.options)
        return "".join(self.options) if named and not self.ordered else ""

    @property
    def positive_label(self) -> str | None:
        """Return the declared positive label, otherwise the first of two unordered labels; None for other scales."""
        if self.positive:
            return self.positive
        # With more labels, no choice would be right for every task.
        return self.labels[0] if self.kind is ScaleKind.LABELS and len(self.labels) == _TWO else None

    @property
    def ordered(self) -> bool:
        """Return whether the labels are ordered."""
        return self.kind is ScaleKind.ORDINAL

    def rank(self, label: str) -> int:
        """Return the position of a label, 0 for the lowest.

        Raises:
            JrhError: the label is not on the scale.
        """
        try:
            return self.labels.index(label)
        except ValueError:
            raise JrhError(f"label '{label}' is not on the scale {', '.join(self.labels)}") from None

    def distance(self, one: str, other: str) -> float:
        """Return the distance of two labels: steps on an ordinal scale, 0 or 1 on other scales."""
        if self.ordered:
            return float(abs(self.rank(one) - self.rank(other)))
        return float(self.rank(one) != self.rank(other))

    def match(self, text: str) -> str | None:
        """Return the label that equals the text, ignoring case and outer white space, or None.

        Exact equality wins; a text that two labels match only by folding case matches none.
        """
        bare = text.strip()
        if bare in self.labels:
            return bare
        # A scale may have `A` and `a`: a guess between them would be a verdict that was never given.
        folded = [label for label in self.labels if label.casefold() == bare.casefold()]
        return folded[0] if len(folded) == 1 else None

    def identity_map(self) -> dict[str, str]:
        """Return the map presented -> canonical of an unchanged question."""
        return {label: label for label in self.labels}

    def swap_map(self) -> dict[str, str]:
        """Return the map presented -> canonical of swapped options or inverted polarity.

        The options are reversed (A <-> B, YES <-> NO, 1 <-> 6), a tie stays.
        """
        mapped = dict(zip(self.options, reversed(self.options), strict=True))
        return mapped | ({self.tie: self.tie} if self.tie else {})


def invert(label_map: Mapping[str, str], canonical: str) -> str | None:
    """Return the presented label of a canonical one, or None if no presented label maps to it.

    Where several presented labels mean it (a wider scale), the first in the map's order is returned.
    """
    return next((presented for presented, meant in label_map.items() if meant == canonical), None)
