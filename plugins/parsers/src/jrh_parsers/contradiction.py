"""Metric `rationale-contradiction`: how often a rationale argues for another label than the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from jrh import Case, Measure, MetricContext, Polarity, RecordTable, Scale
from jrh.measuring import BreakdownOptions, MeasureBuilder, Scores, Trials, cells_of
from numpy.typing import NDArray

from jrh_parsers.parsers import RATIONALE_CHARACTERS
from jrh_parsers.rationale import announces, argued, verdict_in
from jrh_parsers.visible import visible

NAME: Final = "rationale-contradiction"
NO_RATIONALE: Final = "no_rationale"
"""Counted as missing: a verdict without a rationale."""
UNREADABLE: Final = "unreadable_rationale"
"""Counted as missing: a rationale without a conclusion that the rules can read."""
_NOTE: Final = "verdicts whose rationale argues for another label; read by rules, English only"
_NOTHING: Final = "no trial"
_AT_ONCE: Final = 500
"""Replies read at once; they are large."""
_CONDITION: Final = ("task", "test", "variant", "template", "polarity", "language")
Asked: TypeAlias = tuple[Scale, bool]
"""The scale as presented, and whether the question was inverted."""


@frozen
class RationaleContradiction:
    """Measure the share of verdicts whose rationale argues for another label than the verdict gives.

    Both labels are taken as presented, before swapped options and inverted questions are undone. Only rationales whose
    conclusion can be read count; the others are listed as missing, `no_rationale` and `unreadable_rationale`. Of a
    rationale that is the whole reply, the sentence that states the verdict does not count.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measure per task, judge and test with rationales, and per factor of `by`."""
        if not {"rationale", "presented"} <= set(records.columns):
            return
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        told = trials.column("rationale")
        has = np.array([bool(name.strip()) for name in told.names])[told.codes] & trials.usable
        if not has.any():
            return
        everything = np.ones(len(has), dtype=np.bool_)
        scores = Scores(eligible=everything, value=_contradicts(trials, context, has), unscored=UNREADABLE)
        for cell in cells_of(trials, self.options.by):
            if has[cell.rows].any():
                found = builder.rate(NAME, cell, scores, nothing=_NOTHING, note=_NOTE)
                silent = int(np.count_nonzero(trials.usable[cell.rows] & ~has[cell.rows]))
                yield evolve(found, missing=_split(found.missing, silent))


def _split(missing: Mapping[str, int], silent: int) -> Mapping[str, int]:
    """Count verdicts without a rationale apart from rationales that could not be read."""
    others = {name: count for name, count in missing.items() if name != UNREADABLE}
    counts = {NO_RATIONALE: silent, UNREADABLE: missing.get(UNREADABLE, 0) - silent}
    return others | {name: count for name, count in counts.items() if count}


def _contradicts(trials: Trials, context: MetricContext, has: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return 1 where the rationale argues for another label, 0 where for the verdict's, NaN where it cannot be read."""
    value = np.full(len(has), np.nan)
    rows = np.flatnonzero(has).tolist()
    texts, said = _column(trials, "rationale"), _column(trials, "presented")
    asked = _asked(trials, context, rows)
    whole = _whole_replies(trials, context, rows, asked)
    for row in rows:
        if row in asked:
            scale, inverted = asked[row]
            label = argued(texts[row], scale, inverted=inverted, holds_verdict=row in whole)
            value[row] = np.nan if label is None else float(label != said[row])
    return value


def _column(trials: Trials, name: str) -> list[str]:
    coded = trials.column(name)
    return [coded.names[code] for code in coded.codes.tolist()]


def _asked(trials: Trials, context: MetricContext, rows: Sequence[int]) -> dict[int, Asked]:
    """Return what each trial was asked; trials whose verdict is not on the scale are left out."""
    columns = [_column(trials, name) for name in _CONDITION]
    cases, said = _column(trials, "case_id"), _column(trials, "presented")
    keys = {row: tuple(column[row] for column in columns) for row in rows}
    # Every case of a condition presents the same scale, so one of them is read.
    one_of = {key: cases[row] for row, key in keys.items()}
    known = context.evidence.cases(list(dict.fromkeys(one_of.values())))
    scales = {key: _scale(known.get(case), context, key[0]) for key, case in one_of.items()}
    inverted = {key: key[_CONDITION.index("polarity")] == Polarity.INVERTED.value for key in one_of}
    found = {}
    for row, key in keys.items():
        scale = scales[key]
        if scale is not None and said[row] in scale:
            found[row] = (scale, inverted[key])
    return found


def _scale(case: Case | None, context: MetricContext, task: str) -> Scale | None:
    if case is not None and case.presented_task is not None:
        return case.presented_task.scale
    return context.tasks[task].scale if task in context.tasks else None


def _whole_replies(
    trials: Trials, context: MetricContext, rows: Sequence[int], asked: Mapping[int, Asked]
) -> frozenset[int]:
    """Return the trials whose rationale is the whole reply, the statement of the verdict included.

    Where replies are not kept, as in an import, a rationale that announces a verdict counts as one: it cannot be told
    whether the verdict was read from there.
    """
    texts, said, ids = (_column(trials, name) for name in ("rationale", "presented", "trial_id"))
    possible = [row for row in rows if row in asked and _may_hold(texts[row], said[row], asked[row][0])]
    found = set()
    for start in range(0, len(possible), _AT_ONCE):
        some = possible[start : start + _AT_ONCE]
        replies = context.evidence.replies([ids[row] for row in some])
        for row in some:
            reply = replies.get(ids[row])
            if reply is None:
                whole = announces(texts[row], asked[row][0])
            else:
                whole = visible(reply.text).text.strip()[:RATIONALE_CHARACTERS] == texts[row]
            if whole:
                found.add(row)
    return frozenset(found)


def _may_hold(text: str, said: str, scale: Scale) -> bool:
    return verdict_in(text, scale) == said or announces(text, scale)
