"""Build the perturber by rules or by a model, as the options say."""

from __future__ import annotations

from jrh import BuildContext, JrhError
from jrh.plugins import Perturber
from jrh_authoring import Checks, WrittenBy

from jrh_verbosity.options import VerbosityOptions


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
    if options.model is None:
        raise JrhError("verbosity: `by: model` needs `model`, the name of a model in the suite")
    from jrh_verbosity.writing import by_model

    return by_model(options.model, options, fields, context)
