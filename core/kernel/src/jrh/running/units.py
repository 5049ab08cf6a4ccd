"""Units: work of a run that an executor may have done on other machines, because it asks no model."""

from __future__ import annotations

import asyncio
import pickle
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from attrs import frozen

from jrh.errors import RAISED, JrhError, StoreError
from jrh.plugins.protocols import Executor, Logger, LostUnitError, Unit
from jrh.suite.definition import TestUse
from jrh.suite.resolved import Resolved
from jrh.values.items import Item
from jrh.values.verdicts import Example, Question

T = TypeVar("T")
AT_ONCE: Final = 1024
"""Questions handed to a batch judge at once."""
MOST_BYTES: Final = 64 * 2**20
"""Largest result of a unit."""
MOST_LEASES: Final = 5
"""How often a unit is worked on whose worker is lost each time."""


@frozen(kw_only=True)
class Drafted:
    """Perturb and validate a slice of items."""

    test: str
    use: TestUse
    task: str
    items: tuple[Item, ...]


@frozen(kw_only=True)
class Answered:
    """Let a batch judge answer questions, or a trained one after it was fitted to the examples."""

    judge: str
    task: str
    questions: tuple[Question, ...]
    fit: bool = False
    """The judge learns from the examples first."""
    examples: tuple[Example, ...] = ()


@frozen(kw_only=True)
class Done:
    """What a worker made of a unit."""

    here: bool = False
    """Nothing was made: the run itself has to work on the unit."""
    value: Any = None
    log: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    failed: str = ""
    """Why nothing was made."""


def answer(judge: Any, unit: Answered) -> list[Any]:
    """Let a judge answer a unit; return a judgement for each question, or a text that says why there is none.

    Raises:
        StoreError: of this process, where a judge uses its store.
    """
    questions = list(unit.questions)
    try:
        answering = judge.fit(list(unit.examples)) if unit.fit else judge
    # A full disk or a damaged store ends the run; it is no fault of the judge, though it came through its code.
    except StoreError:
        raise
    except RAISED as error:
        return [f"{type(error).__name__}: {error}"] * len(questions)
    judgements: list[Any] = []
    for start in range(0, len(questions), AT_ONCE):
        judgements += _batch(answering, questions[start : start + AT_ONCE])
    return judgements


def _batch(judge: Any, questions: list[Question]) -> list[Any]:
    try:
        judgements = judge.judge_batch(questions)
        # With a judgement missing, nothing says which question each of the others belongs to.
        if len(judgements) != len(questions):
            raise JrhError(f"answered {len(judgements)} of {len(questions)} questions")
    except StoreError:
        raise
    except RAISED as error:
        return [f"{type(error).__name__}: {error}"] * len(questions)
    return [_judgement(judgement) for judgement in judgements]


def _judgement(made: Any) -> Any:
    """Return what a judge made; a text, which is no judgement, must not pass for the reason of a failure."""
    return f"TypeError: the judge returned {type(made).__name__}, not a Judgement" if isinstance(made, str) else made


def spreads(components: Iterable[Resolved[Any]]) -> bool:
    """Tell whether components may work elsewhere: they ask no model, and do not see the whole data."""
    return not any(
        component.all_models
        or any(getattr(part.entry.spec, "whole_data", False) for part in (component, *component.parts))
        for component in components
    )


class Spread:
    """Has units worked on by an executor, several at a time, and gives their results in order.

    A worker that is lost costs its unit, which is worked on again: units pay for nothing and store nothing.
    """

    def __init__(self, executor: Executor, name: str, log: Logger) -> None:
        """Keep an executor that is open."""
        self._executor = executor
        self._name = name
        self._log = log

    async def results(
        self, units: Iterator[tuple[Any, T]], resolved: Iterable[Resolved[Any]], here: Callable[[Any], Awaitable[Any]]
    ) -> AsyncIterator[tuple[T, Any]]:
        """Yield what came of each unit, with what it was given with.

        Args:
            units: in order; read as places become free.
            resolved: the components at work, for their needs.
            here: works on a unit in this process, where a worker cannot.

        Raises:
            JrhError: a unit cannot be worked on.
        """
        specs = [part.entry.spec for part in resolved]
        needs = {"cpus": max(spec.cpus for spec in specs), "gpus": max(spec.gpus for spec in specs)}
        under_way: deque[tuple[T, asyncio.Task[Any]]] = deque()
        try:
            while True:
                # No more than there are places: units hold items, which are read as they are needed.
                while len(under_way) < self._executor.places and (following := next(units, None)) is not None:
                    unit, tag = following
                    under_way.append((tag, asyncio.create_task(self._one(unit, needs, here))))
                if not under_way:
                    return
                tag, task = under_way.popleft()
                yield tag, await task
        finally:
            # Also where the caller leaves early: nothing goes on for a run that has ended.
            for _, task in under_way:
                task.cancel()
            await asyncio.gather(*(task for _, task in under_way), return_exceptions=True)

    async def _one(self, unit: Any, needs: dict[str, float], here: Callable[[Any], Awaitable[Any]]) -> Any:
        done: Done = pickle.loads(await self._run_leased(_pack(unit, needs)))  # noqa: S301 - from a worker of the run
        # A fault of the worker or of the set-up: what a component raises over an item or question is in the value.
        if done.failed:
            raise JrhError(f"executor '{self._name}': {_title(unit)}: {done.failed}")
        if done.here:
            return await here(unit)
        for level, event, values in done.log:
            getattr(self._log, level)(event, **values)
        return done.value

    async def _run_leased(self, unit: Unit) -> bytes:
        # A unit pays for nothing and stores nothing, so that it can be worked on again.
        for lease in range(1, MOST_LEASES + 1):
            try:
                return await self._executor.run(unit)
            except LostUnitError as error:
                self._log.warning("worker lost", executor=self._name, unit=unit.name, lease=lease, error=str(error))
        raise JrhError(
            f"executor '{self._name}': {unit.name}: its worker was lost {MOST_LEASES} times; "
            "it may need more memory than a worker has"
        )


def _title(unit: Drafted | Answered) -> str:
    if isinstance(unit, Drafted):
        return f"test '{unit.test}', {len(unit.items)} items from '{unit.items[0].id}' on"
    return f"judge '{unit.judge}', {len(unit.questions)} questions"


def _pack(unit: Drafted | Answered, needs: dict[str, float]) -> Unit:
    return Unit(name=_title(unit), work=pickle.dumps(unit, pickle.HIGHEST_PROTOCOL), **needs)
