"""The perturber `rubric-matters`: another rubric, so that the verdicts of a judge that reads it have to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import BuildContext, Changes, Draft, Item, Skip

from jrh_criteria.asked import asking, call_of, rubric_of
from jrh_criteria.options import RubricOptions

INVERTED: Final = "The opposite of the following is asked for, and what it asks for is a fault: {text}"
NO_RUBRIC: Final = "the task has no rubric"
NO_OTHER: Final = "there is no other rubric; name one with `other`"


@frozen
class RubricMatters:
    """Show an inverted rubric, an empty one, or that of another task."""

    options: RubricOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft for every variant."""
        if item.criterion is None and not self.context.task.rubric.strip():
            return [Skip(reason=NO_RUBRIC)]
        return [self._draft(item, variant) for variant in self.options.variants]

    def _draft(self, item: Item, variant: str) -> Draft | Skip:
        shown = self._of_criteria(item, variant) if item.criterion else self._of_task(variant)
        if shown is None:
            return Skip(reason=NO_OTHER, variant=variant)
        return evolve(shown, variant=variant, expectation=Changes(), repeats=self.options.repeats)

    def _of_task(self, variant: str) -> Draft | None:
        """Return the draft of a task with one rubric."""
        if variant == "other":
            text = self.options.other.content if self.options.other else None
        else:
            text = "" if variant == "empty" else INVERTED.format(text=self.context.task.rubric)
        return None if text is None else Draft(task=evolve(self.context.task, rubric=text))

    def _of_criteria(self, item: Item, variant: str) -> Draft | None:
        call = call_of(item)
        texts = self._others(item, call) if variant == "other" else {}
        if variant == "other" and not texts:
            return None
        if variant != "other":
            template = "" if variant == "empty" else INVERTED
            texts = {name: template.format(text=text) for name, text in call.items()}
        return Draft(fields=asking(item, texts))

    def _others(self, item: Item, call: Mapping[str, str]) -> Mapping[str, str]:
        """Return the text of another criterion for each one of the call: the named one, or the next of the rubric."""
        if self.options.other is not None:
            return dict.fromkeys(call, self.options.other.content)
        rubric = rubric_of(item, self.context.task)
        following = {each.id: rubric[(place + 1) % len(rubric)].text for place, each in enumerate(rubric)}
        return {} if len(rubric) == 1 else {name: following[name] for name in call}
