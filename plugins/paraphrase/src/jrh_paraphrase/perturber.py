"""Paraphrase by rules, which swap phrases from closed lists and change nothing else, or with a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

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
    load_template,
    required_model,
    safe_edits,
)

from jrh_paraphrase.options import ParaphraseOptions, Rewrite
from jrh_paraphrase.swaps import SWAPS

NO_PLACE = "no phrase that a rule can safely swap"
"""Why an item is skipped."""


def swaps(text: str, kinds: Collection[Rewrite]) -> list[Edit]:
    """Return the swaps of these kinds that are safe in the text, in text order and without overlaps.

    Nothing is swapped inside code, tables, quotations, addresses and tags.
    """
    wanted = {kind.value for kind in kinds}
    return safe_edits(text, (swap for swap in SWAPS if swap.kind in wanted))


@frozen(kw_only=True)
class RuleParaphrase:
    """Makes one draft per strength; an item without a safe swap is skipped."""

    fields: tuple[str, ...]
    rewrites: tuple[Rewrite, ...]
    strengths: tuple[float, ...]
    checks: Checks
    seed: Callable[..., int]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per strength, in the order of the options; of a pair, both responses change where they can."""
        texts = item_texts(item, self.fields)
        if isinstance(texts, Skip):
            return [texts]
        plans = {
            name: PlannedEdits.of(text, edits, self.seed(item.id, name))
            for name, text in texts.items()
            # A seed for each item and field: neither the order of items nor the other response changes what is swapped.
            if (edits := swaps(text, self.rewrites))
        }
        # Of a pair, one response may be unchanged: a paraphrase does not make the other one better.
        if not plans:
            return [Skip(reason=NO_PLACE, variant=WrittenBy.RULES.value)]
        drafts = [_draft(plans, strength) for strength in self.strengths]
        return await self.checks.check_drafts(item, drafts, alike="too few swaps: this strength would equal another")


def _draft(plans: Mapping[str, PlannedEdits], strength: float) -> Draft:
    fields: dict[str, Json] = {}
    details: dict[str, Json] = {}
    for name, plan in plans.items():
        # The swaps made go into the details, which list all that differs from the item.
        fields[name], details[name] = plan.apply(edits_at(strength, len(plan.edits)))
    return Draft(
        variant=WrittenBy.RULES.value,
        strength=strength,
        fields=fields,
        expectation=Same(),
        details={"fields": details},
    )


def build(options: ParaphraseOptions, context: BuildContext) -> Perturber:
    """Make the perturber.

    Raises:
        JrhError: `by: model` has no model, or the model, the prompt or a check is unusable.
    """
    fields = context.task.judged_fields
    if WrittenBy.of(options.by, options.model) is WrittenBy.RULES:
        return RuleParaphrase(
            fields=fields,
            rewrites=options.rewrites,
            strengths=options.strengths,
            checks=Checks.of(options.checks, context),
            seed=context.seed,
        )
    model, prompt = required_model(options.model, "paraphrase"), options.prompt
    way = Rewriting(
        variant=WrittenBy.MODEL.value,
        prompt=load_template("jrh_paraphrase", "paraphrase") if prompt is None else prompt.content,
        bounds=options.length_ratio,
    )
    return RewritingPerturber.of([way], context, options, model=model, fields=fields)
