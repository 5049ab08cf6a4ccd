"""Collect everything a simulated judge needs to answer one question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import frozen
from jrh import Json, Polarity, Question, Scale, Task
from jrh.text import flat_text
from jrh.values import CRITERION_FIELD, TOGETHER_FIELD, Truth, criteria_of_call

from jrh_simulated.answers import Draws
from jrh_simulated.options import ErrorKind, JudgeOptions

_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_NOT_WORD: Final = re.compile(r"[\W_]+")


def texts_of_fields(fields: Mapping[str, Json], task: Task) -> tuple[str, ...]:
    """Return the texts of the judged fields in the task's order; a missing field is empty."""
    return tuple(flat_text(fields.get(name)) for name in task.judged_fields)


# The same texts come back in every repeat and test.
@lru_cache(maxsize=8192)
def wording(text: str) -> str:
    """Return the letters and digits of a text in order, without code fences; layout changes do not affect them."""
    return _NOT_WORD.sub("", _FENCE.sub("", text))


def only_layout_differs(presented: Sequence[str], reference: Sequence[str]) -> bool:
    """Return whether texts differ, but not in their letters and digits."""
    # Equal texts differ in nothing, not in layout alone.
    if tuple(presented) == tuple(reference):
        return False
    return all(wording(shown) == wording(other) for shown, other in zip(presented, reference, strict=True))


def compare_lengths(one: str, other: str, ratio: float) -> int:
    """Return 1 if `one` has more than `ratio` times the letters and digits of `other`, -1 for the reverse, else 0."""
    if one == other:
        return 0
    first, second = len(wording(one)), len(wording(other))
    return int(first > ratio * second) - int(second > ratio * first)


def longest_text(texts: Sequence[str], sign: int, ratio: float) -> int | None:
    """Return the place of the text that is longer than every other, or shorter for -1; None if there is none."""
    for place, text in enumerate(texts):
        other_texts = [other for number, other in enumerate(texts) if number != place]
        if all(sign * compare_lengths(text, other, ratio) > 0 for other in other_texts):
            return place
    return None


_HALF: Final = 0.5


def is_late(fields: Mapping[str, Json]) -> bool:
    """Return whether an item's criterion is in the second half of its call; the one in the middle is not."""
    ids, criterion = tuple(criteria_of_call(fields)), fields.get(CRITERION_FIELD)
    name = str(criterion["id"]) if isinstance(criterion, Mapping) else ""
    return name in ids and 2 * ids.index(name) >= len(ids)


def call_parts(fields: Mapping[str, Json], texts: Sequence[str]) -> tuple[str, ...]:
    """Return what all criteria of one call share."""
    return flat_text(fields.get("request")), flat_text(fields.get(TOGETHER_FIELD)), *texts


def impresses(draws: Draws, texts: Sequence[str], reference: Sequence[str]) -> bool:
    """Return whether a response makes a good impression: half of them do, and none that lost words and gained none."""
    shown, original = (Counter(" ".join(texts_shown).split()) for texts_shown in (texts, reference))
    return draws.uniforms("impression", *reference)[0] < _HALF and not shown < original


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

    def others(self, label: str, error: ErrorKind) -> tuple[str, ...]:
        """Return the canonical labels that a planted error can give instead of this one; may be empty."""
        position = self.canonical.index(label)
        # Labels without an order have no neighbours.
        if error is ErrorKind.ADJACENT and self.ordered:
            return self.canonical[max(position - 1, 0) : position] + self.canonical[position + 1 : position + 2]
        return self.canonical[:position] + self.canonical[position + 1 :]

    def step(self, label: str, steps: int) -> str:
        """Return the canonical label `steps` levels above this one, clipped to the scale."""
        position = self.canonical.index(label) + steps
        return self.canonical[min(max(position, 0), len(self.canonical) - 1)]

    def mirror(self, label: str) -> str:
        """Return the canonical label as far from the other end of the scale."""
        return self.canonical[-1 - self.canonical.index(label)]

    def option_in_slot(self, slot: int, polarity: Polarity) -> str:
        """Return the canonical label that prefers the response shown first (0) or second (1).

        If the question asks for the worse response, naming the *other* response is what prefers this one.
        """
        # An inverted question is answered with the response that is not preferred.
        letter = self.presented[slot if polarity is Polarity.POSITIVE else 1 - slot]
        return self.meaning[letter]


@lru_cache(maxsize=1024)
def frame_of(scale: Scale, presented: Scale, pairs: tuple[tuple[str, str], ...]) -> Frame:
    """Return the frame of a question, which all questions with these scales and this label map share.

    Args:
        scale: the task's own.
        presented: that of the question.
        pairs: presented and canonical label.
    """
    wording: dict[str, str] = {}
    for label, canonical in pairs:
        wording.setdefault(canonical, label)
    return Frame(
        presented=presented.labels,
        canonical=tuple(label for label in scale.labels if label in wording),
        ordered=scale.ordered,
        meaning=dict(pairs),
        wording=wording,
        opposite=presented.swap_map(),
    )


_CHARACTERS: Final = 4


@frozen(kw_only=True)
class Reading:
    """What the judge looks for, and how far it reads."""

    pattern: re.Pattern[str] | None
    first: int
    """Characters from the start; 0: all."""
    last: int
    """Characters from the end, besides."""

    @classmethod
    def of(cls, options: JudgeOptions) -> Reading:
        """Take it from the options."""
        return cls(
            pattern=re.compile(options.looks_for) if options.looks_for else None,
            first=options.reads * _CHARACTERS,
            last=options.reads_last * _CHARACTERS,
        )

    def finds_evidence(self, texts: Sequence[str]) -> bool:
        """Return whether the pattern is in a part of a text that the judge reads."""
        pattern = self.pattern
        return pattern is not None and any(pattern.search(part) for text in texts for part in self._read(text))

    def _read(self, text: str) -> tuple[str, ...]:
        if not self.first or self.first + self.last >= len(text):
            return (text,)
        return (text[: self.first], text[len(text) - self.last :] if self.last else "")


@frozen(kw_only=True)
class View:
    """One question with its truth, taken apart."""

    truth: Truth
    frame: Frame
    texts: tuple[str, ...]
    """The judged texts as presented."""
    reference: tuple[str, ...]
    """The judged texts before any change."""
    asking: tuple[str, str]
    """The template's name and wording."""
    fields: Mapping[str, Json]
    """All fields as presented."""
    reworded: bool
    """Whether the criterion, or the task's rubric, has another text than before any change."""
    apart: str
    """The label of criteria that do not apply; empty: there is none."""

    @classmethod
    def of(cls, task: Task, question: Question, truth: Truth) -> View:
        """Take a question apart; `task` is the suite's own."""
        return cls(
            truth=truth,
            frame=frame_of(task.scale, question.task.scale, tuple(truth.label_map.items())),
            texts=texts_of_fields(question.fields, question.task),
            reference=texts_of_fields(truth.reference_fields, question.task),
            asking=(truth.condition.template, question.prompt.user if question.prompt else ""),
            fields=question.fields,
            reworded=_rubric(task, question.task, question.fields) != _rubric(task, task, truth.reference_fields),
            apart=task.criteria.not_applicable if task.criteria else "",
        )

    @property
    def request(self) -> str:
        """Return the request as it was before any change."""
        return flat_text(self.truth.reference_fields.get("request"))

    @property
    def identical(self) -> bool:
        """Return whether all options are the same text."""
        return len(self.texts) > 1 and all(text == self.texts[0] for text in self.texts)

    def wording_of(self, canonical: str) -> str:
        """Return the presented label for a canonical one: the expected one if it has that meaning, else the first."""
        expected = self.truth.expected
        if expected is not None and self.frame.meaning.get(expected) == canonical:
            return expected
        return self.frame.wording[canonical]


def _rubric(task: Task, shown: Task, fields: Mapping[str, Json]) -> Json:
    """Return what the item is judged by: its own criterion, or the rubric of the task."""
    return fields.get(CRITERION_FIELD) if task.criteria is not None else shown.rubric


def circle_winner(draws: Draws, texts: Sequence[str]) -> int:
    """Return the place of the text that beats most others on a circle.

    Every text has a random place on it, and beats those that follow within half a turn. Three texts form a cycle with
    probability 1/4, as in a random tournament.
    """
    # By text, so that a response keeps its place in every comparison.
    places = [draws.uniforms("place on the circle", text)[0] for text in texts]
    wins = [sum(0 < (other - place) % 1 < _HALF for other in places) for place in places]
    return wins.index(max(wins))
