"""In which tests something else is expected than the verdict a judge gave anyway."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from jrh import RunReport

_NEEDED = ("task", "test", "expectation")
_OWN = "same"


def expecting(report: RunReport, task: str) -> AbstractSet[str]:
    """Return the tests of a task in which some case expects a label, a change or a direction.

    The others compare a judge with its own reference verdict, which says nothing about whether it is right. All tests
    where the records do not tell.
    """
    records = report.records
    if not len(records) or not set(_NEEDED) <= set(records.columns):
        return frozenset(report.tests)
    kinds, tests = records.categories("expectation"), records.categories("test")
    wanted = [code for code, name in enumerate(kinds) if name != _OWN]
    rows = records.equals("task", task) & np.isin(records.codes("expectation"), wanted)
    return {tests[code] for code in np.unique(records.codes("test")[rows]).tolist() if code >= 0}
