"""Rubric files: entries with weights, labels or levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import Attribute, field, frozen
from jrh import Scale, ScaleKind
from jrh.suite import read_file

MOST_ENTRIES: Final = 1000
MOST_WEIGHT: Final = 1_000_000
Mistake: TypeAlias = tuple[tuple[str | int, ...], str]


def _check_text(_: object, attribute: Attribute[Any], text: str) -> None:
    if not text.strip():
        raise ValueError(f"the {attribute.name} {'are' if attribute.name.endswith('s') else 'is'} empty")


def _check_weight(_: object, __: object, weight: float | None) -> None:
    # A weight of 0 counts for nothing, and an infinite one for everything.
    if weight is not None and not (weight and abs(weight) <= MOST_WEIGHT):
        raise ValueError(f"the weight must be from -{MOST_WEIGHT:,} to {MOST_WEIGHT:,} and not 0, got {weight:g}")


def _check_labels(entry: Entry, _: object, labels: Sequence[str | int]) -> None:
    if not labels:
        return
    if entry.score_levels:
        raise ValueError("give `labels` or `score_levels`, not both")
    texts = [str(label) for label in labels]
    if len(texts) < 2 or len(set(texts)) < len(texts) or any(text != text.strip() or not text for text in texts):  # noqa: PLR2004
        raise ValueError("a scale has two or more distinct labels, none of them empty or with white space around it")


def _check_levels(_: object, __: object, levels: Sequence[ScoreLevel]) -> None:
    if len(levels) == 1:
        raise ValueError("a scale needs at least two levels; add one, or leave `score_levels` out")


@frozen(kw_only=True)
class ScoreLevel:
    """One level of an entry."""

    level: int | None = None
    score: int | None = None
    """Another word for `level`, that of the Judge Reliability Harness."""
    label: str = field(validator=_check_text)
    """What the level means."""

    def __attrs_post_init__(self) -> None:
        """Refuse a level without a number, or with two."""
        # Two numbers for one level could contradict each other.
        if (self.level is None) == (self.score is None):
            raise ValueError("give the number of the level once, as `level` or as `score`")

    @property
    def number(self) -> int:
        """Return the number of the level."""
        return self.level if self.level is not None else self.score or 0


@frozen(kw_only=True)
class Entry:
    """One entry of a rubric file."""

    id: str = field(validator=_check_text)
    instructions: str = field(validator=_check_text)
    """What is asked of the transcript or response."""
    score_levels: tuple[ScoreLevel, ...] = field(default=(), validator=_check_levels)
    """From the lowest to the highest, without gaps; none: the entry is satisfied or violated."""
    labels: tuple[str | int, ...] = field(default=(), validator=_check_labels)
    """Labels of its own, the one that counts as met first; none: those of the task."""
    weight: float | None = field(default=None, validator=_check_weight)
    """What it adds to the weighted score if it is met; 1 where it is not given."""

    def scale(self, otherwise: Scale) -> Scale:
        """Return its scale: its levels, its labels, or else that of the task."""
        if self.score_levels:
            return Scale(kind=ScaleKind.ORDINAL, labels=tuple(str(level.number) for level in self.score_levels))
        return scale_met_first(tuple(map(str, self.labels))) if self.labels else otherwise

    @property
    def rubric(self) -> str:
        """Return the rubric a judge reads: the instructions, and what each level means."""
        if not self.score_levels:
            return self.instructions
        levels = [f"{level.number}: {level.label}" for level in self.score_levels]
        return "\n".join([self.instructions.rstrip(), "", "Levels:", *levels])


def scale_met_first(labels: tuple[str, ...]) -> Scale:
    """Return a scale of unordered labels of which the first one counts as met."""
    return Scale(kind=ScaleKind.LABELS, labels=labels, positive=labels[0])


def read_rubric(path: Path) -> tuple[Entry, ...]:
    """Read a rubric file, JSON or YAML: a list of entries with `id`, `instructions` and optional `score_levels`.

    Raises:
        SuiteError: with every mistake of the file, each with its line and column.
    """
    return read_file(path, tuple[Entry, ...], _mistakes)


def _mistakes(entries: Sequence[Entry]) -> Iterable[Mistake]:
    """Yield what is wrong with the entries together, and with the levels of one."""
    if not 1 <= len(entries) <= MOST_ENTRIES:
        yield (), f"a rubric file has 1 to {MOST_ENTRIES:,} entries, got {len(entries):,}"
    # Ids are parts of the names of tasks and columns, so they have to be unique.
    known: dict[str, int] = {}
    for at, entry in enumerate(entries):
        if known.setdefault(entry.id, at) != at:
            yield (at, "id"), f"entry {known[entry.id] + 1} has the same id '{entry.id}'"
        for place in range(1, len(entry.score_levels)):
            before, level = entry.score_levels[place - 1], entry.score_levels[place]
            if level.number != before.number + 1:
                key = "score" if level.level is None else "level"
                message = f"level {level.number} follows level {before.number}; levels go up one by one, without gaps"
                yield (at, "score_levels", place, key), message
                # One gap shifts all levels after it, so only the first is reported.
                break
