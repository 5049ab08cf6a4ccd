"""Change length by a model or by rules: drop dispensable words, or add words that state nothing, from closed lists."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Json, Same, Skip
from jrh.plugins import Perturber
from jrh_authoring import (
    Checks,
    Edit,
    PlannedEdits,
    Rewriting,
    RewritingPerturber,
    WrittenBy,
    edits_at,
    item_texts,
    length_ratio,
    load_template,
    required_model,
    safe_edits,
    word_count,
)

from jrh_verbosity.options import Bounds, Variant, VerbosityOptions, breach
from jrh_verbosity.shortening import LENGTHENING, SHORTENING

NO_PLACE: Final = {
    Variant.SHORT: "no word that a rule can safely drop",
    Variant.LONG: "no sentence that a rule can safely lengthen",
}
"""Why an item is skipped."""
_RULES: Final = {Variant.SHORT: SHORTENING, Variant.LONG: LENGTHENING}


def places(text: str, variant: Variant) -> list[Edit]:
    """Return the edits that the rules can make in one direction, in text order and without overlaps.

    Code, tables, lists, headings, quotations, addresses and tags are left alone.
    """
    return safe_edits(text, _RULES[variant], lists=True)


def _fitting(text: str, variant: Variant, bounds: Bounds) -> list[Edit]:
    """Return the edits that keep within the bounds on their own; if none does, all, so that the reason is shown."""
    words = max(word_count(text), 1)

    def fits(edit: Edit) -> bool:
        achieved = (words + word_count(edit.new) - word_count(edit.old)) / words
        return bounds[0] <= achieved if variant is Variant.SHORT else achieved <= bounds[1]

    return safe_edits(text, _RULES[variant], lists=True, fits=fits) or places(text, variant)


def _change_length(
    plan: PlannedEdits, strength: float, variant: Variant, bounds: Bounds
) -> tuple[str, dict[str, Json], str]:
    """Return the new text, its details, and how its length breaks the bounds (empty if it does not)."""

    def too_much(count: int) -> bool:
        achieved = length_ratio(plan.text, plan.apply(count)[0])
        return achieved < bounds[0] if variant is Variant.SHORT else achieved > bounds[1]

    wanted = edits_at(strength, len(plan.edits))
    # Every edit changes the length in the same direction, so an overshoot is fixed by dropping the last edits.
    allowed = bisect_left(range(1, wanted + 1), True, key=too_much)
    # At least one edit: the bounds then decide whether even that is too much.
    text, details = plan.apply(max(1, allowed))
    achieved = length_ratio(plan.text, text)
    return text, {**details, "length_ratio": achieved}, breach(achieved, variant, bounds)


@frozen(kw_only=True)
class RuleVerbosity:
    """Makes a draft per variant and strength; what the rules cannot treat is skipped."""

    options: VerbosityOptions
    fields: tuple[str, ...]
    checks: Checks
    seed: Callable[..., int]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the drafts in the order of the options; of a pair, all chosen responses change, or none does."""
        texts = item_texts(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        outcomes: list[Draft | Skip] = []
        for variant in self.options.variants:
            outcomes += await self.checks.check_drafts(
                item,
                self._outcomes(item, texts, variant),
                alike="too few places: this strength would equal another",
            )
        return outcomes

    def _outcomes(self, item: Item, texts: Mapping[str, str], variant: Variant) -> Iterator[Draft | Skip]:
        bounds = self.options.bounds(WrittenBy.RULES, variant)
        plans = {
            name: PlannedEdits.of(text, _fitting(text, variant, bounds), self.seed(item.id, variant.value, name))
            for name, text in texts.items()
        }
        # Changing one response of a pair alone would make the comparison about its length.
        if not all(plan.edits for plan in plans.values()):
            yield _skip(NO_PLACE[variant], variant)
            return
        for strength in self.options.strengths:
            yield self._outcome(plans, variant, strength)

    def _outcome(self, plans: Mapping[str, PlannedEdits], variant: Variant, strength: float) -> Draft | Skip:
        bounds = self.options.bounds(WrittenBy.RULES, variant)
        fields: dict[str, Json] = {}
        details: dict[str, Json] = {}
        for name, plan in plans.items():
            fields[name], details[name], broken = _change_length(plan, strength, variant, bounds)
            if broken:
                return _skip(broken, variant, {"by": WrittenBy.RULES.value, "fields": details})
        return Draft(
            variant=variant.value,
            strength=strength,
            fields=fields,
            expectation=Same(),
            details={"by": WrittenBy.RULES.value, "fields": details},
        )


def _skip(reason: str, variant: Variant, details: Mapping[str, Json] | None = None) -> Skip:
    return Skip(reason=reason, variant=variant.value, details=details or {})


def _way(options: VerbosityOptions, variant: Variant) -> Rewriting:
    prompt = options.short_prompt if variant is Variant.SHORT else options.long_prompt
    bounds = options.bounds(WrittenBy.MODEL, variant)
    return Rewriting(
        variant=variant.value,
        prompt=load_template("jrh_verbosity", variant.value) if prompt is None else prompt.content,
        bounds=bounds,
        breach=partial(breach, variant=variant, bounds=bounds),
        # Short and long texts are drawn apart, or both would begin with the same seed.
        seed_parts=(variant.value,),
        details={"by": WrittenBy.MODEL.value},
    )


def build(options: VerbosityOptions, context: BuildContext) -> Perturber:
    """Make the perturber.

    Raises:
        JrhError: `by: model` has no model, the fields do not fit the task, or the model, a prompt or a check is
            unusable.
    """
    fields = options.fields.of(context.task, "verbosity")
    if WrittenBy.of(options.by, options.model) is WrittenBy.RULES:
        checks = Checks.of(options.checks, context)
        return RuleVerbosity(options=options, fields=fields, checks=checks, seed=context.seed)
    model = required_model(options.model, "verbosity")
    ways = [_way(options, variant) for variant in options.variants]
    return RewritingPerturber.of(ways, context, options, model=model, fields=fields)
