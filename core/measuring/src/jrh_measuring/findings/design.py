"""What hypotheses are stated from: the design of a report, without any verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Final, Literal, TypeAlias

import numpy as np
from attrs import Factory, field, frozen
from attrs.validators import gt, instance_of, le, lt
from jrh import REFERENCE, Measure, Polarity, RecordTable, RunReport
from jrh.plugins import Role
from jrh.values import Basis, FindingSettings, TaskSummary

_DIRECTED: Final = frozenset({"not_above", "not_below"})
_MOVING: Final = ("changes", "equals", "not_above", "not_below")


def change_tests(records: RecordTable) -> Mapping[str, frozenset[str]]:
    """Return, by task, the tests in which some case expects a label, a change or a direction.

    The reference condition is none of them. Tasks without such a test are left out, and all are where the records do
    not tell.
    """
    if not _has_expectations(records):
        return {}
    wanted = [code for code, name in enumerate(records.categories("expectation")) if name in _MOVING]
    rows = np.isin(records.codes("expectation"), wanted) & ~records.equals("test", REFERENCE)
    pairs = np.unique(np.stack([records.codes("task")[rows], records.codes("test")[rows]]), axis=1)
    by_task: dict[str, set[str]] = {}
    for task, test in pairs.T.tolist():
        by_task.setdefault(records.categories("task")[task], set()).add(records.categories("test")[test])
    return {task: frozenset(tests) for task, tests in by_task.items()}


def directional_tests(records: RecordTable) -> Mapping[str, frozenset[str]]:
    """Return, by task, the tests that only rule out a direction: a verdict may stay, and noise alone moves some.

    Tasks without such a test are left out, and all are where the records do not tell.
    """
    if not _has_expectations(records):
        return {}
    by_task: dict[str, set[str]] = {}
    for task, tests in change_tests(records).items():
        for test in tests:
            rows = records.equals("task", task) & records.equals("test", test)
            codes = np.unique(records.codes("expectation")[rows])
            # Every case of it: where some case asks for a label or a change, verdicts have to move.
            if {records.categories("expectation")[code] for code in codes.tolist() if code >= 0} <= _DIRECTED:
                by_task.setdefault(task, set()).add(test)
    return {task: frozenset(tests) for task, tests in by_task.items()}


def steady_tests(records: RecordTable, task: str) -> frozenset[str]:
    """Return the other tests of a task, in which a judge is compared with its own reference verdict alone.

    That does not say whether it is right. The reference condition is none of them; there are none where the records do
    not tell.
    """
    if not _has_expectations(records):
        return frozenset()
    names, codes = records.categories("test"), np.unique(records.codes("test")[records.equals("task", task)])
    tests = {names[code] for code in codes.tolist() if code >= 0}
    return frozenset(tests - change_tests(records).get(task, frozenset()) - {REFERENCE})


def _has_expectations(records: RecordTable) -> bool:
    return len(records) > 0 and {"task", "test", "expectation"} <= set(records.columns)


_TWO: Final = 2
Side: TypeAlias = Literal["both", "above", "below"]
"""Which values a claim needs: any other than the null value, larger ones, or smaller ones."""


@frozen(kw_only=True)
class Place:
    """What a measure is about: all of it but its numbers."""

    name: str
    judge: str = ""
    task: str = ""
    test: str = ""
    cell: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, measure: Measure | Basis) -> Place:
        """Return the place of a measure, or of the one that a finding rests on."""
        cell = tuple(sorted(measure.cell.items()))
        return cls(name=measure.name, judge=measure.judge, task=measure.task, test=measure.test, cell=cell)


@frozen(kw_only=True)
class Hypothesis:
    """That the quantity of a measure has a null value; a claim of a difference rejects it."""

    place: Place = field(validator=instance_of(Place))
    null: float = field(default=0.0, validator=[gt(-inf), lt(inf)])
    """The value without a defect; a rule that computes it from data, as from the noise, does so in `test`."""
    side: Side = "both"
    weight: float = field(default=1.0, validator=[gt(0.0), le(1.0)])
    """Its share of the error rate, relative to others; never larger than that of the one before it in a chain."""
    equivalence: bool = False
    """That the quantity lies outside of a margin: claims of equivalence reject it, and are a family of their own."""


Chain: TypeAlias = Sequence[Hypothesis]
"""Hypotheses that are tested in order, each only after those before it were rejected."""


@frozen(kw_only=True, eq=False)
class Design:
    """One judge of one report without its verdicts: what was asked, and which quantities are measured."""

    judge: str
    level: float
    settings: FindingSettings
    tasks: Mapping[str, TaskSummary]
    floors: Mapping[str, float]
    """Kind of finding -> its effect floor."""
    roles: Mapping[str, frozenset[str]]
    """Role -> the names of the measures that have it."""
    moving: Mapping[str, frozenset[str]]
    """Task -> tests in which a reliable judge's verdict may change."""
    directed: Mapping[str, frozenset[str]]
    """Task -> tests that only rule out a direction."""
    inverted: frozenset[tuple[str, str]]
    """(task, test) of two labels that ask all questions inverted, while the reference condition asks none so."""
    reruns: frozenset[tuple[str, str]] | None
    """(task, test) with an item that was asked again in the reference condition; None where the records do not tell."""
    places: Mapping[str, tuple[Place, ...]] = Factory(dict)
    """Name -> what is measured under it of this judge."""

    def wholes(self, name: str) -> tuple[Place, ...]:
        """Return the measures of a name, for whole tests."""
        return tuple(place for place in self.places.get(name, ()) if not place.cell)

    def parts(self, name: str) -> tuple[Place, ...]:
        """Return the measures of a name by factor levels."""
        return tuple(place for place in self.places.get(name, ()) if place.cell)

    def parts_with_weights(self, name: str) -> Iterator[tuple[Place, float]]:
        """Yield the measures of a name by factor levels, each with an equal share of the weight 1 of a whole test."""
        parts = self.parts(name)
        sizes = Counter((place.task, place.test) for place in parts)
        for place in parts:
            yield place, 1 / sizes[place.task, place.test]

    def steady(self, name: str) -> tuple[Place, ...]:
        """Return those for tests in which the verdict of a reliable judge stays the same."""
        return tuple(place for place in self.wholes(name) if not self.moves(place.task, place.test))

    def moves(self, task: str, test: str) -> bool:
        """Return whether the verdict of a reliable judge may change in a test."""
        return test in self.moving.get(task, ())

    def separates_noise(self, task: str, test: str) -> bool:
        """Return whether reruns are meant to tell a change from noise in a test."""
        names = self.roles.get(Role.CHANGE.value, frozenset())
        compared = {(place.task, place.test) for name in names for place in self.wholes(name)}
        return (task, test) in compared and self.has_reruns(task, test)

    def has_reruns(self, task: str, test: str) -> bool:
        """Return whether items of a test were asked again in the reference condition, as far as the records tell."""
        # Records that do not tell are trusted to have reruns where a measure of change was computed.
        return self.reruns is None or (task, test) in self.reruns

    def most_noise(self, task: str) -> float:
        """Return how often two answers from one distribution over the k labels of a task differ at most: 1 - 1/k."""
        return 1 - 1 / max(len(self.tasks[task].task.scale.labels), 1) if task in self.tasks else 0.0

    def floor_of(self, kind: str) -> float:
        """Return the effect floor of a kind of finding."""
        return self.floors.get(kind, self.settings.floor)


def designs_of(
    report: RunReport,
    settings: FindingSettings,
    floors: Mapping[str, float],
    roles: Mapping[str, frozenset[str]],
) -> list[Design]:
    """Return the design of every judge of a report."""
    places: dict[str, dict[str, list[Place]]] = {}
    for measure in report.measures:
        places.setdefault(measure.judge, {}).setdefault(measure.name, []).append(Place.of(measure))
    tasks = {summary.task.name: summary for summary in report.tasks}
    moving, directed = change_tests(report.records), directional_tests(report.records)
    return [
        Design(
            judge=judge,
            level=report.level,
            settings=settings,
            tasks=tasks,
            floors=floors,
            roles=roles,
            moving=moving,
            directed=directed,
            inverted=frozenset(_all_inverted_tests(report.records, judge, tasks.values())),
            reruns=_rerun_tests(report.records, judge),
            places={name: tuple(of_name) for name, of_name in places.get(judge, {}).items()},
        )
        for judge in report.judges
    ]


def _rerun_tests(records: RecordTable, judge: str) -> frozenset[tuple[str, str]] | None:
    if not len(records) or not {"task", "test", "judge", "item_id"} <= set(records.columns):
        return None
    of_judge = records.equals("judge", judge)
    task, test, item = (records.codes(name)[of_judge] for name in ("task", "test", "item_id"))
    reference = records.equals("test", REFERENCE)[of_judge]
    question = task.astype(np.int64) * (int(item.max(initial=0)) + 1) + item
    questions, counts = np.unique(question[reference], return_counts=True)
    again = np.isin(question, questions[counts > 1]) & ~reference
    pairs = np.unique(np.stack([task[again], test[again]]), axis=1).T.tolist()
    tasks, tests = records.categories("task"), records.categories("test")
    return frozenset((tasks[task_code], tests[test_code]) for task_code, test_code in pairs)


def _all_inverted_tests(records: RecordTable, judge: str, tasks: Iterable[TaskSummary]) -> Iterable[tuple[str, str]]:
    if not {"task", "test", "judge", "polarity"} <= set(records.columns):
        return
    turned = records.equals("polarity", Polarity.INVERTED.value) & records.equals("judge", judge)
    if not np.any(turned):
        return
    reference, tests = records.equals("test", REFERENCE), records.categories("test")
    for name in (summary.task.name for summary in tasks if len(summary.task.scale.labels) == _TWO):
        of_task = records.equals("task", name) & records.equals("judge", judge)
        # Positive rows of a test ask the reference question again: they are no part of its measures.
        # Where the reference asks inverted, too, that is the usual question of the task.
        if np.any(of_task & reference & turned):
            continue
        for code in np.unique(records.codes("test")[of_task & turned]).tolist():
            test = of_task & records.equals("test", tests[code])
            if np.any(of_task & (reference | (test & ~turned))):
                yield name, tests[code]


def commonest(summary: TaskSummary) -> tuple[str, float] | None:
    """Return the most common gold label and its share of the labelled items; None without gold labels."""
    if not summary.labelled or not summary.gold:
        return None
    label = max(summary.gold, key=lambda each: summary.gold[each])
    return label, summary.gold[label] / summary.labelled
