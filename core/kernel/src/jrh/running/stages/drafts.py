"""Drafts: perturbers propose, validators decide. What a plugin does wrong costs its own drafts and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from attrs import define, evolve, field

from jrh.errors import RAISED, StoreError
from jrh.models.ledger import VALIDATOR, WRITER, book_as
from jrh.plugins.protocols import Logger, RemarksOnItems
from jrh.plugins.specs import Scope, ValidatorSpec
from jrh.running.event_loop import for_each
from jrh.running.progress import Progress
from jrh.suite.definition import OnMismatch, TestUse
from jrh.suite.resolved import Resolved, ResolvedTest, Step
from jrh.text.redact import error_line, error_place
from jrh.values.cases import Draft, Equals, Skip, Validation
from jrh.values.items import TOGETHER_FIELD, Item, Task

WORKERS: Final = 64
"""Items under way at once; models have limits of their own."""

PLUGIN_ERROR: Final = "plugin error"
"""What the reason begins with where a perturber or a validator raised."""
Proposal: TypeAlias = tuple[Item, Draft | Skip]
T = TypeVar("T")


def remark(perturber: Any, step: Step, task: Task, items: Sequence[Item], progress: Progress, log: Logger) -> None:
    """Let a perturber say what it finds about the items as a whole."""
    if isinstance(perturber, RemarksOnItems):
        for sentence in perturber.remarks(items):
            log.warning("perturber remarks", test=step.use.name, remark=sentence)
            progress.say(f"Test '{step.use.name}' on task '{task.name}': {sentence}")


@define
class Broken:
    """Says what a plugin raised, once for each place; each item and draft it costs is logged."""

    progress: Progress
    log: Logger
    _reported_places: set[str] = field(factory=set, init=False)

    def reason(self, what: str, test: str, error: BaseException, **where: str) -> str:
        """Note that a perturber or validator of a test raised; return the reason of the skip or the rejection.

        Raises:
            StoreError: that of the run's own files, which ends the run.
        """
        # A full disk is no fault of the plugin, though it came through its code.
        if isinstance(error, StoreError):
            raise error
        kind = type(error).__name__
        event, at = f"{what} raised", error_place(error)
        self.log.warning(event, test=test, **where, error=repr(error), at=at)
        once = f"{what}, {test}, {kind}, {at}"
        if once not in self._reported_places:
            self._reported_places.add(once)
            self.progress.say(f"Test '{test}': a {what} raised {error_line(error)}; drafts are missing.")
        return f"{PLUGIN_ERROR}: {kind}"


async def propose(
    perturber: Any, step: Step, items: Sequence[Item], progress: Progress, broken: Broken, workers: int = WORKERS
) -> list[Proposal]:
    """Let a perturber treat the items, whose ids differ; one it breaks on is skipped with the reason `plugin error`."""
    if step.component.entry.spec.scope is Scope.SET:
        with book_as(WRITER, step.use.name):
            return await _propose_set(perturber, step, items, progress, broken)
    results: list[list[Draft | Skip]] = [[] for _ in items]

    async def one(position: int) -> None:
        try:
            drafts = await perturber.perturb(items[position])
            # Here and not where a draft is used: the log then names the plugin and the item.
            results[position] = [_must_be(draft_or_skip, Draft, Skip) for draft_or_skip in drafts]
        except RAISED as error:  # one item must not cost the others
            why = broken.reason("perturber", step.use.name, error, item=items[position].id)
            results[position] = [Skip(reason=why)]
        progress.advance()

    with book_as(WRITER, step.use.name):
        await for_each(range(len(items)), one, workers)
    return [(item, draft) for item, drafts in zip(items, results, strict=True) for draft in drafts]


async def _propose_set(
    perturber: Any, step: Step, items: Sequence[Item], progress: Progress, broken: Broken
) -> list[Proposal]:
    items_by_id = {item.id: item for item in items}
    try:
        drafts = await perturber.perturb_set(items)
        proposals = [(_must_be(item, Item), _must_be(draft, Draft, Skip)) for item, draft in drafts]
    except RAISED as error:  # one test must not cost the others
        skip = Skip(reason=broken.reason("perturber", step.use.name, error))
        proposals = [(item, skip) for item in items]
    progress.advance(len(items))
    # Kept as a skip, so that reports count what the plugin did wrong.
    foreign = Skip(reason="jrh: belongs to no item of the task")
    return [(items_by_id[item.id], draft) if item.id in items_by_id else (item, foreign) for item, draft in proposals]


def _must_be(value: T, *kinds: type) -> T:
    if not isinstance(value, kinds):
        raise TypeError(f"expected {' or '.join(kind.__name__ for kind in kinds)}, got {type(value).__name__}")
    return value


async def validate(
    build: Callable[[Resolved[ValidatorSpec]], Any],
    step: Step | ResolvedTest,
    task: Task,
    drafts: Sequence[tuple[Item, Draft]],
    broken: Broken,
    workers: Callable[[Resolved[ValidatorSpec], int], int] = lambda _, usual: usual,
) -> list[tuple[Draft, str]]:
    """Run the validators over all drafts; return each draft as it is kept, and who rejected it and why."""
    # The contract first: a validator may rely on it, and a draft that breaks it costs no call.
    state = [(draft, _breach(task, item, draft)) for item, draft in drafts]
    for resolved in step.validators:
        validator = build(resolved)
        # What one validator rejected is not shown to the next, which may ask a model.
        alive = [position for position, (_, rejection) in enumerate(state) if not rejection]
        pairs = [(drafts[position][0], state[position][0]) for position in alive]
        with book_as(VALIDATOR, resolved.use.name):
            if resolved.entry.spec.scope is Scope.SET:
                validations = await _all_at_once(validator, pairs, step.use.name, broken)
            else:
                validations = await _one_by_one(validator, pairs, step.use.name, broken, workers(resolved, WORKERS))
        for position, validation in zip(alive, validations, strict=True):
            draft = state[position][0]
            state[position] = _apply(step.use, task, draft, validation, resolved.use.name)
    return state


async def _all_at_once(
    validator: Any, pairs: Sequence[tuple[Item, Draft]], test: str, broken: Broken
) -> list[Validation]:
    try:
        validations = [_must_be(validation, Validation) for validation in await validator.validate_set(pairs)]
        if len(validations) != len(pairs):
            raise ValueError(f"answered {len(validations)} of {len(pairs)} drafts")
    except RAISED as error:
        # Nothing says which draft it broke on.
        return [Validation(accepted=False, reason=broken.reason("validator", test, error))] * len(pairs)
    return validations


async def _one_by_one(
    validator: Any, pairs: Sequence[tuple[Item, Draft]], test: str, broken: Broken, workers: int
) -> list[Validation]:
    validations = [Validation(accepted=False, reason="not validated")] * len(pairs)

    async def one(position: int) -> None:
        item, draft = pairs[position]
        try:
            validations[position] = _must_be(await validator.validate(item, draft), Validation)
        except RAISED as error:
            why = broken.reason("validator", test, error, item=item.id)
            validations[position] = Validation(accepted=False, reason=why)

    await for_each(range(len(pairs)), one, workers)
    return validations


def _apply(use: TestUse, task: Task, draft: Draft, validation: Validation, name: str) -> tuple[Draft, str]:
    details = dict(draft.details)
    if validation.score is not None or validation.details or validation.label is not None:
        details[f"validator:{name}"] = {
            "score": validation.score,
            "label": validation.label,
            **dict(validation.details),
            **({} if validation.accepted else {"accepted": False}),  # where the test keeps what is refused
        }
    draft = evolve(draft, details=details)
    # Only a validator that arrived at a label disagrees about the label; any other refusal is about the text.
    if validation.accepted or (use.on_mismatch is OnMismatch.KEEP and validation.label is not None):
        return draft, ""
    # A label off the scale cannot be the right answer: such a draft is rejected.
    if use.on_mismatch is OnMismatch.RELABEL and validation.label is not None and validation.label in task.scale:
        return evolve(draft, expectation=Equals(label=validation.label)), ""
    return draft, f"{name}: {validation.reason or 'rejected'}"


def _breach(task: Task, item: Item, draft: Draft) -> str:
    """Say which rule of the contract a draft breaks; empty where none."""
    presented = draft.task or task
    label_map = draft.label_map if draft.label_map is not None else task.scale.identity_map()
    # Where a task asks one criterion per call, a test may still ask several.
    known = {*item.fields, TOGETHER_FIELD} if item.criterion else item.fields
    rules = (
        ([name for name in draft.fields if name not in known], "changes a field the item does not have"),
        (any(label not in label_map for label in presented.scale.labels), "its label map leaves out a label"),
        (any(label not in task.scale for label in label_map.values()), "its label map leads to a label off the scale"),
        (
            isinstance(draft.expectation, Equals) and draft.expectation.label not in task.scale,
            "expects a label that is not on the scale",
        ),
        (draft.repeats < 1, "asks for fewer than 1 repeat"),
    )
    return next((f"jrh: {rule}" for broken, rule in rules if broken), "")
