"""Build the perturbers that the options ask for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from jrh import BuildContext, JrhError, ModelName, Skip
from jrh.plugins import Perturber
from jrh_authoring import WrittenBy

from jrh_agentic import aims
from jrh_agentic.aims import Labels, levels_of
from jrh_agentic.options import PerturbationOptions, PipelineOptions, PositivesOptions, StyleOptions

LEVELLED: Final = "the entry has levels; use agent-perturbation, which reaches each level"

if TYPE_CHECKING:
    from jrh_agentic.pipeline import Pipeline


def perturbation(options: PerturbationOptions, context: BuildContext) -> Perturber:
    """Build `agent-perturbation`: transcripts that violate the entry or, on a scale with levels, reach each level.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    from jrh_agentic.by_rules import TranscriptPerturber, Violations, reach_levels

    test = "agent-perturbation"
    labels, pipeline = Labels.of(options, context.task, test), _pipeline(options, context, test)
    if labels is None:
        levels = levels_of(options.levels, context.task.scale, test)
        outcomes = partial(reach_levels, levels=levels, by_model=pipeline is not None)
        return TranscriptPerturber(outcomes=outcomes, pipeline=pipeline, most_aims=len(levels))
    if pipeline is not None:
        return TranscriptPerturber(outcomes=lambda item, _: [aims.violation(labels, item)], pipeline=pipeline)
    violations = Violations(task=context.task, labels=labels, options=options, seed=context.seed)
    return TranscriptPerturber(outcomes=violations.of)


def positives(options: PositivesOptions, context: BuildContext) -> Perturber:
    """Build `agent-positives`: transcripts that satisfy the entry, as they are where they do, edited where they do not.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    from jrh_agentic.by_rules import TranscriptPerturber, keep_good

    test = "agent-positives"
    labels = Labels.of(options, context.task, test)
    if labels is None:  # a suite may also have a task without levels
        return TranscriptPerturber(outcomes=lambda *_: [Skip(reason=LEVELLED)])
    pipeline = _pipeline(options, context, test)
    outcomes = partial(keep_good, labels=labels, by_model=pipeline is not None)
    return TranscriptPerturber(outcomes=outcomes, pipeline=pipeline)


def style(options: StyleOptions, context: BuildContext) -> Perturber:
    """Build `agent-style`: transcripts edited in what must not matter.

    Raises:
        JrhError: the options do not fit each other.
    """
    from jrh_agentic.by_rules import TranscriptPerturber, restyle

    pipeline = _pipeline(options, context, "agent-style")
    if pipeline is not None:
        return TranscriptPerturber(outcomes=lambda *_: [aims.STYLED], pipeline=pipeline)
    return TranscriptPerturber(outcomes=partial(restyle, kinds=options.variants, seed=context.seed))


def _pipeline(options: PipelineOptions, context: BuildContext, test: str) -> Pipeline | None:
    """Return the pipeline of models; None where rules make the edits."""
    if WrittenBy.of(options.by, options.model or options.planner) is WrittenBy.RULES:
        return None
    from jrh_agentic.pipeline import Pipeline

    # Imported here, so that suites without a model never load it.
    from jrh_agentic.requests import Role, Roles

    names: dict[Role, ModelName | None] = {role: getattr(options, role.value) or options.model for role in Role}
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
        options=options,
    )
