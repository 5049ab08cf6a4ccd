"""Metric `missing-by-condition`: test what the share of missing verdicts depends on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    Dependence,
    MeasureBuilder,
    MetricOptions,
    Reason,
    condition_codes,
    informative,
    tasks_of,
)
from jrh_stats import missingness_test

from jrh_metrics.flag_list import MISSING_ON_ERRORS, MISSING_ON_RIGHT

_TEST = "Cochran-Mantel-Haenszel test stratified by item; null hypothesis: equal missing rates in all conditions"
_FURTHER = {
    Reason.LABEL: "missing-by-label-p",
    Reason.ERROR: "missing-by-error-p",
    Reason.CONFIDENCE: "missing-by-confidence-p",
}
_MANTEL = (
    "Mantel's test over clusters, beyond what conditions explain; adjusted by Holm over the tests of what is missing"
)
_NONE = "no item has both missing and usable verdicts across several conditions"


@frozen
class MissingByCondition:
    """Test whether missing verdicts depend on the condition, the gold label, the judge being wrong, or its confidence.

    If they do, rates over the usable verdicts are about other questions than those asked: measures with missing
    verdicts have the flag `informative-missing`, and intervals that allow for any missing verdicts.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `missing-by-condition-p`, `-label-p`, `-error-p` and `-confidence-p` per task and judge.

        `test` is empty: they are about all tests together. The last three are missing where they are not defined.
        """
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
            depends = informative(trials).get((cell.task, cell.judge))
            for reason, name in _FURTHER.items():
                p = None if depends is None else depends.p.get(reason)
                if p is not None:
                    flags = _direction(depends) if reason is Reason.ERROR else ()
                    yield builder.p_value(name, cell, p, rows=rows, usable=rows, flags=flags, note=_MANTEL)


def _direction(depends: Dependence | None) -> tuple[str, ...]:
    if depends is None or depends.on_errors is None:
        return ()
    return (MISSING_ON_ERRORS if depends.on_errors else MISSING_ON_RIGHT,)
