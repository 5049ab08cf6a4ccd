"""Build the perturber that the options ask for."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from jrh import BuildContext, Draft, Item, JrhError, Skip, Task
from jrh.plugins import SetPerturber
from jrh_authoring import WrittenBy, required_model

from jrh_synthetic_ordinal.options import SyntheticOrdinalOptions


@frozen(kw_only=True)
class Unordered:
    """Replaces the test on a scale without levels; a suite may also have a task with levels."""

    async def perturb_set(self, items: Sequence[Item]) -> Sequence[tuple[Item, Draft | Skip]]:
        """Skip every item."""
        return [(item, Skip(reason="the scale has no levels")) for item in items]


def build(options: SyntheticOrdinalOptions, context: BuildContext) -> SetPerturber:
    """Build the perturber by a rule or by a model.

    Raises:
        JrhError: The options contradict each other or do not fit the task.
    """
    # No error: one suite may have tasks of both kinds, and the test is for one of them.
    if not context.task.scale.ordered:
        return Unordered()
    levels = _levels(options, context.task)
    build_by = _by_rule if WrittenBy.of(options.by, options.model) is WrittenBy.RULES else _with_model
    return build_by(options, context, levels)


def _levels(options: SyntheticOrdinalOptions, task: Task) -> tuple[str, ...]:
    for level in options.levels:
        if level not in task.scale:
            raise JrhError(f"synthetic-ordinal: level '{level}' is not on the scale {', '.join(task.scale.labels)}")
    return options.levels or task.scale.labels


def _by_rule(options: SyntheticOrdinalOptions, context: BuildContext, levels: tuple[str, ...]) -> SetPerturber:
    from jrh_synthetic_ordinal.buckets import Scrambler

    return Scrambler(scale=context.task.scale, levels=levels, samples=options.samples, seed=context.seed)


def _with_model(options: SyntheticOrdinalOptions, context: BuildContext, levels: tuple[str, ...]) -> SetPerturber:
    # Late, as the manager imports scikit-learn, which the rules do not need.
    from jrh_synthetic_ordinal.buckets import Ramp
    from jrh_synthetic_ordinal.manager import BucketManager
    from jrh_synthetic_ordinal.writing import Grader, Wording, Writer

    model = required_model(options.model, "synthetic-ordinal")
    # Without a grader any text would count as having reached its level.
    if options.grader is None:
        raise JrhError(
            "synthetic-ordinal: name a `grader`, a model in the suite that judges which level a response reached; "
            "preferably not the model that writes"
        )
    wording = Wording.of(options.prompt, options.grader_prompt)
    grader = Grader(task=context.task, client=context.model(options.grader), wording=wording)
    return BucketManager(
        task=context.task,
        levels=levels,
        options=options,
        base=context.base,
        data=context.data,
        ramp=Ramp.of(
            options.initial_temperature,
            options.temperature_step,
            options.max_temperature,
            options.attempts_per_temperature,
        ),
        writer=Writer(
            task=context.task,
            client=context.model(model),
            grader=grader,
            wording=wording,
            examples=options.examples,
            seed=context.seed,
        ),
        log=context.log,
    )
