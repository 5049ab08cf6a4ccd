"""The perturber `rubric`: a stricter rubric, a more lenient one, and the levels listed in reverse order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import evolve, frozen
from jrh import BuildContext, Draft, Expectation, Item, NotAbove, NotBelow, Same, Scale, Skip, Text

from jrh_prompts.options import RubricOptions

NO_ORDER = "the scale has no order, so no rubric can be stricter"
NO_LIST = "the rubric does not list the scale's labels"

_BEFORE = r"[ \t]*(?:[-*+\u2022][ \t]+)?(?:\*\*|__)?(?:(?:score|level|grade|rating)[ \t]+)?(?:of[ \t]+)?[(\[]?"
_AFTER = r"[)\]]?(?:\*\*|__)?[ \t]*(?:[:.=)\u2013\u2014-]|points?\b)"
"""Text allowed around a label that starts an entry: list mark, emphasis, `Score of`; then a colon or similar."""


@frozen
class RubricPerturber:
    """Change the rubric, in the same way for every item."""

    options: RubricOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 - the same for all items
        """Return the drafts of the stricter rubrics, of the more lenient ones, and of the reversed list."""
        return list(self._outcomes())

    def _outcomes(self) -> Iterator[Draft | Skip]:
        yield from self._with_text("stricter", self.options.stricter, NotAbove())
        yield from self._with_text("lenient", self.options.lenient, NotBelow())
        if self.options.reorder:
            turned = reverse_list(self.context.task.rubric, self.context.task.scale)
            yield (
                Skip(reason=NO_LIST, variant="reversed-list")
                if turned is None
                else self._draft("reversed-list", turned, Same())
            )

    def _with_text(self, name: str, texts: Sequence[Text], expectation: Expectation) -> Iterator[Draft | Skip]:
        task = self.context.task
        for number, text in enumerate(texts, start=1):
            variant = name if len(texts) == 1 else f"{name}-{number}"
            if task.scale.ordered:
                yield self._draft(variant, f"{task.rubric.rstrip()}\n\n{text.content}".strip(), expectation)
            else:
                yield Skip(reason=NO_ORDER, variant=variant)

    def _draft(self, variant: str, rubric: str, expectation: Expectation) -> Draft:
        return Draft(
            variant=variant,
            task=evolve(self.context.task, rubric=rubric),
            expectation=expectation,
            repeats=self.options.repeats,
        )


def reverse_list(rubric: str, scale: Scale) -> str | None:
    """Return the rubric with its list of labels in reverse order, or None if it has no such list.

    An entry starts on a line that begins with a label (`4: ...`, `- Level 4 - ...`, `YES: ...`) and ends before the
    next one; the last entry ends at a blank line or at the end. Every label must have exactly one entry, and the
    entries must follow each other directly. Only the positions of the entries change.
    """
    lines = rubric.splitlines(keepends=True)
    starts = [(place, label) for place, line in enumerate(lines) if (label := _label_at(line, scale)) is not None]
    # Every label once, or the list is not one of levels.
    if sorted(label for _, label in starts) != sorted(scale.labels):
        return None
    begin = starts[0][0]
    # The last entry has no next one to end it, so a blank line does.
    end = next((place for place in range(starts[-1][0], len(lines)) if not lines[place].strip()), len(lines))
    bounds = [*(place for place, _ in starts), end]
    entries = ["".join(lines[start:stop]) for start, stop in pairwise(bounds)]
    bodies = [entry.rstrip() for entry in entries]
    # White space after an entry keeps its position: the last entry may end without a line break.
    gaps = [entry[len(body) :] for entry, body in zip(entries, bodies, strict=True)]
    turned = [body + gap for body, gap in zip(reversed(bodies), gaps, strict=True)]
    return "".join([*lines[:begin], *turned, *lines[end:]])


def _label_at(line: str, scale: Scale) -> str | None:
    # Longest first: `10` starts with the label `1`.
    for label in sorted(scale.labels, key=len, reverse=True):
        if re.match(f"{_BEFORE}{re.escape(label)}{_AFTER}", line, re.IGNORECASE):
            return label
    return None
