"""In which tests nothing is expected of a judge but the verdict it gave anyway."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from jrh import RunReport

_NEEDED = ("task", "test", "expectation")
_OWN = "same"


def steady_tests(report: RunReport, task: str) -> AbstractSet[str]:
    """Return the tests of a task in which no case expects a label, a change or a direction.

    They compare a judge with its own reference verdict, which does not say whether it is right. None where the records
    do not tell.
    """
    records = report.records
    if not len(records) or not set(_NEEDED) <= set(records.columns):
        return frozenset()
    kinds, rows = records.categories("expectation"), records.equals("task", task)
    moving = rows & np.isin(records.codes("expectation"), [code for code, name in enumerate(kinds) if name != _OWN])
    names, tests = records.categories("test"), records.codes("test")
    steady = np.setdiff1d(tests[rows], tests[moving])
    return {names[code] for code in steady.tolist() if code >= 0}
