"""Count what judges would be asked, case by case; of the trials to put only numbers are kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

from attrs import define, field

from jrh.plugins.protocols import Logger
from jrh.plugins.specs import JudgeSpec
from jrh.running.asked_cases import AskedCase
from jrh.running.building import Builder
from jrh.running.progress import Progress
from jrh.running.schedule import Planner, trial_id
from jrh.running.stages import perturb as perturbing
from jrh.store.item_spool import Spool
from jrh.store.number_table import NumberTable
from jrh.store.trials_table import TrialRow
from jrh.suite.resolved import Resolved, ResolvedTest
from jrh.values.cases import Case
from jrh.values.items import Item, Task

_AT_ONCE = 500
"""Trials that are looked up at once."""


class OpenTrial(NamedTuple):
    """A trial that is still to be put."""

    trial_id: str
    occasion: int


class OpenTrials(Sequence[tuple[Case, OpenTrial]]):
    """The trials of a judge and test that are still to be put, made as they are asked for."""

    def __init__(self, cases: Sequence[Case], judge_id: str) -> None:
        """Begin without trials of some cases."""
        self._cases = cases
        self._judge_id = judge_id
        self._numbers = array("q")

    def add(self, place: int, row: TrialRow) -> None:
        """Add a trial of the case in a place."""
        self._numbers.extend((place, row.repeat, row.occasion))

    def __len__(self) -> int:
        """Return the number of trials."""
        return len(self._numbers) // 3

    @overload
    def __getitem__(self, place: int) -> tuple[Case, OpenTrial]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[Case, OpenTrial]]: ...
    def __getitem__(self, place: int | slice) -> tuple[Case, OpenTrial] | Sequence[tuple[Case, OpenTrial]]:
        """Return the trial in a place with its case."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        number = 3 * range(len(self))[place]
        at, repeat, occasion = self._numbers[number : number + 3]
        case = self._cases[at]
        return case, OpenTrial(trial_id(case.id, self._judge_id, repeat), occasion)


@define
class _Distinct:
    """Counts distinct texts; equal ones mostly follow each other."""

    count: int = 0
    _last: str | None = None
    _known: NumberTable = field(factory=NumberTable)

    def add(self, text: str) -> None:
        if text != self._last:
            self._last = text
            self.count += self._known.number_of(text, self.count) == self.count


@define
class Asked:
    """What one judge would be asked about the cases of one test."""

    left: OpenTrials
    """Trials that are still to be put."""
    trials: int = 0
    cases: int = 0
    items: _Distinct = field(factory=_Distinct)
    clusters: _Distinct = field(factory=_Distinct)
    _place: int = -1

    def add(self, place: int, case: Case, cluster: str) -> None:
        """Count a trial of the case in a place."""
        self.trials += 1
        if place != self._place:
            self._place = place
            self.cases += 1
            self.items.add(case.item_id)
            self.clusters.add(cluster)


def count_asked(
    cases: Mapping[tuple[str, str], Sequence[Case]],
    judges: Sequence[tuple[Resolved[JudgeSpec], str]],
    tasks: Mapping[str, Task],
    clusters: Mapping[str, Mapping[str, str]],
    earlier: Iterator[tuple[int, int, int]],
    lasting: Callable[[Sequence[str]], Collection[str]],
) -> dict[tuple[str, tuple[str, str]], Asked]:
    """Plan the trials of all cases as a run does, and count them by judge, task and test.

    Args:
        cases: by task and test, in the order of the plan.
        judges: with their ids.
        tasks: by name.
        clusters: task -> item -> cluster.
        earlier: place, question and occasion of the trials of earlier plans.
        lasting: returns those of some trials that will not be repeated.
    """
    planner = Planner(judges, tasks, earlier)
    found: dict[tuple[str, tuple[str, str]], Asked] = {}
    for key, some in cases.items():
        own = {judge.use.name: Asked(OpenTrials(some, judge_id)) for judge, judge_id in judges}
        waiting: list[tuple[int, TrialRow]] = []
        for place, case in enumerate(some):
            for row in planner.trials_of([AskedCase.of(case, tasks[case.task])]):
                own[row.judge].add(place, case, clusters[key[0]][case.item_id])
                waiting.append((place, row))
            if len(waiting) >= _AT_ONCE:
                _keep_open(own, waiting, lasting)
        _keep_open(own, waiting, lasting)
        found |= {(name, key): each for name, each in own.items()}
    return found


def _keep_open(
    own: Mapping[str, Asked], waiting: list[tuple[int, TrialRow]], lasting: Callable[[Sequence[str]], Collection[str]]
) -> None:
    done = lasting([row.trial_id for _, row in waiting])
    for place, row in waiting:
        if row.trial_id not in done:
            own[row.judge].left.add(place, row)
    waiting.clear()


async def made_cases(
    builder: Builder, test: ResolvedTest, task: Task, items: Sequence[Item], progress: Progress, log: Logger
) -> tuple[Sequence[Case], str]:
    """Draft and validate the cases of one test over one task, a slice at a time; return why there are none, too."""
    spool, reasons = Spool(Case), perturbing.Reasons()
    changes = False
    async for made in perturbing.in_slices(builder, test, task, items, progress, log):
        if not changes and len(made.unchanged) < len(made.cases):
            changes = True  # so far every case asked the reference question
            spool.clear()
        spool.add((made.settled() if changes else made).cases)
        reasons.add(made)
    cases = spool.all()
    return cases, "" if cases else reasons.commonest(3)
