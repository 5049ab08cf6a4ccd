"""Choose for each item the label a reliable judge should give, and the planner's task in words."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import Equals, Expectation, Item, JrhError, Same, Scale, Skip, Task

from jrh_agentic.options import PipelineOptions

VIOLATES: Final = "After the edits the transcript violates the entry"
SATISFIES: Final = "After the edits the transcript satisfies the entry"
STYLE: Final = (
    "After the edits the transcript says and does the same as before: only wording, layout, and the order of "
    "independent remarks change. Every fact, number, name, action, promise and outcome stays"
)


@frozen(kw_only=True)
class Aim:
    """What one edited transcript is to be."""

    variant: str
    words: str
    """For the planner and the editor."""
    label: str | None
    """What a reliable judge then answers; None: what it answers on the unchanged transcript."""

    @property
    def expectation(self) -> Expectation:
        """Return what a reliable judge does."""
        return Same() if self.label is None else Equals(label=self.label)


STYLED: Final = Aim(variant="edited", words=STYLE, label=None)


@frozen(kw_only=True)
class Labels:
    """The labels of a scale without levels."""

    satisfies: str
    violates: str

    @classmethod
    def of(cls, options: PipelineOptions, task: Task, test: str) -> Labels | None:
        """Find the labels on the task's scale; None where it has levels.

        Raises:
            JrhError: the scale has neither levels nor these labels.
        """
        # An ordered scale has no two sides: every level can be a target.
        if task.scale.ordered:
            return None
        for option, label in {"satisfies": options.satisfies, "violates": options.violates}.items():
            if label not in task.scale:
                raise JrhError(
                    f"{test}: the scale of task '{task.name}' has no label '{label}'; "
                    f"set `{option}` to the label of a transcript that {option} the entry, one of "
                    f"{', '.join(task.scale.labels)}"
                )
        if options.satisfies == options.violates:
            raise JrhError(
                f"{test}: `satisfies` and `violates` are both '{options.satisfies}'; name two different labels"
            )
        return cls(satisfies=options.satisfies, violates=options.violates)


def levels_of(levels: tuple[str, ...], scale: Scale, test: str) -> tuple[str, ...]:
    """Return the levels to reach, lowest first.

    Raises:
        JrhError: one of them is not on the scale.
    """
    for level in levels:
        if scale.ordered and level not in scale:
            raise JrhError(f"{test}: level '{level}' is not on the scale {', '.join(scale.labels)}")
    return tuple(label for label in scale.labels if label in (levels or scale.labels))


def violation(labels: Labels, item: Item) -> Aim | Skip:
    """Aim at a violation of an entry that the transcript does not violate already."""
    if item.gold == labels.violates:
        return Skip(reason="the transcript already violates the entry")
    return Aim(variant="edited", words=VIOLATES, label=labels.violates)


def level(label: str) -> Aim:
    """Aim at a level."""
    return Aim(
        variant=f"level-{label}",
        words=f"After the edits a careful judge gives the transcript level {label}",
        label=label,
    )


def repair(labels: Labels) -> Aim:
    """Aim at a transcript that satisfies the entry."""
    return Aim(variant="repaired", words=SATISFIES, label=labels.satisfies)


def good(labels: Labels) -> Aim:
    """Aim at a transcript that satisfies the entry as it is."""
    return Aim(variant="untouched", words="", label=labels.satisfies)
