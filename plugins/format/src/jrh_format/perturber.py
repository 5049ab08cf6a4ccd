"""Draft one change per layout, or per kind of typing error, and strength."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from attrs import frozen
from jrh import BuildContext, Draft, Item, Json, Same, Skip, Task
from jrh_authoring import item_texts

from jrh_format.layouts import NO_PLACE, Place, Source, apply, choose, count
from jrh_format.options import FormatOptions, Layout, Typo, TypoOptions


@frozen(kw_only=True)
class _Plan:
    """What one layout can do to one text."""

    text: str
    places: Sequence[Place]
    seed: int

    def count(self, strength: float) -> int:
        """Return the number of places a strength changes."""
        return count(strength, len(self.places))

    def apply(self, strength: float) -> tuple[str, int]:
        """Return the changed text and the number of places changed."""
        chosen = choose(self.places, self.count(strength), self.seed)
        return apply(self.text, chosen), len(chosen)


def build(options: FormatOptions, context: BuildContext) -> FormatPerturber:
    """Build the perturber for a task."""
    return FormatPerturber.of(options, context.task, context.seed)


def build_typos(options: TypoOptions, context: BuildContext) -> FormatPerturber:
    """Build the perturber `typos` for a task."""
    return FormatPerturber(options=options, fields=options.fields.of(context.task, "typos"), seed=context.seed)


@frozen(kw_only=True)
class FormatPerturber:
    """Changes layout or spelling of the judged fields deterministically; skips what it cannot change safely."""

    options: FormatOptions | TypoOptions
    fields: tuple[str, ...]
    """The fields that change."""
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    @classmethod
    def of(cls, options: FormatOptions, task: Task, seed: Callable[..., int]) -> FormatPerturber:
        """Make the perturber for a task; raise `JrhError` if the options do not fit the task's mode."""
        return cls(options=options, fields=options.fields.of(task, "format"), seed=seed)

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per layout and strength, in the order of the options; deterministic given the seed."""
        texts = item_texts(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        sources = {name: Source(text) for name, text in texts.items()}
        return [outcome for layout in self.options.variants for outcome in self._outcomes(item.id, layout, sources)]

    def _outcomes(self, item_id: str, layout: Layout | Typo, sources: Mapping[str, Source]) -> Iterator[Draft | Skip]:
        plans = {name: self._plan(item_id, layout, name, source) for name, source in sources.items()}
        if not all(plan.places for plan in plans.values()):
            # Changing the layout of only one response would favour it: all chosen fields change or none does.
            yield Skip(reason=NO_PLACE[layout], variant=layout.value)
            return
        for strength in self.options.strengths:
            if strength == self._effective_strength(strength, plans.values()):
                yield _draft(layout, strength, plans)
            else:
                yield Skip(reason="too few places: this strength would equal another", variant=layout.value)

    def _effective_strength(self, strength: float, plans: Collection[_Plan]) -> float:
        """Of the strengths that change the same places as this one, return the one closest to the share they are."""
        if len(self.options.strengths) == 1:
            return strength
        counts = [plan.count(strength) for plan in plans]
        # Strengths that change the same places would be one case under several names: only the closest one becomes a
        # draft.
        share = sum(counts) / sum(len(plan.places) for plan in plans)
        same = [other for other in self.options.strengths if [plan.count(other) for plan in plans] == counts]
        return min(same, key=lambda other: abs(other - share))

    def _plan(self, item_id: str, layout: Layout | Typo, name: str, source: Source) -> _Plan:
        # The seed ignores the strength, so a weaker draft changes a subset of the places of a stronger one.
        seed = self.seed(item_id, layout.value, name)
        width = self.options.width if isinstance(self.options, FormatOptions) else 0
        return _Plan(text=source.text, places=source.places(layout, seed=seed, width=width), seed=seed)


def _draft(layout: Layout | Typo, strength: float, plans: Mapping[str, _Plan]) -> Draft:
    fields: dict[str, Json] = {}
    details: dict[str, Json] = {}
    for name, plan in plans.items():
        fields[name], changed = plan.apply(strength)
        details[name] = {"places_changed": changed, "places_possible": len(plan.places), "seed": plan.seed}
    return Draft(variant=layout.value, strength=strength, fields=fields, expectation=Same(), details=details)
