"""Metric `missing-by-condition`: test whether the share of missing verdicts depends on the condition."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.measuring import MeasureBuilder, MetricOptions, condition_codes, tasks_of
from jrh_stats import missingness_test

_TEST = "Cochran-Mantel-Haenszel test stratified by item; null hypothesis: equal missing rates in all conditions"
_NONE = "no item has both missing and usable verdicts across several conditions"


@frozen
class MissingByCondition:
    """Test whether missing verdicts depend on the condition, given the item.

    If they do, rates over the usable verdicts compare different sets of questions: use their `bounds` instead.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `missing-by-condition-p` per task and judge; `test` is empty: it is about all tests together."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        conditions = condition_codes(trials)
        for cell in tasks_of(trials):
            rows = cell.rows
            found = missingness_test(
                ~trials.usable[rows], conditions[rows], trials.item.codes[rows], trials.cluster.codes[rows]
            )
            told = rows if found.p is not None else np.zeros(0, dtype=np.int64)
            yield builder.p_value(
                "missing-by-condition-p",
                cell,
                found.p,
                rows=told,
                usable=told,
                flags=("few-missing",) if "few" in found.flags else (),
                note=_NONE if found.p is None else _TEST,
            )
