"""Define the three model-based tests; each sets an aim and the pipeline does the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from jrh import Draft, Item, Skip

from jrh_agentic import aims
from jrh_agentic.aims import Aim, Labels
from jrh_agentic.by_rules import untouched
from jrh_agentic.messages import Original
from jrh_agentic.pipeline import Pipeline


@frozen(kw_only=True)
class Perturbed:
    """Transcripts edited to violate the entry, or to reach each of its levels."""

    pipeline: Pipeline
    labels: Labels | None
    """None where the scale has levels."""
    levels: tuple[str, ...]

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model."""
        return _times(self.pipeline, len(items) * (1 if self.labels is not None else len(self.levels)))

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip for the violation, or for every level, lowest first."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        if self.labels is not None:
            aim = aims.violation(self.labels, item)
            return [aim if isinstance(aim, Skip) else await self.pipeline.edited(item, original, aim)]
        return [await self._level(item, original, aims.level(level)) for level in self.levels]

    async def _level(self, item: Item, original: Original, aim: Aim) -> Draft | Skip:
        return untouched(aim) if aim.label == item.gold else await self.pipeline.edited(item, original, aim)


@frozen(kw_only=True)
class Repaired:
    """Transcripts that satisfy the entry: as they are where they do, edited where they do not."""

    pipeline: Pipeline
    labels: Labels

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model."""
        return _times(self.pipeline, len(items))

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft or skip."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        if item.gold == self.labels.satisfies:
            return [untouched(Aim(variant="untouched", words="", label=self.labels.satisfies))]
        return [await self.pipeline.edited(item, original, aims.repair(self.labels))]


@frozen(kw_only=True)
class Reworded:
    """Transcripts edited in what must not matter."""

    pipeline: Pipeline

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model."""
        return _times(self.pipeline, len(items))

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft or skip."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        return [await self.pipeline.edited(item, original, aims.STYLED)]


def _times(pipeline: Pipeline, aims: int) -> Mapping[str, int]:
    return {name: calls * aims for name, calls in pipeline.most_calls().items()}
