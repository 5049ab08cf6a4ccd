"""Build the perturbers that the options ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jrh import BuildContext, JrhError, ModelName
from jrh.plugins import Perturber
from jrh_authoring import WrittenBy

from jrh_agentic.aims import Labels, levels_of
from jrh_agentic.options import PerturbationOptions, PipelineOptions, PositivesOptions, StyleOptions

if TYPE_CHECKING:
    from jrh_agentic.pipeline import Pipeline


def perturbation(options: PerturbationOptions, context: BuildContext) -> Perturber:
    """Build `agent-perturbation`.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    from jrh_agentic.by_rules import LevelsKept, Violations

    test = "agent-perturbation"
    labels = Labels.of(options, context.task, test)
    levels = levels_of(options.levels, context.task.scale, test) if labels is None else ()
    if _by(options) is WrittenBy.MODEL:
        from jrh_agentic.by_model import perturbed

        return perturbed(_pipeline(options, context, test), labels, levels)
    if labels is None:
        return LevelsKept(levels=levels)
    return Violations(task=context.task, labels=labels, options=options, seed=context.seed)


def positives(options: PositivesOptions, context: BuildContext) -> Perturber:
    """Build `agent-positives`.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    from jrh_agentic.by_rules import Levelled, Satisfied

    test = "agent-positives"
    labels = Labels.of(options, context.task, test)
    if labels is None:
        return Levelled()
    if _by(options) is WrittenBy.MODEL:
        from jrh_agentic.by_model import repaired

        return repaired(_pipeline(options, context, test), labels)
    return Satisfied(labels=labels)


def restyled(options: StyleOptions, context: BuildContext) -> Perturber:
    """Build `agent-style`.

    Raises:
        JrhError: the options do not fit each other.
    """
    if _by(options) is WrittenBy.MODEL:
        from jrh_agentic.by_model import reworded

        return reworded(_pipeline(options, context, "agent-style"))
    from jrh_agentic.by_rules import Restyled

    return Restyled(variants=options.variants, seed=context.seed)


def _by(options: PipelineOptions) -> WrittenBy:
    return WrittenBy.of(options.by, options.model or options.planner)


def _pipeline(options: PipelineOptions, context: BuildContext, test: str) -> Pipeline:
    from jrh_agentic.asking import Role, Roles
    from jrh_agentic.pipeline import Pipeline

    own: dict[Role, ModelName | None] = {role: getattr(options, role.value) for role in Role}
    names = {role: name or options.model for role, name in own.items()}
    if not options.verify:
        del names[Role.VERIFIER]
    unassigned = [role.value for role, name in names.items() if name is None]
    if unassigned:
        raise JrhError(
            f"{test}: no model for the {' and the '.join(unassigned)}; "
            "set `model` to a model of the suite for all roles"
        )
    return Pipeline(
        task=context.task,
        roles=Roles(
            clients={role: context.model(name) for role, name in names.items() if name is not None},
            attempts=options.attempts,
            temperature=options.temperature,
            seed=context.seed,
        ),
        verify=options.verify,
        max_steps=options.max_steps,
        max_rounds=options.max_rounds,
        max_characters=options.max_characters,
    )
