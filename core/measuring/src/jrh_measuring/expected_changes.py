"""In which tests a reliable judge's verdict may change, and in which it is only compared with its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from jrh.values.cases import REFERENCE
from jrh.values.records import RecordTable

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
