"""Whether verdicts go missing for a reason that matters: by condition, gold label, confidence, or on errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

import numpy as np
from attrs import frozen
from jrh_stats import cluster_sums, holm, missing_association, missingness_test
from numpy.typing import NDArray

from jrh_measuring.cells import Cell, tasks_of
from jrh_measuring.coded import Codes, Mask
from jrh_measuring.scoring import stated_label
from jrh_measuring.trials import Trials, condition_codes

_LEAST: Final = 5
"""With fewer clusters that lack verdicts the tests' approximation is too rough."""


class Reason(Enum):
    """What missing verdicts depend on."""

    CONDITION = "condition"
    LABEL = "gold label"
    ERROR = "judge being wrong"
    CONFIDENCE = "stated probability"


@frozen(kw_only=True)
class Dependence:
    """What the missing verdicts of a judge depend on in a task, by up to four tests."""

    reasons: tuple[Reason, ...]
    p: Mapping[Reason, float]
    """The p-values, adjusted by Holm over the tests that are defined."""
    on_errors: bool | None = None
    """Whether more verdicts are missing where the judge is wrong; None where the test is not defined."""


def is_informative(trials: Trials, cell: Cell) -> bool:
    """Tell whether the missing verdicts of a cell's judge and task depend on anything, at a level of 95%."""
    found = informative(trials).get((cell.task, cell.judge))
    return found is not None and bool(found.reasons)


def is_untestable(trials: Trials, rows: Codes) -> bool:
    """Tell whether no item among some trials that lacks a verdict has another one, of the same judge and task.

    Then nothing in the study says whether the missing verdicts would have been right.
    """
    gone = rows[~trials.usable[rows]]
    if not len(gone):
        return False
    task, judge = (int(column.codes[gone[0]]) for column in (trials.task, trials.judge))
    answered = trials.shared(("answered", task, judge), lambda: _answered(trials, task, judge))
    return not answered[trials.cluster.codes[gone]].any()


def _answered(trials: Trials, task: int, judge: int) -> Mask:
    """Return whether a judge has a verdict in a task, shape (clusters,)."""
    rows = trials.usable & (trials.task.codes == task) & (trials.judge.codes == judge)
    found = np.zeros(len(trials.cluster.names), dtype=np.bool_)
    found[trials.cluster.codes[rows]] = True
    return found


def informative(trials: Trials, level: float = 0.95) -> Mapping[tuple[str, str], Dependence]:
    """Return by task and judge what missing verdicts depend on; those that lose too few verdicts are left out.

    Given the item, the share missing may differ by condition (`jrh_stats.missingness_test`). Given the condition, it
    may differ by the gold label of the item, by how often the judge's other verdicts on the item are right, or by how
    sure it says it is of them (`jrh_stats.missing_association`). The last two tests need items that are asked more than
    once: where every item is asked a single time, nothing in the study tells whether the missing verdicts would have
    been right, and `jrh_measuring.sensitive` flags what that leaves open.
    """
    return trials.shared(f"informative {level}", lambda: dict(_found(trials, 1 - level)))


def _found(trials: Trials, alpha: float) -> Iterator[tuple[tuple[str, str], Dependence]]:
    for cell in tasks_of(trials):
        rows = cell.rows
        gone = rows[~trials.usable[rows]]
        if len(np.unique(trials.cluster.codes[gone])) < _LEAST:
            continue
        p = {reason: value for reason, value in _tests(trials, rows) if value is not None}
        adjusted = dict(zip(p, holm(list(p.values())).tolist(), strict=True)) if p else {}
        reasons = tuple(reason for reason, value in adjusted.items() if value < alpha)
        yield (cell.task, cell.judge), Dependence(reasons=reasons, p=adjusted, on_errors=_on_errors(trials, rows))


def _tests(trials: Trials, rows: Codes) -> Iterator[tuple[Reason, float | None]]:
    gone, cluster = ~trials.usable[rows], trials.cluster.codes[rows]
    condition = condition_codes(trials)[rows]
    yield Reason.CONDITION, missingness_test(gone, condition, trials.item.codes[rows], cluster).p
    beyond = _beyond(trials, rows)
    gold = trials.gold[rows]
    codes = np.unique(gold[gold >= 0])
    labelled = gold >= 0
    if labelled.any() and len(codes) > 1:
        columns = [(gold == code).astype(np.float64) for code in codes[1:]]
        sums = cluster_sums(cluster[labelled], *(part[labelled] for part in (beyond, *columns, np.ones(len(gold)))))
        shares = sums[:, :-1] / sums[:, -1:]
        yield Reason.LABEL, missing_association(shares[:, 0], shares[:, 1:]).p
    lost, right = _by_rightness(trials, rows)
    if len(lost):
        yield Reason.ERROR, missing_association(lost, right).p
    lost, sure = _by_confidence(trials, rows)
    if len(lost):
        yield Reason.CONFIDENCE, missing_association(lost, sure).p


def _beyond(trials: Trials, rows: Codes) -> NDArray[np.float64]:
    """Return what is missing, less what its condition leads to expect."""
    gone = ~trials.usable[rows]
    condition = np.unique(condition_codes(trials)[rows], return_inverse=True)[1]
    asked = np.bincount(condition)
    return np.asarray(gone - (np.bincount(condition, weights=gone) / np.maximum(asked, 1))[condition])


def _by_rightness(trials: Trials, rows: Codes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by cluster the share missing, beyond its conditions, and the share right of the other verdicts."""
    truth = stated_label(trials)[rows]
    scored = (truth >= 0) & trials.usable[rows]
    right = np.where(scored, trials.label[rows] == truth, 0.0)
    return _by_other_verdicts(trials, rows, right, scored)


def _by_confidence(trials: Trials, rows: Codes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by cluster the share missing, beyond its conditions, and the mean stated probability of the others."""
    if "probability" not in trials.records.columns:
        return np.zeros(0), np.zeros(0)
    stated = trials.records.number("probability")[rows]
    told = trials.usable[rows] & np.isfinite(stated)
    return _by_other_verdicts(trials, rows, np.where(told, stated, 0.0), told)


def _by_other_verdicts(
    trials: Trials, rows: Codes, score: NDArray[np.float64], scored: Mask
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    sums = cluster_sums(trials.cluster.codes[rows], _beyond(trials, rows), score, scored, np.ones(len(rows)))
    known = sums[sums[:, 2] > 0]
    return known[:, 0] / known[:, 3], known[:, 1] / known[:, 2]


def _on_errors(trials: Trials, rows: Codes) -> bool | None:
    lost, right = _by_rightness(trials, rows)
    together = float((lost - lost.mean()) @ (right - right.mean())) if len(lost) else 0.0
    return together < 0 if together else None
