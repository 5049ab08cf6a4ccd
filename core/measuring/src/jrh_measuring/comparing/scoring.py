"""Read and score the answers of one judge, case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import Item, MetricContext, RecordTable, RunReport, Task
from jrh.plugins import Role

from jrh_measuring import (
    Codes,
    Levels,
    ResponseScores,
    Scores,
    Trials,
    against_gold,
    agreement_scores,
    as_expected,
    is_named,
    measures_by_role,
    read_trials,
    response_facts,
    response_scores,
)

Key: TypeAlias = tuple[str | float, ...]
"""The place of a case: task, test, item and condition."""

EXPECTED: Final = "expected"
GOLD: Final = "gold"
AGREEMENT: Final = "self-agreement"
ERROR: Final = "distance"
SCORE: Final = "score"
SCORE_ERROR: Final = "distance of scores"
LESS: Final = frozenset({ERROR, SCORE_ERROR})
"""Measures of which less is better."""
MEASURES: Final[Mapping[str, str]] = {
    EXPECTED: "verdicts that are as expected: gold, a stated label, or relative to the judge's own reference verdict",
    GOLD: "verdicts that equal the gold label, where the condition keeps it",
    AGREEMENT: "verdicts that equal the judge's own verdict in the reference condition, where no change is expected",
    ERROR: "distance to the right level; ordinal scales only; lower is better",
    SCORE: "the weighted score of a response over its criteria; neither higher nor lower is better",
    SCORE_ERROR: "distance of the weighted score to that of the gold labels, where the condition keeps them; "
    "lower is better",
}
_ROLES: Final = {
    EXPECTED: Role.EXPECTATION,
    GOLD: Role.AGREEMENT,
    AGREEMENT: Role.SELF_AGREEMENT,
    ERROR: Role.DISTANCE,
    SCORE: Role.SCORE,
    SCORE_ERROR: Role.SCORE_ERROR,
}
_CONDITION: Final = ("test", "item_id", "variant", "template", "option_order", "polarity", "language", "output")
_NUMBERS: Final = ("strength", "temperature", "cost")


@frozen(kw_only=True, eq=False)
class Trial:
    """One answer."""

    label: str | None
    status: str
    cost: float | None
    scores: Mapping[str, float]
    """Measure -> score, for the measures that apply and have one."""


@frozen(kw_only=True, eq=False)
class Case:
    """One case as one judge answered it."""

    id: str
    key: Key
    task: str
    test: str
    item: str
    cluster: str
    """Name of the cluster of the item, the unit of analysis."""
    variant: str
    template: str
    option_order: str
    gold: str | None
    expected: str
    """The right label or the expectation; empty if there is none."""
    stated: bool
    """Whether the right label is given, whatever the reference verdict was."""
    about: frozenset[str]
    """The measures that apply to it."""
    trials: tuple[Trial, ...]
    """By repeat."""
    floor: float = 0.0
    """The lowest score that a response can have; 0 for cases that have none."""

    def score(self, measure: str) -> float | None:
        """Return the mean score of the answers, or None if there is none."""
        scores = [trial.scores[measure] for trial in self.trials if measure in trial.scores]
        return sum(scores) / len(scores) if scores else None

    @property
    def right(self) -> float | None:
        """Return the score against the gold or stated label; None if neither is known."""
        return self.score(GOLD if GOLD in self.about else EXPECTED) if GOLD in self.about or self.stated else None

    @property
    def has_verdict(self) -> bool:
        """Return whether there is any verdict."""
        return any(trial.label is not None for trial in self.trials)

    def label_pairs(self, other: Case) -> list[tuple[str, str]]:
        """Return both labels of every repeat that both sides answered."""
        labels = ((before.label, after.label) for before, after in zip(self.trials, other.trials, strict=False))
        return [(before, after) for before, after in labels if before is not None and after is not None]


def measure_names() -> Mapping[str, str]:
    """Return what each of `MEASURES` is called in a report: the measure that is declared with its role, if any is."""
    declared = measures_by_role()
    # Sorted: with several metrics of one role the name must not depend on the order of loading.
    roles = {measure: min(declared.get(role.value, ()), default=measure) for measure, role in _ROLES.items()}
    return {measure: roles.get(measure, measure) for measure in ("", *MEASURES)}


def read_cases(records: RecordTable, report: RunReport) -> list[Case]:
    """Return the cases of one judge's records in plan order."""
    if not len(records):
        return []
    rows = _rows(records, report)
    return [rows.case(places) for places in rows.by_case().values()]


def read_responses(records: RecordTable, report: RunReport) -> list[Case]:
    """Return a case for every response that is judged by criteria and condition, with its weighted score.

    There is none where the items of the run are not stored, as with imported records.
    """
    tasks = [summary.task for summary in report.tasks if summary.task.criteria is not None]
    return list(responses(_rows(records, report), report.evidence.items(), tasks)) if tasks and len(records) else []


def _rows(records: RecordTable, report: RunReport) -> _Rows:
    tasks = {summary.task.name: summary.task for summary in report.tasks}
    return _Rows(read_trials(records, MetricContext(tasks=tasks)), tasks)


class _Rows:
    """The trials of one judge, read one by one."""

    def __init__(self, trials: Trials, tasks: Mapping[str, Task]) -> None:
        self.trials = trials
        self.single = len(tasks) == 1
        self.text = {
            name: trials.records.text(name) for name in ("case_id", "task", *_CONDITION, "gold", "expectation")
        }
        self.number = {name: trials.records.number(name) for name in _NUMBERS}
        self.expected = as_expected(trials)
        levels = Levels.of(trials)
        self.scores: Mapping[str, Scores] = {
            EXPECTED: self.expected,
            GOLD: against_gold(trials),
            # Where a change is due, agreeing is no merit.
            AGREEMENT: agreement_scores(trials).among(is_named(trials.expectation, "same")),
            ERROR: levels.scores(np.abs(levels.errors), 0.0, levels.top),
        }

    def by_case(self) -> Mapping[str, list[int]]:
        """Return the rows of every case in plan order, by repeat."""
        rows_of_case: defaultdict[str, list[int]] = defaultdict(list)
        for row in np.argsort(self.trials.place).tolist():
            rows_of_case[self.of("case_id", row)].append(row)
        return {case: sorted(rows, key=lambda row: int(self.trials.repeat[row])) for case, rows in rows_of_case.items()}

    def case(self, rows: Sequence[int]) -> Case:
        first = rows[0]
        about = frozenset(name for name, scores in self.scores.items() if scores.eligible[first])
        # All repeats of a case have one expectation.
        right = self._right(first)
        return Case(
            id=self.of("case_id", first),
            key=self.key(first),
            task=self.of("task", first),
            item=self.of("item_id", first),
            gold=self.text["gold"][first],
            expected=self.of("expectation", first) if right is None else right,
            stated=right is not None,
            about=about,
            trials=tuple(self._trial(row, about) for row in rows),
            **self.condition(first),
        )

    def condition(self, row: int) -> dict[str, Any]:
        """Return the fields of a `Case` that say under which condition it was put, and its cluster."""
        fields = {name: self.of(name, row) for name in ("test", "variant", "template", "option_order")}
        return fields | {"cluster": self.trials.cluster.names[self.trials.cluster.codes[row]]}

    def of(self, name: str, row: int) -> str:
        return self.text[name][row] or ""

    def key(self, row: int) -> Key:
        # NaN equals nothing, so a missing temperature is written as a number that none can be.
        temperature = float(self.number["temperature"][row])
        return (
            # The only task of two runs may have been renamed.
            "" if self.single else self.of("task", row),
            *(self.of(name, row) for name in _CONDITION),
            float(self.number["strength"][row]),
            -1.0 if np.isnan(temperature) else temperature,
        )

    def _right(self, row: int) -> str | None:
        """Return the right label; None if it depends on the reference verdict or is unknown."""
        code = -1 if self.expected.truth is None else int(self.expected.truth[row])
        return self.trials.labels[code] if code >= 0 else None

    def _trial(self, row: int, about: frozenset[str]) -> Trial:
        code, cost = int(self.trials.label[row]), float(self.number["cost"][row])
        return Trial(
            label=self.trials.labels[code] if code >= 0 else None,
            status=self.trials.status.names[self.trials.status.codes[row]],
            cost=None if np.isnan(cost) else cost,
            scores={
                name: float(scores.value[row])
                for name, scores in self.scores.items()
                if name in about and scores.answered[row]
            },
        )


def responses(rows: _Rows, items: Mapping[str, Sequence[Item]], tasks: Sequence[Task]) -> Iterator[Case]:
    """Yield a case per response and condition, for every weighted score of some tasks."""
    tasks_by_response: defaultdict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        tasks_by_response[task.criteria.name if task.criteria else ""].append(task)
    for name, tasks_of_response in tasks_by_response.items():
        facts = response_facts(rows.trials, items, tasks_of_response)
        places: defaultdict[Key, list[int]] = defaultdict(list)
        for row in np.flatnonzero(facts.inside).tolist():
            _, test, _, *condition = rows.key(row)
            places[name, test, facts.names[facts.response[row]], *condition].append(row)
        for key, chosen in places.items():
            ordered = np.array(sorted(chosen, key=lambda row: (int(rows.trials.repeat[row]), rows.of("item_id", row))))
            scores = response_scores(rows.trials, ordered, facts, np.zeros(len(ordered), dtype=np.int64))
            yield _response_case(rows, ordered, scores, key, tasks_of_response[0].name)


def _response_case(rows: _Rows, ordered: Codes, responses: ResponseScores, key: Key, task: str) -> Case:
    first = int(ordered[0])
    golds = sorted({(rows.of("item_id", row), rows.of("gold", row)) for row in ordered.tolist()})
    about = {SCORE} | ({SCORE_ERROR} if np.isfinite(responses.gold).any() else set())
    # The lowest score that was reached, too: criteria with negative weights go below 0.
    reached = np.concatenate([responses.low, responses.score, responses.gold])
    return Case(
        # Responses have no id of their own: they are matched by their place.
        id="",
        key=key,
        task=task,
        item=str(key[2]),
        # All gold labels of its criteria: a response is matched only with one that has the same ones.
        gold=repr(golds),
        expected="",
        stated=False,
        about=frozenset(about),
        trials=tuple(_response_trial(rows, ordered, responses, place) for place in range(len(responses.score))),
        floor=min(0.0, float(np.nanmin(reached))) if np.isfinite(reached).any() else 0.0,
        **rows.condition(first),
    )


def _response_trial(rows: _Rows, ordered: Codes, responses: ResponseScores, place: int) -> Trial:
    chosen = ordered[responses.of == place]
    labels, statuses = rows.trials.label[chosen], rows.trials.status
    score, gold = float(responses.score[place]), float(responses.gold[place])
    scores = {SCORE: score, SCORE_ERROR: abs(score - gold)}
    # One missing verdict of a criterion leaves the response without a label, and says why.
    lost = sorted({statuses.names[statuses.codes[row]] for row, label in zip(chosen, labels, strict=True) if label < 0})
    return Trial(
        label=None if lost else " ".join(rows.trials.labels[label] for label in labels),
        status=lost[0] if lost else "ok",
        cost=None,
        scores={name: value for name, value in scores.items() if np.isfinite(value)},
    )
