"""One test over a task's items: proposals, validations, and in a chain the next step on what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from attrs import define, evolve, field

from jrh.plugins.protocols import Logger, RemarksOnItems
from jrh.plugins.specs import Scope
from jrh.running.building import Builder
from jrh.running.progress import Progress
from jrh.running.stages.chain import ConflictError, combine, next_item
from jrh.running.stages.drafts import WORKERS, Broken, propose, remark, validate
from jrh.running.units import Drafted, spreads
from jrh.suite.resolved import Resolved, ResolvedTest, Step
from jrh.values.cases import Draft, Skip
from jrh.values.items import Item, Task
from jrh.values.json_values import Json

Outcome: TypeAlias = tuple[Item, Draft | Skip, str]
"""A draft or a skip of an item, and why it was rejected; empty where it was not."""


@define(kw_only=True)
class Line:
    """What became of one item so far; a step may make several lines of one."""

    item: Item
    """The item of the task."""
    shown: Item
    """The item as the next step sees it."""
    draft: Draft | Skip | None = None
    """What all steps so far made; None before the first."""
    rejection: str = ""
    parts: list[Json] = field(factory=list)
    """What each step of a chain did, for the provenance."""

    @property
    def alive(self) -> bool:
        """Tell whether the next step is to be applied."""
        return not isinstance(self.draft, Skip) and not self.rejection

    @property
    def outcome(self) -> Outcome:
        """Return the item with what became of it."""
        assert self.draft is not None
        return self.item, self.draft, self.rejection


class Assembly:
    """Applies the steps of one test to the items of one task."""

    def __init__(self, builder: Builder, test: ResolvedTest, task: Task, progress: Progress, log: Logger) -> None:
        """Keep what every step needs."""
        self._builder = builder
        self._test = test
        self._task = task
        self._progress = progress
        self._log = log
        self._broken = Broken(progress, log)
        self._built: dict[int, Any] = {}

    @property
    def sees_everything(self) -> bool:
        """Tell whether a component has to see all items, or all drafts, at once."""
        # Later steps remark on what earlier ones made, which is known as a whole only without slices.
        later = (self._perturber(step) for step in self._test.steps[1:])
        declared = any(part.entry.spec.scope is Scope.SET for part in self._test.components)
        return declared or any(isinstance(perturber, RemarksOnItems) for perturber in later)

    def remark(self, items: Sequence[Item]) -> None:
        """Let the first perturber say what it finds about all items."""
        step = self._test.steps[0]
        remark(self._perturber(step), step, self._task, items, self._progress, self._log)

    async def run_all(self, parts: Iterable[Sequence[Item]]) -> AsyncIterator[list[Line]]:
        """Yield the lines of each part, in order; where the run has an executor, parts are worked on elsewhere."""
        spread, test = self._builder.spread, self._test
        if spread is None or not spreads(test.components):
            for some in parts:
                yield await self.by_turns(some)
            return

        def units() -> Iterator[tuple[Drafted, int]]:
            for some in parts:
                yield Drafted(test=test.use.name, use=test.use, task=self._task.name, items=tuple(some)), len(some)

        async def here(unit: Drafted) -> list[Line]:
            # An assembly and a progress of its own: units run at the same time, and are counted as they come back.
            return await Assembly(self._builder, test, self._task, Progress(), self._log).by_turns(unit.items)

        async for count, lines in spread.results(units(), test.components, here):
            self._progress.advance(count)
            yield lines

    async def by_turns(self, items: Sequence[Item]) -> list[Line]:
        """Apply a test to items; those of one response by turns, under the id of the response.

        Perturbers draw by the item's id: all criteria of a response are asked about the same changed text, and so can
        share a call.
        """
        if not any(item.criterion for item in items):
            return await self.run(items)
        turns: dict[str, dict[str, Item]] = {}
        for item in items:
            turns.setdefault(item.criterion.criterion.id if item.criterion else "", {})[item.response_id] = item
        lines: list[Line] = []
        for members in turns.values():
            results = await self.run([evolve(item, id=name) for name, item in members.items()])
            lines += [evolve(line, item=members[line.item.id]) for line in results]
        place = {item.id: number for number, item in enumerate(items)}
        # In the order of the items again.
        return sorted(lines, key=lambda line: place[line.item.id])

    async def run(self, items: Sequence[Item]) -> list[Line]:
        """Return a line for every draft and skip: items in order, and in order of the perturber within an item.

        Called once with all items where the test `sees_everything`, and else with as many as fit into memory.
        """
        lines = [Line(item=item, shown=item) for item in items]
        for number, step in enumerate(self._test.steps):
            # The first step has remarked on all items before they were divided into slices.
            if number:
                alive = [line.shown for line in lines if line.alive]
                remark(self._perturber(step), step, self._task, alive, Progress(), self._log)
            # Items are counted once, by the first step.
            lines = await self._apply(step, lines, Progress() if number else self._progress)
        if len(self._test.steps) > 1:
            await self._validate(lines)
        return lines

    def _perturber(self, step: Step) -> Any:
        return self._build(step.component, step.component.entry.spec.name)

    def _build(self, resolved: Resolved[Any], seed_name: str = "") -> Any:
        """Build a component once: what it keeps from item to item must not depend on the size of a slice."""
        if id(resolved) not in self._built:
            self._built[id(resolved)] = self._builder.build(resolved, self._task, seed_name=seed_name)
        return self._built[id(resolved)]

    async def _apply(self, step: Step, lines: Sequence[Line], progress: Progress) -> list[Line]:
        """Apply a step to the lines that are left; the others stay as they are."""
        alive = [line.shown for line in lines if line.alive]
        proposed = await propose(
            self._perturber(step), step, alive, progress, self._broken, self._builder.under_way(step.component, WORKERS)
        )
        drafts = [(shown, draft) for shown, draft in proposed if isinstance(draft, Draft)]
        checked = iter(await validate(self._build, step, self._task, drafts, self._broken, self._builder.under_way))
        outcomes: defaultdict[str, list[tuple[Draft | Skip, str]]] = defaultdict(list)
        for shown, draft in proposed:
            outcomes[shown.id].append((draft, "") if isinstance(draft, Skip) else next(checked))
        taken: set[str] = set()
        result: list[Line] = []
        for line in lines:
            if line.alive:
                drafted = outcomes.pop(line.shown.id, ())
                result += [self._extend(step, line, draft, why, taken) for draft, why in drafted]
            else:
                result.append(line)
        # A perturber of a set may return items that the task does not have; `propose` rejected their drafts.
        strays = {shown.id: shown for shown, _ in proposed if shown.id in outcomes}
        result += [
            Line(item=shown, shown=shown, draft=draft, rejection=why)
            for shown in strays.values()
            for draft, why in outcomes[shown.id]
        ]
        return result

    def _extend(self, step: Step, line: Line, draft: Draft | Skip, rejection: str, taken: set[str]) -> Line:
        """Return a line with one more step."""
        if len(self._test.steps) == 1:
            return evolve(line, draft=draft, rejection=rejection)
        name = step.use.name
        if isinstance(draft, Skip):
            return evolve(line, draft=evolve(draft, reason=f"{name}: {draft.reason}"))
        parts = [*line.parts, _part(step, draft)]
        before = line.draft
        try:
            joint = draft if before is None else combine(_draft(before), draft)
        except ConflictError as error:
            # The two cannot be joined: the report shows the draft of this step as the rejected one.
            joint, rejection = draft, rejection or f"jrh: {error}"
        rejection = f"{name}: {rejection}" if rejection else ""
        shown = line.shown if rejection else next_item(line.shown, draft, taken)
        return evolve(
            line, shown=shown, draft=evolve(joint, details={"steps": parts}), rejection=rejection, parts=parts
        )

    async def _validate(self, lines: Sequence[Line]) -> None:
        """Ask the validators of the whole chain about what its last step made."""
        alive = [line for line in lines if line.alive]
        drafts = [(line.item, _draft(line.draft)) for line in alive]
        checked = await validate(self._build, self._test, self._task, drafts, self._broken, self._builder.under_way)
        for line, (draft, rejection) in zip(alive, checked, strict=True):
            line.draft, line.rejection = draft, rejection


def _part(step: Step, draft: Draft) -> Json:
    entry = step.component.entry
    return {
        "component": entry.qualified,
        "version": entry.version,
        "variant": draft.variant,
        "model": draft.model,
        "details": draft.details,
    }


def _draft(value: Draft | Skip | None) -> Draft:
    assert isinstance(value, Draft)
    return value
