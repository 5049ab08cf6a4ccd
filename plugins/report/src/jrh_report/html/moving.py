"""In which tests a reliable judge's verdict may change."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jrh import REFERENCE, RunReport

_MOVING = ("changes", "equals", "not_above", "not_below")


def moving_tests(report: RunReport) -> Mapping[str, frozenset[str]]:
    """Return, by task, the tests in which a reliable judge's verdict may change: some case expects another one."""
    records = report.records
    if not len(records) or not {"task", "test", "expectation"} <= set(records.columns):
        return {}
    found: dict[str, set[str]] = {}
    wanted = [code for code, name in enumerate(records.categories("expectation")) if name in _MOVING]
    rows = np.isin(records.codes("expectation"), wanted)
    if REFERENCE in records.categories("test"):
        rows &= ~records.equals("test", REFERENCE)
    pairs = np.unique(np.stack([records.codes("task")[rows], records.codes("test")[rows]]), axis=1)
    for task, test in pairs.T.tolist():
        found.setdefault(records.categories("task")[task], set()).add(records.categories("test")[test])
    return {task: frozenset(tests) for task, tests in found.items()}
