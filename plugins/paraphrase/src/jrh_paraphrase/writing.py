"""Paraphrase with a model."""

from __future__ import annotations

from jrh import BuildContext, ModelName
from jrh_authoring import Rewriting, RewritingPerturber, WrittenBy, packaged_template

from jrh_paraphrase.options import ParaphraseOptions


def by_model(model: ModelName, options: ParaphraseOptions, context: BuildContext) -> RewritingPerturber:
    """Make the perturber; raise `JrhError` where model, checks or prompt cannot be used."""
    own = options.prompt
    low, high = options.length_ratio

    def breach(ratio: float) -> str:
        return "shorter than allowed" if ratio < low else "longer than allowed" if ratio > high else ""

    way = Rewriting(
        variant=WrittenBy.MODEL.value,
        prompt=packaged_template("jrh_paraphrase", "paraphrase") if own is None else own.content,
        bounds=(low, high),
        breach=breach,
    )
    return RewritingPerturber.of(
        [way],
        context,
        model=model,
        temperature=options.temperature,
        attempts=options.attempts,
        checks=options.checks,
        fields=context.task.judged_fields,
    )
