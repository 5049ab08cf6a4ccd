"""Build the perturbers that the options ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from jrh import BuildContext, Draft, Item, JrhError, ModelName, Skip
from jrh.plugins import Perturber
from jrh_authoring import WrittenBy

from jrh_agentic import aims
from jrh_agentic.aims import Aim, Labels, levels_of
from jrh_agentic.options import PerturbationOptions, PipelineOptions, PositivesOptions, StyleOptions

LEVELLED: Final = "the entry has levels; use agent-perturbation, which reaches each level"

if TYPE_CHECKING:
    from jrh_agentic.pipeline import Pipeline


def perturbation(options: PerturbationOptions, context: BuildContext) -> Perturber:
    """Build `agent-perturbation`: transcripts that violate the entry or, on a scale with levels, reach each level.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    from jrh_agentic.by_rules import TranscriptPerturber, Violations, keep_levels, untouched

    test = "agent-perturbation"
    labels = Labels.of(options, context.task, test)
    levels = levels_of(options.levels, context.task.scale, test) if labels is None else ()
    if _by(options) is WrittenBy.MODEL:

        def wanted(item: Item, _original: object) -> Sequence[Aim | Draft | Skip]:
            if labels is not None:
                return [aims.violation(labels, item)]
            return [untouched(aim) if aim.label == item.gold else aim for aim in map(aims.level, levels)]

        pipeline = _pipeline(options, context, test)
        return TranscriptPerturber(wanted=wanted, pipeline=pipeline, most_aims=1 if labels else len(levels))
    if labels is None:
        return TranscriptPerturber(wanted=lambda item, _: keep_levels(item, levels))
    violations = Violations(task=context.task, labels=labels, options=options, seed=context.seed)
    return TranscriptPerturber(wanted=violations.of)


def positives(options: PositivesOptions, context: BuildContext) -> Perturber:
    """Build `agent-positives`: transcripts that satisfy the entry, as they are where they do, edited where they do not.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    from jrh_agentic.by_rules import TranscriptPerturber, keep_good, untouched

    test = "agent-positives"
    labels = Labels.of(options, context.task, test)
    if labels is None:  # a suite may also have a task without levels
        return TranscriptPerturber(wanted=lambda *_: [Skip(reason=LEVELLED)])
    if _by(options) is WrittenBy.MODEL:

        def wanted(item: Item, _original: object) -> Sequence[Aim | Draft]:
            return [untouched(aims.good(labels)) if item.gold == labels.satisfies else aims.repair(labels)]

        return TranscriptPerturber(wanted=wanted, pipeline=_pipeline(options, context, test), most_aims=1)
    return TranscriptPerturber(wanted=lambda item, _: keep_good(item, labels))


def restyled(options: StyleOptions, context: BuildContext) -> Perturber:
    """Build `agent-style`: transcripts edited in what must not matter.

    Raises:
        JrhError: the options do not fit each other.
    """
    from jrh_agentic.by_rules import TranscriptPerturber, restyle

    if _by(options) is WrittenBy.MODEL:
        pipeline = _pipeline(options, context, "agent-style")
        return TranscriptPerturber(wanted=lambda *_: [aims.STYLED], pipeline=pipeline, most_aims=1)
    return TranscriptPerturber(wanted=lambda item, original: restyle(item, original, options.variants, context.seed))


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
