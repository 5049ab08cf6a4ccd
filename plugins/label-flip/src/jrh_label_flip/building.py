"""The perturber that the options ask for."""

from __future__ import annotations

from jrh import BuildContext, JrhError, Perturber

from jrh_label_flip.aims import Aims
from jrh_label_flip.generator import ModelPerturber
from jrh_label_flip.options import BY_RULES, By, LabelFlipOptions
from jrh_label_flip.perturber import RulePerturber
from jrh_label_flip.prompts import Wording


def build(options: LabelFlipOptions, context: BuildContext) -> Perturber:
    """Build the perturber by rules or by a model.

    Raises:
        JrhError: the options do not fit each other or the task.
    """
    by = options.by or (By.MODEL if options.model is not None else By.RULES)
    aims = Aims.of(options, context.task, by)
    errors = options.variants or aims.errors()
    if by is By.RULES:
        beyond = [error.value for error in errors if error not in BY_RULES]
        if beyond:
            raise JrhError(
                f"label-flip: no rule makes {', '.join(beyond)}; name a `model`, or choose from "
                f"{', '.join(error.value for error in BY_RULES)}"
            )
        return RulePerturber(aims=aims, errors=errors, counts=options.errors, seed=context.seed)
    if options.model is None:
        raise JrhError("label-flip: `by: model` needs a `model` of the suite")
    return ModelPerturber(
        task=context.task,
        aims=aims,
        errors=errors,
        counts=options.errors,
        client=context.model(options.model),
        wording=Wording.of(options.prompt),
        temperature=options.temperature,
        attempts=options.attempts,
        seed=context.seed,
    )
