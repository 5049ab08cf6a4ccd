"""Metric `rationale-contradiction`: how often a rationale argues for another label than the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, Polarity, RecordTable
from jrh.values import ARGUES_FOR_NONE
from jrh_measuring import BreakdownOptions, Floats, Mask, MeasureBuilder, Scores, Trials, cells_of

from jrh_parsers.options import METRIC
from jrh_parsers.rationale import announces, rationale_label

NO_RATIONALE: Final = "no_rationale"
"""Counted as missing: a verdict without a rationale."""
UNREADABLE: Final = "unreadable_rationale"
"""Counted as missing: a rationale without a conclusion that the rules, or the model, can read."""
_NOTE: Final = "verdicts whose rationale argues for another label"
_RULES: Final = "read by rules, English only"
_MODEL: Final = "read by the suite's `rationale_model`"
_NOTHING: Final = "no trial"


@frozen
class RationaleContradiction:
    """Measure the share of verdicts whose rationale argues for another label than the verdict gives.

    Both labels are taken as presented, before swapped options and inverted questions are undone. Only rationales whose
    conclusion can be read count; the others are listed as missing, `no_rationale` and `unreadable_rationale`. Of a
    rationale that marks a verdict (`Verdict: NO`), as a whole reply does, that sentence does not count.

    Rules read the rationales. Where the suite has a `rationale_model`, its answers count instead.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measure per task, judge and test with rationales, and per factor of `by`."""
        # Imported logs need not have these columns.
        if not {"rationale", "presented"} <= set(records.columns):
            return
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        rationales = trials.column("rationale")
        has = np.array([bool(name.strip()) for name in rationales.names])[rationales.codes] & trials.usable
        # No measure at all, instead of one that is missing everywhere.
        if not has.any():
            return
        # Every trial is eligible: what cannot be read is counted as missing, not left out.
        everything = np.ones(len(has), dtype=np.bool_)
        by_model = "argued" in records.columns and bool(np.any(records.codes("argued") >= 0))
        value = _contradicts_by_model(trials, has) if by_model else _contradicts(trials, context, has)
        scores = Scores(eligible=everything, value=value, unscored=UNREADABLE)
        reader = _MODEL if by_model else _RULES
        for cell in cells_of(trials, self.options.by):
            if has[cell.rows].any():
                measure = builder.rate(METRIC, cell, scores, nothing=_NOTHING, note=f"{_NOTE}; {reader}")
                # The reader is part of the number: rules and a model disagree about texts.
                note = measure.note if reader in measure.note else f"{measure.note}; {reader}"
                silent = int(np.count_nonzero(trials.usable[cell.rows] & ~has[cell.rows]))
                yield evolve(measure, missing=_split(measure.missing, silent), note=note)


def _split(missing: Mapping[str, int], silent: int) -> Mapping[str, int]:
    """Count verdicts without a rationale apart from rationales that could not be read."""
    other_reasons = {name: count for name, count in missing.items() if name != UNREADABLE}
    counts = {NO_RATIONALE: silent, UNREADABLE: missing.get(UNREADABLE, 0) - silent}
    return other_reasons | {name: count for name, count in counts.items() if count}


def _contradicts(trials: Trials, context: MetricContext, has: Mask) -> Floats:
    """Return 1 where the rationale argues for another label, 0 where for the verdict's, NaN where it cannot be read.

    Records alone are read, so that an import of a run's records measures the same.
    """
    value = np.full(len(has), np.nan)
    columns = [trials.column(name) for name in ("rationale", "presented", "polarity", "task")]
    rows = np.flatnonzero(has)
    # Reading a text takes longer than everything else here: equal questions with equal rationales are read once.
    kinds, kind = np.unique(np.column_stack([column.codes[rows] for column in columns]), axis=0, return_inverse=True)
    reads = np.full(len(kinds), np.nan)
    for place, codes in enumerate(kinds.tolist()):
        text, verdict, polarity, task = (column.names[code] for column, code in zip(columns, codes, strict=True))
        scale = context.tasks[task].scale if task in context.tasks else None
        # Under another scale, or with labels in other words, the rules do not know what can be argued for.
        if scale is not None and verdict in scale:
            inverted, whole_reply = polarity == Polarity.INVERTED.value, announces(text, scale)
            label = rationale_label(text, scale, inverted=inverted, holds_verdict=whole_reply)
            reads[place] = np.nan if label is None else float(label != verdict)
    # `return_inverse` has two dimensions in some versions of NumPy.
    value[rows] = reads[kind.reshape(-1)]
    return value


def _contradicts_by_model(trials: Trials, has: Mask) -> Floats:
    """Return the same, as a model has read it; the rules never fill in, so that one estimate has one reader."""
    columns = (trials.column(name) for name in ("presented", "argued"))
    presented, argued_for = (np.array(column.names, dtype=np.str_)[column.codes] for column in columns)
    read = ~np.isin(argued_for, ("", ARGUES_FOR_NONE))
    return np.where(has & read, (argued_for != presented).astype(np.float64), np.nan)
