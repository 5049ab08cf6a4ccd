"""Build the perturber that the options ask for."""

from __future__ import annotations

from jrh import BuildContext, JrhError
from jrh.plugins import Perturber
from jrh_authoring import TextWriter, WrittenBy

from jrh_label_flip.aims import Aims
from jrh_label_flip.generator import ModelPerturber
from jrh_label_flip.options import BY_RULES, LabelFlipOptions
from jrh_label_flip.perturber import RulePerturber
from jrh_label_flip.prompts import SCHEMA, Wording


def build(options: LabelFlipOptions, context: BuildContext) -> Perturber:
    """Build the perturber by rules or by a model.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    by = WrittenBy.of(options.by, options.model)
    aims = Aims.of(options, context.task, by)
    errors = options.variants or aims.errors()
    if by is WrittenBy.RULES:
        beyond = [error.value for error in errors if error not in BY_RULES]
        if beyond:
            raise JrhError(
                f"label-flip: no rule makes {', '.join(beyond)}; name a `model`, or choose from "
                f"{', '.join(error.value for error in BY_RULES)}"
            )
        return RulePerturber(aims=aims, errors=errors, counts=options.errors, seed=context.seed)
    if options.model is None:
        raise JrhError("label-flip: `by: model` needs `model`, the name of a model in the suite")
    task = context.task
    return ModelPerturber(
        task=task,
        aims=aims,
        errors=errors,
        counts=options.errors,
        writer=TextWriter(
            client=context.model(options.model),
            temperature=options.temperature,
            attempts=options.attempts,
            shown=(task.rubric, task.instruction),
            key="response",
            schema=SCHEMA,
        ),
        wording=Wording.of(options.prompt),
        seed=context.seed,
    )
