"""Count what judges would be asked, case by case; of the trials to put only numbers are kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from attrs import define, field
from jrh import Case, JudgeSpec
from jrh.running import DryRun, TrialPlanner
from jrh.suite import Resolved

T = TypeVar("T")
_AT_ONCE: Final = 500
"""Trials that are looked up at once."""
_FEW: Final = 2_000
"""Below it, distinct numbers are counted without NumPy, whose import takes longer than a small plan."""


class Computed(Sequence[T]):
    """A sequence whose values are made as they are asked for."""

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        """Keep how many values there are, and what makes the one in a place."""
        self._length = length
        self._make = make

    def __len__(self) -> int:
        """Return the number of values."""
        return self._length

    # No slices, which `Sequence` promises: places are looked up one by one, or all in order.
    def __getitem__(self, place: int) -> T:  # type: ignore[override]
        """Make the value in a place."""
        return self._make(range(self._length)[place])


@define
class Trials:
    """What one judge would be asked about the cases of one test."""

    of: Sequence[Case]
    """The cases."""
    _open: array[int] = field(factory=lambda: array("q"))
    """Place of the case and occasion of every trial that is still to be put."""
    trials: int = 0
    cases: int = 0
    items: int = 0
    clusters: int = 0
    _place: int = -1
    _names: tuple[array[int], array[int]] = field(factory=lambda: (array("q"), array("q")))
    """Hashes of the items and clusters of the cases: they take less room than the texts."""

    def add(self, place: int, case: Case, cluster: str) -> None:
        """Count a trial of the case in a place."""
        self.trials += 1
        # Trials of a case come one after another.
        if place != self._place:
            self._place = place
            self.cases += 1
            for hashes, name in zip(self._names, (case.item_id, cluster), strict=True):
                hashes.append(hash(name))

    def add_open(self, place: int, occasion: int) -> None:
        """Note that a trial of the case in a place is still to be put."""
        self._open.extend((place, occasion))

    @property
    def open(self) -> Sequence[tuple[Case, int]]:
        """Return the trials that are still to be put: case and occasion."""
        numbers = self._open
        return Computed(len(numbers) // 2, lambda place: (self.of[numbers[2 * place]], numbers[2 * place + 1]))

    def close(self) -> None:
        """Count the distinct items and clusters."""
        self.items, self.clusters = map(_count_distinct, self._names)
        self._names = (array("q"), array("q"))


def _count_distinct(hashes: array[int]) -> int:
    if len(hashes) < _FEW:
        return len(set(hashes))
    import numpy as np  # in a large plan, a set takes ten times the room

    return len(np.unique(np.asarray(hashes)))


def count_trials(
    dry: DryRun,
    cases: Mapping[tuple[str, str], Sequence[Case]],
    judges: Sequence[tuple[Resolved[JudgeSpec], str]],
    clusters: Mapping[str, Mapping[str, str]],
) -> dict[tuple[str, tuple[str, str]], Trials]:
    """Plan the trials of all cases as a run does, and count them by judge, task and test.

    Args:
        dry: the run.
        cases: by task and test, in the order of the plan.
        judges: with their ids.
        clusters: task -> item -> cluster.
    """
    tasks = {use.task.name: use.task for use in dry.request.resolved.suite.tasks}
    planner = TrialPlanner(judges, tasks, dry.store.trials.occasions() if dry.store is not None else ())
    counts: dict[tuple[str, tuple[str, str]], Trials] = {}
    for key, some in cases.items():
        trials_by_judge = {judge.use.name: Trials(some) for judge, _ in judges}
        waiting: list[tuple[int, str, int, str]] = []
        for place, case in enumerate(some):
            for row in planner.trials([case]):
                trials_by_judge[row.judge].add(place, case, clusters[key[0]][case.item_id])
                waiting.append((place, row.judge, row.occasion, row.trial_id))
            if len(waiting) >= _AT_ONCE:
                _add_open(dry, trials_by_judge, waiting)
        _add_open(dry, trials_by_judge, waiting)
        for name, trials in trials_by_judge.items():
            trials.close()
            counts[name, key] = trials
    return counts


def _add_open(dry: DryRun, trials_by_judge: Mapping[str, Trials], waiting: list[tuple[int, str, int, str]]) -> None:
    """Keep the trials whose records will not last, and empty the list."""
    ids = [trial_id for *_, trial_id in waiting]
    done = dry.store.trials.final_trials(ids) if dry.store is not None else ()
    for place, judge, occasion, trial_id in waiting:
        if trial_id not in done:
            trials_by_judge[judge].add_open(place, occasion)
    waiting.clear()
