"""The answers of one judge, case by case, and how they score."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import REFERENCE, RecordTable, RunReport, Scale, Status

Key: TypeAlias = tuple[str | float, ...]
"""Where a case stands: task, test, item and condition."""

ACCURACY: Final = "accuracy"
GOLD: Final = "gold-accuracy"
AGREEMENT: Final = "agreement"
ERROR: Final = "absolute-error"
MEASURES: Final[Mapping[str, str]] = {
    ACCURACY: "verdicts that are as expected: gold, a stated label, or relative to the judge's own reference verdict",
    GOLD: "verdicts that equal the gold label, where the condition keeps it",
    AGREEMENT: "verdicts that equal the judge's own verdict in the reference condition, where no change is due",
    ERROR: "distance to the right level; ordinal scales only, and less is better",
}
_CONDITION: Final = ("test", "item_id", "variant", "template", "option_order", "polarity", "language")


@frozen(kw_only=True, eq=False)
class Trial:
    """One answer."""

    label: str | None
    status: str
    cost: float | None
    scores: Mapping[str, float]
    """Measure -> score, for the measures that are about it and where there is one."""


@frozen(kw_only=True, eq=False)
class Case:
    """One case as one judge answered it."""

    id: str
    key: Key
    task: str
    test: str
    item: str
    variant: str
    template: str
    option_order: str
    gold: str | None
    expected: str
    """The label that is right, or what is expected; empty where nothing is."""
    stated: bool
    """It is stated which label is right, whatever the reference verdict was."""
    about: frozenset[str]
    """The measures that are about it."""
    trials: tuple[Trial, ...]
    """By repeat."""

    def score(self, measure: str) -> float | None:
        """Return the mean score of the answers, None where there is none."""
        found = [trial.scores[measure] for trial in self.trials if measure in trial.scores]
        return sum(found) / len(found) if found else None

    @property
    def right(self) -> float | None:
        """Return the score against the truth: gold, or a stated label; None where neither is known."""
        return self.score(GOLD if GOLD in self.about else ACCURACY) if GOLD in self.about or self.stated else None

    @property
    def answered(self) -> bool:
        """Tell whether there is any verdict."""
        return any(trial.label is not None for trial in self.trials)


def read_cases(records: RecordTable, report: RunReport) -> list[Case]:
    """Return the cases of one judge's records in plan order."""
    if not len(records):
        return []
    rows = _Rows(records, report)
    return [rows.case(places) for places in rows.by_case().values()]


class _Rows:
    """The columns of one judge's records, read row by row."""

    def __init__(self, records: RecordTable, report: RunReport) -> None:
        self.scales = {summary.task.name: summary.task.scale for summary in report.tasks}
        self.single = len(report.tasks) == 1
        names = ("case_id", "task", *_CONDITION, "gold", "expectation", "expected", "status", "canonical")
        self.text = {name: records.text(name) for name in names}
        self.number = {name: records.number(name) for name in ("strength", "temperature", "repeat", "cost")}
        self.references = self._references()

    def by_case(self) -> dict[str, list[int]]:
        """Return the rows of every case, by repeat."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for row, case in enumerate(self.text["case_id"]):
            found[case or ""].append(row)
        repeat = self.number["repeat"]
        return {case: sorted(rows, key=lambda row: float(repeat[row])) for case, rows in found.items()}

    def case(self, rows: Sequence[int]) -> Case:
        first = rows[0]
        rules = self._rules(first)
        return Case(
            id=self._of("case_id", first),
            key=self._key(first),
            task=self._of("task", first),
            test=self._of("test", first),
            item=self._of("item_id", first),
            variant=self._of("variant", first),
            template=self._of("template", first),
            option_order=self._of("option_order", first),
            gold=self.text["gold"][first],
            expected=self._expected(first),
            stated=self._right(first) is not None,
            about=frozenset(rules),
            trials=tuple(self._trial(row, rules) for row in rows),
        )

    def _of(self, name: str, row: int) -> str:
        return self.text[name][row] or ""

    def _label(self, row: int) -> str | None:
        """Return the verdict where it is one of the scale."""
        label = self.text["canonical"][row]
        usable = self.text["status"][row] == Status.OK.value and label is not None
        return label if usable and label in self.scales[self._of("task", row)] else None

    def _references(self) -> Mapping[tuple[str, str], Counter[str]]:
        found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for row, test in enumerate(self.text["test"]):
            label = self._label(row) if test == REFERENCE else None
            if label is not None:
                found[self._of("task", row), self._of("item_id", row)][label] += 1
        return found

    def _key(self, row: int) -> Key:
        temperature = float(self.number["temperature"][row])
        return (
            "" if self.single else self._of("task", row),
            *(self._of(name, row) for name in _CONDITION),
            float(self.number["strength"][row]),
            -1.0 if np.isnan(temperature) else temperature,
        )

    def _expected(self, row: int) -> str:
        right = self._right(row)
        return right if right is not None else self._of("expectation", row)

    def _right(self, row: int) -> str | None:
        """Return the label that is right; None where that depends on the reference verdict, or is not known."""
        if self.text["test"][row] == REFERENCE:
            return self.text["gold"][row]
        return self.text["expected"][row] if self.text["expectation"][row] == "equals" else None

    def _rules(self, row: int) -> Mapping[str, Callable[[str], float | None]]:
        """Return how a verdict on the row's case scores, by measure; None where there is nothing to compare it with."""
        right, gold = self._right(row), self.text["gold"][row]
        expectation = self.text["expectation"][row]
        reference = self.text["test"][row] == REFERENCE
        scale = self.scales[self._of("task", row)]
        before = self.references.get((self._of("task", row), self._of("item_id", row)), Counter())
        rules: dict[str, Callable[[str], float | None]] = {}
        if right is not None:
            rules[ACCURACY] = lambda label: float(label == right)
        elif not reference:
            compare = _relative(expectation, scale)
            if compare is not None:
                rules[ACCURACY] = lambda label: _share(before, lambda known: compare(known, label))
        if gold is not None and (reference or expectation == "same"):
            rules[GOLD] = lambda label: float(label == gold)
        if not reference and expectation in (None, "", "same"):  # where a change is due, agreeing is no merit
            rules[AGREEMENT] = lambda label: _share(before, lambda known: known == label)
        truth = right if right is not None else gold if expectation == "same" else None
        if scale.ordered and truth is not None and truth in scale:
            rank = scale.rank(truth)
            rules[ERROR] = lambda label: float(abs(scale.rank(label) - rank))
        return rules

    def _trial(self, row: int, rules: Mapping[str, Callable[[str], float | None]]) -> Trial:
        label = self._label(row)
        cost = float(self.number["cost"][row])
        status = self._of("status", row)
        scores = {} if label is None else {name: rule(label) for name, rule in rules.items()}
        return Trial(
            label=label,
            status=Status.OFF_SCALE.value if label is None and status == Status.OK.value else status,
            cost=None if np.isnan(cost) else cost,
            scores={name: score for name, score in scores.items() if score is not None},
        )


def _relative(expectation: str | None, scale: Scale) -> Callable[[str, str], bool] | None:
    """Return whether a verdict fits a reference verdict; None where nothing is expected, or there is no order."""
    if expectation == "same":
        return lambda known, label: known == label
    if expectation == "changes":
        return lambda known, label: known != label
    if not scale.ordered:
        return None
    if expectation == "not_above":
        return lambda known, label: scale.rank(label) <= scale.rank(known)
    if expectation == "not_below":
        return lambda known, label: scale.rank(label) >= scale.rank(known)
    return None


def _share(before: Mapping[str, int], fits: Callable[[str], bool]) -> float | None:
    """Return the share of the reference verdicts that fit; None without any."""
    total = sum(before.values())
    return sum(count for label, count in before.items() if fits(label)) / total if total else None


def trials_of(cases: Sequence[Case]) -> Iterator[Trial]:
    """Yield the answers to some cases."""
    for case in cases:
        yield from case.trials
