"""Map between the presented and the canonical labels of one question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from attrs import frozen
from jrh import Polarity, Question, Scale
from jrh.values import Truth

from jrh_simulated.options import ErrorKind


@frozen(kw_only=True)
class Frame:
    """Presented and canonical labels of one form of a question."""

    presented: tuple[str, ...]
    """Labels as listed in the question."""
    canonical: tuple[str, ...]
    """Canonical labels that can be expressed, lowest or first one first."""
    ordered: bool
    """Whether the canonical labels have an order."""
    meaning: Mapping[str, str]
    """Presented label -> canonical label."""
    wording: Mapping[str, str]
    """Canonical label -> the first presented label that means it."""
    opposite: Mapping[str, str]
    """Presented label -> the presented label at the opposite position of the scale."""

    @classmethod
    def of(cls, scale: Scale, question: Question, truth: Truth) -> Frame:
        """Return the frame of a question; `scale` is the task's own. Equal questions share one frame."""
        return _frame(scale, question.task.scale, tuple(truth.label_map.items()))

    def others(self, label: str, error: ErrorKind) -> tuple[str, ...]:
        """Return the canonical labels that a planted error can give instead of this one; may be empty."""
        position = self.canonical.index(label)
        if error is ErrorKind.ADJACENT and self.ordered:
            return self.canonical[max(position - 1, 0) : position] + self.canonical[position + 1 : position + 2]
        return self.canonical[:position] + self.canonical[position + 1 :]

    def step(self, label: str, steps: int) -> str:
        """Return the canonical label `steps` levels above this one, clipped to the scale."""
        position = self.canonical.index(label) + steps
        return self.canonical[min(max(position, 0), len(self.canonical) - 1)]

    def mirrored(self, label: str) -> str:
        """Return the canonical label as far from the other end of the scale."""
        return self.canonical[-1 - self.canonical.index(label)]

    def option_in_slot(self, slot: int, polarity: Polarity) -> str:
        """Return the canonical label that prefers the response shown first (0) or second (1).

        If the question asks for the worse response, naming the *other* response is what prefers this one.
        """
        letter = self.presented[slot if polarity is Polarity.POSITIVE else 1 - slot]
        return self.meaning[letter]


@lru_cache(maxsize=1024)
def _frame(scale: Scale, presented: Scale, pairs: tuple[tuple[str, str], ...]) -> Frame:
    meaning = dict(pairs)
    wording: dict[str, str] = {}
    for label, canonical in pairs:
        wording.setdefault(canonical, label)
    return Frame(
        presented=presented.labels,
        canonical=tuple(label for label in scale.labels if label in wording),
        ordered=scale.ordered,
        meaning=meaning,
        wording=wording,
        opposite=presented.swap_map(),
    )
