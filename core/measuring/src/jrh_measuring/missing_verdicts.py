"""Missing verdicts: whether they are missing for a reason that matters, and rates known up to what they would be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from jrh import Interval, Measure
from jrh_stats import (
    Estimate,
    cluster_sums,
    holm,
    imbens_manski_quantile,
    missingness_association,
    missingness_test,
    ratio_variance,
)

from jrh_measuring.cells import Cell, tasks_of
from jrh_measuring.coded import Codes, Floats, Mask
from jrh_measuring.flags import BOUNDED, INFORMATIVE_MISSING, SENSITIVE_TO_MISSING, UNTESTABLE_MISSING
from jrh_measuring.scoring import Scores, right_label
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
    dependence = informative(trials).get((cell.task, cell.judge))
    return dependence is not None and bool(dependence.reasons)


def is_untestable(trials: Trials, rows: Codes) -> bool:
    """Tell whether no item among some trials that lacks a verdict has another one, of the same judge and task.

    Then nothing in the study says whether the missing verdicts would have been right.
    """
    gone = rows[~trials.usable[rows]]
    if not len(gone):
        return False
    # All of the rows are of one judge and task, so that any of them names both.
    task, judge = (int(column.codes[gone[0]]) for column in (trials.task, trials.judge))
    answered = trials.compute_once(("answered", task, judge), lambda: _clusters_with_verdict(trials, task, judge))
    return not answered[trials.cluster.codes[gone]].any()


def _clusters_with_verdict(trials: Trials, task: int, judge: int) -> Mask:
    """Return whether a judge has a verdict in a task, shape (clusters,)."""
    rows = trials.usable & (trials.task.codes == task) & (trials.judge.codes == judge)
    answered = np.zeros(len(trials.cluster.names), dtype=np.bool_)
    answered[trials.cluster.codes[rows]] = True
    return answered


def informative(trials: Trials, level: float = 0.95) -> Mapping[tuple[str, str], Dependence]:
    """Return by task and judge what missing verdicts depend on; those that lose too few verdicts are left out.

    Given the item, the share missing may differ by condition (`jrh_stats.missingness_test`). Given the condition, it
    may differ by the gold label of the item, by how often the judge's other verdicts on the item are right, or by how
    sure it says it is of them (`jrh_stats.missingness_association`). The last two tests need items that are asked more
    than once: where every item is asked a single time, nothing in the study tells whether the missing verdicts would
    have been right, and `jrh_measuring.sensitive` flags what that leaves open.
    """
    return trials.compute_once(f"informative {level}", lambda: dict(_dependences(trials, 1 - level)))


def _dependences(trials: Trials, alpha: float) -> Iterator[tuple[tuple[str, str], Dependence]]:
    for cell in tasks_of(trials):
        rows = cell.rows
        if len(np.unique(trials.cluster.codes[rows[~trials.usable[rows]]])) < _LEAST:
            continue
        p = {reason: value for reason, value in _tests(trials, rows) if value is not None}
        # Four tests at 5% each would flag up to a fifth of the runs in which nothing depends on anything.
        adjusted = dict(zip(p, holm(list(p.values())).tolist(), strict=True)) if p else {}
        reasons = tuple(reason for reason, value in adjusted.items() if value < alpha)
        yield (cell.task, cell.judge), Dependence(reasons=reasons, p=adjusted, on_errors=_on_errors(trials, rows))


def _tests(trials: Trials, rows: Codes) -> Iterator[tuple[Reason, float | None]]:
    gone, cluster = ~trials.usable[rows], trials.cluster.codes[rows]
    condition = condition_codes(trials)[rows]
    # Within items: one that loses its verdicts under every condition says nothing about conditions.
    yield Reason.CONDITION, missingness_test(gone, condition, trials.item.codes[rows], cluster).p
    # What conditions explain is taken out first: a condition in which many verdicts are lost may differ in gold, too.
    beyond = _beyond(trials, rows)
    gold = trials.gold[rows]
    codes = np.unique(gold[gold >= 0])
    labelled = gold >= 0
    if labelled.any() and len(codes) > 1:
        # One column less than labels: their shares add up to 1.
        columns = [(gold == code).astype(np.float64) for code in codes[1:]]
        sums = cluster_sums(cluster[labelled], *(part[labelled] for part in (beyond, *columns, np.ones(len(gold)))))
        shares = sums[:, :-1] / sums[:, -1:]
        yield Reason.LABEL, missingness_association(shares[:, 0], shares[:, 1:]).p
    for reason, by_cluster in ((Reason.ERROR, _by_rightness), (Reason.CONFIDENCE, _by_confidence)):
        lost, score = by_cluster(trials, rows)
        if len(lost):
            yield reason, missingness_association(lost, score).p


def _beyond(trials: Trials, rows: Codes) -> Floats:
    """Return what is missing, less what its condition leads to expect."""
    gone = ~trials.usable[rows]
    condition = np.unique(condition_codes(trials)[rows], return_inverse=True)[1]
    planned = np.bincount(condition)
    return np.asarray(gone - (np.bincount(condition, weights=gone) / np.maximum(planned, 1))[condition])


def _by_rightness(trials: Trials, rows: Codes) -> tuple[Floats, Floats]:
    """Return by cluster the share missing, beyond its conditions, and the share right of the other verdicts."""
    truth = right_label(trials)[rows]
    scored = (truth >= 0) & trials.usable[rows]
    return _by_other_verdicts(trials, rows, np.where(scored, trials.label[rows] == truth, 0.0), scored)


def _by_confidence(trials: Trials, rows: Codes) -> tuple[Floats, Floats]:
    """Return by cluster the share missing, beyond its conditions, and the mean stated probability of the others."""
    if "probability" not in trials.records.columns:
        return np.zeros(0), np.zeros(0)
    stated = trials.records.number("probability")[rows]
    known = trials.usable[rows] & np.isfinite(stated)
    return _by_other_verdicts(trials, rows, np.where(known, stated, 0.0), known)


def _by_other_verdicts(trials: Trials, rows: Codes, score: Floats, scored: Mask) -> tuple[Floats, Floats]:
    sums = cluster_sums(trials.cluster.codes[rows], _beyond(trials, rows), score, scored, np.ones(len(rows)))
    known = sums[sums[:, 2] > 0]
    return known[:, 0] / known[:, 3], known[:, 1] / known[:, 2]


def _on_errors(trials: Trials, rows: Codes) -> bool | None:
    lost, right = _by_rightness(trials, rows)
    covariance = float((lost - lost.mean()) @ (right - right.mean())) if len(lost) else 0.0
    return covariance < 0 if covariance else None


Ends: TypeAlias = Callable[[Floats, float], Estimate]
"""From the sum of scores and the number of trials of each cluster, shape (K, 2), and a level, the estimated mean."""

_ODDS: Final = 10.0
"""How many times as readily wrong verdicts may be lost as right ones, or the reverse."""
_SWAY: Final = 0.2
"""An interval that is off by this share of its half width covers 93% instead of 95%."""


def allow_for_missing(measure: Measure, trials: Trials, scores: Scores, rows: Codes, ends: Ends) -> Measure:
    """Return a measure with Imbens and Manski's interval where its verdicts are not, or may not be, missing at random.

    The interval reaches from the lower end of the mean with every missing verdict at its worst to the upper end of that
    with every one at its best (`jrh_stats.imbens_manski_quantile`): it covers what the mean would be without missing
    verdicts, whatever they would have been. So it is where a test has found what the missing verdicts depend on, and
    where no test can (`is_untestable`) and they might sway the estimate. Elsewhere the measure stays as it is.
    """
    # Where nothing can be tested, verdicts too few to sway the estimate are not worth a wide interval.
    untestable = INFORMATIVE_MISSING not in measure.flags and is_untestable(trials, rows) and is_swayed(measure)
    if (
        not (untestable or INFORMATIVE_MISSING in measure.flags)
        or measure.estimate is None
        or (ends_of := scores.sides(rows)) is None
    ):
        return measure
    level = 0.95 if measure.interval is None else measure.interval.level
    ones, cluster = np.ones(len(rows)), trials.cluster.codes[rows]
    sides = [cluster_sums(cluster, side, ones) for side in ends_of]
    # The variance between clusters needs two of them.
    if len(sides[0]) == 1:  # a single cluster tells no variance
        return measure
    means = [float(side[:, 0].sum() / side[:, 1].sum()) for side in sides]
    # The larger of both standard errors: Imbens and Manski's quantile takes one.
    error = max(float(np.sqrt(ratio_variance(side[:, 0], side[:, 1]))) for side in sides)
    reach = imbens_manski_quantile(max(means[1] - means[0], 0.0), error, level=level)
    # `ends` takes a two-sided level: the one with Imbens and Manski's quantile.
    one_sided = 2 * NormalDist().cdf(reach) - 1
    low, high = ends(sides[0], one_sided).low, ends(sides[1], one_sided).high
    if low is None or high is None:
        return measure
    flags = (*measure.flags, UNTESTABLE_MISSING) if untestable else measure.flags
    return widen(evolve(measure, bounds=(means[0], means[1]), flags=flags), low, high)


def widen(measure: Measure, low: float, high: float) -> Measure:
    """Return a measure whose interval allows for any missing verdicts; that of those that are there is kept with it.

    It contains the other one: the missing verdicts may be like those that are there, and where all of these are right,
    the exact interval reaches farther than that of a mean with a few wrong ones.
    """
    if measure.estimate is None:
        return measure
    level, observed = 0.95, (measure.estimate, measure.estimate)
    if measure.interval is not None:
        level, observed = measure.interval.level, (measure.interval.low, measure.interval.high)
    interval = Interval(low=min(low, *observed), high=max(high, *observed), level=level, method=BOUNDED)
    return evolve(measure, interval=interval, observed=measure.interval)


def widen_coefficient(
    measure: Measure, coefficient: Callable[[Codes], Estimate], verdict: Codes, *, right: Codes, farthest: Codes
) -> Measure:
    """Return a coefficient that allows for any missing verdicts where they are not, or may not be, missing at random.

    Its interval then reaches from the lower end with every missing verdict as far from right as it can be to the upper
    end with all of them right; both contain that of the verdicts that are there.

    Args:
        measure: of the verdicts that are there, with its flags about missing ones (`MeasureBuilder.flag_missing`).
        coefficient: from the verdicts of all trials, shape (n,).
        verdict: codes, -1 where it is missing, shape (n,).
        right: the right label of every trial.
        farthest: the label that agrees least with it.
    """
    flagged = {INFORMATIVE_MISSING, UNTESTABLE_MISSING}.intersection(measure.flags)
    if not flagged or measure.estimate is None or measure.interval is None or not np.any(verdict < 0):
        return measure
    worst, best = (coefficient(np.where(verdict < 0, fill, verdict)) for fill in (farthest, right))
    if worst.value is None or worst.low is None or best.value is None or best.high is None:
        return measure
    bounds = min(worst.value, measure.estimate), max(best.value, measure.estimate)
    return widen(evolve(measure, bounds=bounds), worst.low, best.high)


def sensitive(measure: Measure, limits: tuple[float, float] = (0.0, 1.0)) -> Measure:
    """Flag a measure whose interval would not hold if its verdicts were missing for a reason that nothing shows.

    With a share u of right verdicts among those that are there, and wrong ones lost with ten times the odds of right
    ones, 1 / (10 (1 - u) + u) of u is left among the lost. The estimate is then off by 1 less that, times its distance
    from the lower bound; for right ones lost more readily likewise upwards. Where either is more than a fifth of the
    interval's half width, the interval covers less than 93% of the time. The flag follows from how many verdicts are
    missing, not from a test that may miss a dependence; `informative-missing` is set where a test has found one.

    Args:
        measure: with its bounds.
        limits: the least and the greatest value that it can have.
    """
    # The other two flags say more, and the interval with them allows for what is missing.
    if {INFORMATIVE_MISSING, UNTESTABLE_MISSING}.intersection(measure.flags) or not is_swayed(measure, limits):
        return measure
    return evolve(measure, flags=(*measure.flags, SENSITIVE_TO_MISSING))


def is_swayed(measure: Measure, limits: tuple[float, float] = (0.0, 1.0)) -> bool:
    """Tell whether missing verdicts could shift an estimate by a fifth of its interval's half width (`sensitive`)."""
    value, interval, bounds = measure.estimate, measure.interval, measure.bounds
    if value is None or interval is None or bounds is None:
        return False
    # As a share of the range, so that the odds apply to means in any unit.
    share = min(max((value - limits[0]) / (limits[1] - limits[0]), 0.0), 1.0)
    down = (value - bounds[0]) * (1 - 1 / (_ODDS * (1 - share) + share))
    up = (bounds[1] - value) * (1 - 1 / (_ODDS * share + 1 - share))
    return max(down, up) > _SWAY * (interval.high - interval.low) / 2


def complement(measure: Measure, name: str) -> Measure:
    """Return 1 - a proportion, with the mirrored interval and bounds."""
    bounds = measure.bounds
    interval, observed = (
        None if each is None else evolve(each, low=1 - each.high, high=1 - each.low)
        for each in (measure.interval, measure.observed)
    )
    return evolve(
        measure,
        name=name,
        estimate=None if measure.estimate is None else 1 - measure.estimate,
        interval=interval,
        observed=observed,
        bounds=None if bounds is None else (1 - bounds[1], 1 - bounds[0]),
    )
