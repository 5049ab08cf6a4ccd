"""Count what judges would be asked, case by case; of the trials to put only numbers are kept."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Final, overload

import numpy as np
from attrs import define, field
from jrh import Case, JudgeSpec
from jrh.running import DryRun, TrialPlanner
from jrh.suite import Resolved

_AT_ONCE: Final = 500
"""Trials that are looked up at once."""


class OpenTrials(Sequence[tuple[Case, int]]):
    """The trials of a judge and test that are still to be put: case and occasion, read as they are asked for."""

    def __init__(self, cases: Sequence[Case]) -> None:
        """Begin without trials of some cases."""
        self._cases = cases
        self._numbers = array("q")

    def add(self, place: int, occasion: int) -> None:
        """Add a trial of the case in a place."""
        self._numbers.extend((place, occasion))

    def __len__(self) -> int:
        """Return the number of trials."""
        return len(self._numbers) // 2

    @overload
    def __getitem__(self, place: int) -> tuple[Case, int]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[Case, int]]: ...
    def __getitem__(self, place: int | slice) -> tuple[Case, int] | Sequence[tuple[Case, int]]:
        """Return the trial in a place."""
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        number = 2 * range(len(self))[place]
        return self._cases[self._numbers[number]], self._numbers[number + 1]


@define
class Trials:
    """What one judge would be asked about the cases of one test."""

    open: OpenTrials
    """Trials that are still to be put."""
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
        if place != self._place:
            self._place = place
            self.cases += 1
            for hashes, name in zip(self._names, (case.item_id, cluster), strict=True):
                hashes.append(hash(name))

    def close(self) -> None:
        """Count the distinct items and clusters."""
        self.items, self.clusters = (len(np.unique(np.asarray(hashes))) for hashes in self._names)
        self._names = (array("q"), array("q"))


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
    tasks = {use.task.name: use.task for use in dry.resolved.suite.tasks}
    planner = TrialPlanner(judges, tasks, dry.store.trials.occasions() if dry.store is not None else ())
    counts: dict[tuple[str, tuple[str, str]], Trials] = {}
    for key, some in cases.items():
        own = {judge.use.name: Trials(OpenTrials(some)) for judge, _ in judges}
        waiting: list[tuple[int, str, int, str]] = []
        for place, case in enumerate(some):
            for row in planner.trials([case]):
                own[row.judge].add(place, case, clusters[key[0]][case.item_id])
                waiting.append((place, row.judge, row.occasion, row.trial_id))
            if len(waiting) >= _AT_ONCE:
                _add_open(dry, own, waiting)
        _add_open(dry, own, waiting)
        for name, trials in own.items():
            trials.close()
            counts[name, key] = trials
    return counts


def _add_open(dry: DryRun, own: Mapping[str, Trials], waiting: list[tuple[int, str, int, str]]) -> None:
    """Keep the trials whose records will not last, and empty the list."""
    ids = [trial_id for *_, trial_id in waiting]
    done = dry.store.trials.lasting(ids) if dry.store is not None else ()
    for place, judge, occasion, trial_id in waiting:
        if trial_id not in done:
            own[judge].open.add(place, occasion)
    waiting.clear()
