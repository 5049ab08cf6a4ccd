"""Compare the agreement of a judge with people to the agreement of people with each other, on the same items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Floats, positive_or_nan
from jrh_stats.clusters import distinct
from jrh_stats.degrees import FEW_EVENTS, effective_degrees, few_events
from jrh_stats.estimate import Estimate
from jrh_stats.jackknife import (
    NOISE,
    beyond_chance,
    chance_corrected,
    jackknife_variance,
    leave_one_out,
    sums_by_cluster,
)
from jrh_stats.kappa import Weighting, label_distance
from jrh_stats.score_intervals import t_quantile
from jrh_stats.unseen import unseen_share

_TWO: Final = 2
_NO_WEIGHT: Final = 1e-9


@frozen(kw_only=True)
class Ceiling:
    """The agreement of people, that of a judge with them, and the difference of the two."""

    people: Estimate
    """Kappa of two people."""
    judge: Estimate
    """Kappa of the judge and one person."""
    difference: Estimate
    """Kappa of the judge minus that of people; below 0 the judge agrees less with people than they do."""
    people_share: float | None
    """Share of the pairs of people who gave an item the same label, each item with weight 1."""
    judge_share: float | None
    """Share of the pairs of a verdict and a person's label that are the same, each item with weight 1."""


def human_ceiling(
    labels: ArrayLike, verdicts: ArrayLike, clusters: ArrayLike, *, weighting: Weighting = "none", level: float = 0.95
) -> Ceiling:
    """Estimate by how much a judge agrees less (or more) with people than people agree with each other.

    Over the items with two labels or more and a verdict, item i having R_i labels:

        kappa = 1 - sum_i d_i / sum_pairs n_pq (m_pq' D m_qp) / n_pq^2

    d_i is the mean disagreement of the item's pairs: of its R_i (R_i - 1) / 2 pairs of people, or of its R_i pairs of
    the judge and a person. A pair of raters p, q has the weighted number of items n_pq that both rated, and on these
    the margins m_pq and m_qp; D has the disagreement of every two labels, as in `cohen_kappa`. Each item has weight 1
    on both sides, so that an item with many labels does not count more for people than for the judge. With two people
    who labelled everything the kappa of people is Cohen's; with more it is Conger's. A judge asked several times counts
    with the shares of its verdicts: the kappa is that of one asking.

    Agreement is corrected for chance because that of labels alone is not a ceiling: where 90% of the items are YES, a
    judge that always says YES agrees with people more often than they do with each other. Its kappa is 0.

    A judge that labels like one more person has the difference 0 up to sampling: the pairs of judge and person are then
    what the pairs of people are. Interval of the difference: jackknife over clusters of both kappas together, so that
    hard items count against neither; Student's t with the `effective_degrees`. Where leaving out a cluster changes
    nothing, the ends are what a share h of unseen clusters could take away or add, h / D_e with the disagreement by
    chance D_e of people. People are fixed: the result is about these people, on items like these.

    Source: the comparison of judge-person with person-person agreement, person by person, is that of Calderon,
    Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge (not consulted), which leaves one person
    out at a time; here all people are compared at once and agreement is corrected for chance. Kappa of many raters:
    Conger (1980), Psychological Bulletin 88:322-328 (not consulted); the weights of items are ours.

    Args:
        labels: code of every item's label by every person, -1 where there is none, shape (items, people).
        verdicts: codes of the judge's verdicts, -1 where there is none, shape (items, askings).
        clusters: cluster of every item, whole numbers >= 0, shape (items,).
        weighting: `none`, or `quadratic` for ordered labels, whose codes are then ranks.
        level: coverage of the intervals.

    Returns:
        The estimates; their `n` counts items. Flags: `empty` without an item that has two labels and a verdict,
        `degenerate` where a side always gives one label, `few-events`.

    Raises:
        ValueError: the shapes do not fit.
    """
    people, judged, codes = (np.asarray(column, dtype=np.int64) for column in (labels, verdicts, clusters))
    if people.ndim != _TWO or judged.ndim != _TWO or not len(people) == len(judged) == len(codes):
        raise ValueError("labels and verdicts need a row for every item, and every item needs a cluster")
    # The same items for both sides, or hard items could count against one of them only.
    usable = ((people >= 0).sum(axis=1) >= _TWO) & (judged >= 0).any(axis=1)
    people, judged, codes = people[usable], judged[usable], codes[usable]
    size = int(max(people.max(initial=0), judged.max(initial=0))) + 1
    ranks = np.arange(size)
    distance = label_distance(ranks[:, None], ranks[None, :], weighting)
    hot = (people[:, :, None] == ranks).astype(np.float64)
    counts = (judged[:, :, None] == ranks).sum(axis=1)
    # Shares of the verdicts, not their majority: the kappa is that of one asking.
    verdict = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    number = hot.sum(axis=(1, 2))
    among = _Pairs.of(
        [(hot[:, left], hot[:, other]) for left, other in combinations(range(people.shape[1]), 2)],
        number * (number - 1) / 2,
        distance,
    )
    with_judge = _Pairs.of([(verdict, hot[:, left]) for left in range(people.shape[1])], number, distance)
    sums = [sums_by_cluster(pairs.columns, codes) for pairs in (among, with_judge)]
    return Ceiling(
        people=among.estimate(sums[0], level, weighting),
        judge=with_judge.estimate(sums[1], level, weighting),
        difference=_difference(among, with_judge, sums, level),
        people_share=_people_share(hot, number * (number - 1) / 2),
        judge_share=_judge_share(verdict, hot, number),
    )


@frozen(kw_only=True, eq=False)
class _Pairs:
    """Pairs of raters as sums over items: weight, disagreement, and per pair its weight and both margins."""

    columns: Floats
    """Shape (items, 2 + pairs * (1 + 2 * labels))."""
    distance: Floats

    @classmethod
    def of(cls, sides: Sequence[tuple[Floats, Floats]], number: Floats, distance: Floats) -> _Pairs:
        """Take pairs of one-hot labels, each of shape (items, labels), and the number of an item's pairs."""
        # An item's pairs share the weight 1, so that one with many labels does not count more than others.
        share = 1 / np.maximum(number, 1)
        parts = [np.ones((len(number), 1)), np.zeros((len(number), 1))]
        for left, right in sides:
            both = share * left.sum(axis=1) * right.sum(axis=1)
            parts[1] = parts[1] + (share * ((left @ distance) * right).sum(axis=1))[:, None]
            parts += [both[:, None], left * both[:, None], right * both[:, None]]
        return cls(columns=np.hstack(parts), distance=distance)

    def disagreement(self, totals: Floats) -> Floats:
        """Compute the mean disagreement of totals of shape (B, columns)."""
        return np.asarray(totals[:, 1] / positive_or_nan(totals[:, 0]))

    def chance_disagreement(self, totals: Floats) -> Floats:
        """Compute the mean disagreement by chance."""
        size = len(self.distance)
        pairs = totals[:, 2:].reshape(len(totals), -1, 1 + 2 * size)
        weight, left, right = pairs[:, :, 0], pairs[:, :, 1 : 1 + size], pairs[:, :, 1 + size :]
        # A pair of raters without a common item adds nothing.
        chance = ((left @ self.distance) * right).sum(axis=2) / np.where(weight > _NO_WEIGHT, weight, np.inf)
        return np.asarray(chance.sum(axis=1) / positive_or_nan(totals[:, 0]))

    def kappa(self, totals: Floats) -> Floats:
        """Compute kappa, NaN where chance alone makes no disagreement."""
        return beyond_chance(self.disagreement(totals), self.chance_disagreement(totals))

    def estimate(self, sums: Floats, level: float, weighting: Weighting) -> Estimate:
        """Estimate kappa with the interval of `clustered_kappa`."""
        return chance_corrected(
            sums,
            self.disagreement,
            self.chance_disagreement,
            n=float(len(self.columns)),
            level=level,
            unseen=None if weighting == "none" else self._unseen(sums),
        )

    def _unseen(self, sums: Floats) -> Floats:
        """Return the sums of one item at the corners: lowest and highest label on either side of every pair."""
        size = len(self.distance)
        total = sums.sum(axis=0)
        weights = total[2 :: 1 + 2 * size] / max(total[0], 1.0)
        ends = np.eye(size)[[0, -1]]
        rows = []
        for row, column in ((0, -1), (-1, 0), (0, 0), (-1, -1)):
            pairs = np.concatenate([[1.0], ends[row], ends[column]])[None, :] * weights[:, None]
            # The distance of labels that are the same end is 0.
            rows.append([1.0, self.distance[0, -1] if row != column else 0.0, *pairs.reshape(-1)])
        return np.array(rows)


def _difference(among: _Pairs, with_judge: _Pairs, sums: list[Floats], level: float) -> Estimate:
    """Estimate the kappa of the judge minus that of people."""
    width = sums[0].shape[1]
    n = float(len(among.columns))
    if not n:
        return Estimate(value=None, flags=("empty",))
    kinds, counts = distinct(np.hstack(sums))
    total = (counts @ kinds)[None, :]
    clusters = int(counts.sum())

    def statistic(totals: Floats) -> Floats:
        return with_judge.kappa(totals[:, width:]) - among.kappa(totals[:, :width])

    value = float(statistic(total)[0])
    if np.isnan(value):
        return Estimate(value=None, n=n, clusters=clusters, flags=("degenerate",))
    estimate = Estimate(value=value, n=n, clusters=clusters)
    if clusters == 1:
        return estimate
    # Both kappas without the same cluster: a hard item lowers both, and the difference hardly moves.
    _, without = leave_one_out(kinds, counts, statistic)
    error = float(np.sqrt(jackknife_variance(without, counts)))
    degrees = effective_degrees(without, counts)
    if error > NOISE:
        reach, method, flags = t_quantile(level, degrees) * error, "jackknife-t", few_events(degrees, clusters)
    else:
        chance = float(among.chance_disagreement(total[:, :width])[0])
        reach, method, flags = unseen_share(clusters, level) / chance, "wilson-clusters", (FEW_EVENTS,)
    return evolve(estimate, low=max(value - reach, -2.0), high=min(value + reach, 2.0), method=method, flags=flags)


def _people_share(hot: Floats, pairs: Floats) -> float | None:
    """Return the mean share of an item's pairs of people with the same label."""
    if not len(hot):
        return None
    counts = hot.sum(axis=1)
    return float(np.mean((counts * (counts - 1) / 2).sum(axis=1) / pairs))


def _judge_share(verdict: Floats, hot: Floats, number: Floats) -> float | None:
    """Return the mean share of an item's pairs of verdict and person with the same label."""
    return float(np.mean((verdict * hot.sum(axis=1)).sum(axis=1) / number)) if len(hot) else None
