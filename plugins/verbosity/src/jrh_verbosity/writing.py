"""Change length with a model."""

from __future__ import annotations

from functools import partial

from jrh import BuildContext, ModelName
from jrh.text import packaged_template
from jrh_authoring import Rewriting, RewritingPerturber, WrittenBy

from jrh_verbosity.length import breach
from jrh_verbosity.options import Variant, VerbosityOptions


def by_model(
    model: ModelName, options: VerbosityOptions, fields: tuple[str, ...], context: BuildContext
) -> RewritingPerturber:
    """Make the perturber; raise `JrhError` where model, checks or a prompt cannot be used."""
    return RewritingPerturber.of(
        [_way(options, variant) for variant in options.variants],
        context,
        model=model,
        temperature=options.temperature,
        attempts=options.attempts,
        checks=options.checks,
        fields=fields,
    )


def _way(options: VerbosityOptions, variant: Variant) -> Rewriting:
    own = options.short_prompt if variant is Variant.SHORT else options.long_prompt
    bounds = options.bounds(WrittenBy.MODEL, variant)
    return Rewriting(
        variant=variant.value,
        prompt=packaged_template("jrh_verbosity", variant.value) if own is None else own.content,
        bounds=bounds,
        breach=partial(breach, variant=variant, bounds=bounds),
        seed_parts=(variant.value,),
        details={"by": WrittenBy.MODEL.value},
    )
