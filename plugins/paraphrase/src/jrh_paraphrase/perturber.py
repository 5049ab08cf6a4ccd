"""Build the perturber by rules or by a model, as the options say."""

from __future__ import annotations

from jrh import BuildContext, JrhError
from jrh.plugins import Perturber
from jrh_authoring import Checks, WrittenBy

from jrh_paraphrase.options import ParaphraseOptions


def build(options: ParaphraseOptions, context: BuildContext) -> Perturber:
    """Make the perturber.

    Raises:
        JrhError: `by: model` has no model, or the model, the prompt or a check is unusable.
    """
    if WrittenBy.of(options.by, options.model) is WrittenBy.RULES:
        from jrh_paraphrase.rules import RuleParaphrase

        return RuleParaphrase(
            fields=context.task.judged_fields,
            rewrites=options.rewrites,
            strengths=options.strengths,
            checks=Checks.of(options.checks, context),
            seed=context.seed,
        )
    if options.model is None:
        raise JrhError("paraphrase: `by: model` needs `model`, the name of a model in the suite")
    from jrh_paraphrase.writing import by_model

    return by_model(options.model, options, context)
