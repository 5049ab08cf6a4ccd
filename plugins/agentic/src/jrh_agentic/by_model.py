"""Define the three model-based tests; each sets aims and the pipeline does the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from jrh import Draft, Item, Skip

from jrh_agentic import aims
from jrh_agentic.aims import Aim, Labels
from jrh_agentic.by_rules import untouched
from jrh_agentic.messages import Original
from jrh_agentic.pipeline import Pipeline


@frozen(kw_only=True)
class ByModel:
    """Transcripts edited by models towards the aims of a test."""

    pipeline: Pipeline
    most_aims: int
    """The most aims of one item."""
    wanted: Callable[[Item], Sequence[Aim | Draft | Skip]]
    """Returns an item's aims in order, and in their place what needs no model."""

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model."""
        return {name: calls * self.most_aims * len(items) for name, calls in self.pipeline.most_calls().items()}

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip for every aim, in their order."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        return [
            await self.pipeline.edited(item, original, each) if isinstance(each, Aim) else each
            for each in self.wanted(item)
        ]


def perturbed(pipeline: Pipeline, labels: Labels | None, levels: Sequence[str]) -> ByModel:
    """Edit transcripts to violate the entry or, on a scale with levels (no labels), to reach each level."""
    if labels is not None:
        return ByModel(pipeline=pipeline, most_aims=1, wanted=lambda item: [aims.violation(labels, item)])

    def reach(item: Item) -> Sequence[Aim | Draft]:
        return [untouched(aim) if aim.label == item.gold else aim for aim in map(aims.level, levels)]

    return ByModel(pipeline=pipeline, most_aims=len(levels), wanted=reach)


def repaired(pipeline: Pipeline, labels: Labels) -> ByModel:
    """Let transcripts satisfy the entry: as they are where they do, edited where they do not."""

    def satisfy(item: Item) -> Sequence[Aim | Draft]:
        return [untouched(aims.good(labels)) if item.gold == labels.satisfies else aims.repair(labels)]

    return ByModel(pipeline=pipeline, most_aims=1, wanted=satisfy)


def reworded(pipeline: Pipeline) -> ByModel:
    """Edit transcripts in what must not matter."""
    return ByModel(pipeline=pipeline, most_aims=1, wanted=lambda _item: [aims.STYLED])
