"""Build the perturber by rules or by a model, as the options say."""

from __future__ import annotations

from functools import partial

from jrh import BuildContext
from jrh.plugins import Perturber
from jrh_authoring import Checks, Rewriting, RewritingPerturber, WrittenBy, load_template, required_model

from jrh_verbosity.options import Variant, VerbosityOptions, breach


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
        from jrh_verbosity.rules import RuleVerbosity

        checks = Checks.of(options.checks, context)
        return RuleVerbosity(options=options, fields=fields, checks=checks, seed=context.seed)
    model = required_model(options.model, "verbosity")
    ways = [_way(options, variant) for variant in options.variants]
    return RewritingPerturber.of(ways, context, options, model=model, fields=fields)
