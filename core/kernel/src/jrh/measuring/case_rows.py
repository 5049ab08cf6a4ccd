"""Fold the repeats of every case and judge into one row, scored as the metrics score them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from jrh.measuring.coded import Codes, grouped, numbered
from jrh.measuring.scoring import Scores, against_label, agreeing, as_expected, stated_label
from jrh.measuring.trials import Trials, read_trials
from jrh.plugins.protocols import MetricContext
from jrh.values.items import Task
from jrh.values.listed_cases import CaseRow
from jrh.values.records import RecordTable


def case_rows(records: RecordTable, tasks: Mapping[str, Task]) -> Iterator[CaseRow]:
    """Yield a row for each case and judge.

    Args:
        records: all records of a run, in plan order.
        tasks: by name.
    """
    if not len(records):
        return
    trials = read_trials(records, MetricContext(tasks=tasks))
    everything = np.ones(len(trials.label), dtype=np.bool_)
    scores = {
        "moved": agreeing(trials),
        "right": against_label(trials, stated_label(trials), everything),
        "expected": as_expected(trials),
    }
    for rows in grouped(numbered(trials.case.codes, trials.judge.codes)):
        yield _row(trials, rows[np.argsort(trials.place[rows])], scores)


def _row(trials: Trials, rows: Codes, scores: Mapping[str, Scores]) -> CaseRow:
    first = int(rows[0])
    labels = [trials.labels[code] for code in trials.label[rows].tolist() if code >= 0]
    gone = Counter(trials.status.names[code] for code in trials.status.codes[rows[~trials.usable[rows]]].tolist())
    told = Counter(labels).most_common()
    gold, agreed = trials.gold[first], _mean(scores["moved"], rows)
    return CaseRow(
        position=int(trials.place[first]),
        task=trials.task.names[trials.task.codes[first]],
        test=trials.written_test.names[trials.written_test.codes[first]],
        variant=trials.variant.names[trials.variant.codes[first]],
        stratum=trials.stratum.names[trials.stratum.codes[first]],
        judge=trials.judge.names[trials.judge.codes[first]],
        item_id=trials.item.names[trials.item.codes[first]],
        case_id=trials.case.names[trials.case.codes[first]],
        gold=trials.labels[gold] if gold >= 0 else "",
        trials=len(rows),
        verdict=told[0][0] if told else "",
        verdicts=labels[0] if len(rows) == 1 and labels else ", ".join(f"{count}x {label}" for label, count in told),
        missing=sum(gone.values()),
        status=gone.most_common(1)[0][0] if gone else "",
        moved=None if agreed is None else 1 - agreed,
        right=_mean(scores["right"], rows),
        expected=_mean(scores["expected"], rows),
    )


def _mean(scores: Scores, rows: Codes) -> float | None:
    scored = rows[scores.eligible[rows] & scores.answered[rows]]
    values = scores.value[scored]
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None
