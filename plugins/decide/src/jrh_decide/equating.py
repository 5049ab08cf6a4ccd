"""Translate the pass mark of one judge into that of another, over items that both judged and people labelled.

A mark on a scale with levels is equated within each true label: the new mark lets pass, of the items that people gave a
label, as many as the old one did. So it holds where the labels are mixed otherwise than among the anchors; one offset
for all of them would not. A mark on the share of verdicts that pass goes through the true share: the old judge's rates
per true label turn the mark into it, the new judge's turn it back (Rogan and Gladen 1978, American Journal of
Epidemiology 107:71-76).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from jrh_stats import cluster_sums
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
RESAMPLES: Final = 1000
_PART: Final = 20_000_000
"""Numbers that the resamples of one step may take."""
_CLOSER: Final = 1e-9
"""Of two marks that fit as well, the one that is closer to the old mark is taken."""


@frozen(kw_only=True)
class Mark:
    """A pass mark before and after."""

    before: float
    after: float
    low: float
    high: float
    off: float
    """Share of the anchors that pass with one mark and not with the other, net within each true label."""


def equate_levels(
    old: Codes,
    new: Codes,
    truth: Codes,
    clusters: Codes,
    levels: tuple[int, int],
    *,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[Mark, ...]:
    """Translate every mark above the lowest level; a verdict passes at its mark or above.

    The new mark m' of the old mark m minimises the sum over true labels of the absolute difference between the numbers
    of verdicts that pass. The interval is the percentile one of resampled clusters.

    Args:
        old: level of the old judge's verdict, from 0, shape (n,).
        new: level of the new judge's verdict on the same case, shape (n,).
        truth: label that people gave, from 0, shape (n,).
        clusters: cluster of the item, from 0, shape (n,).
        levels: number of levels of either judge.
        level: coverage of the interval.
        seed: of the resamples.
    """
    passes = []
    for given, count in ((old, levels[0]), (new, levels[1])):
        # Passing at a mark: one column per true label and mark.
        above = given[:, None] >= np.arange(1, count)
        per_label = [np.where((truth == label)[:, None], above, False) for label in range(int(truth.max()) + 1)]
        passes.append(np.concatenate(per_label, axis=1).astype(np.float64))
    sums = cluster_sums(clusters, *np.concatenate(passes, axis=1).T)
    labels = int(truth.max()) + 1
    marks = np.arange(1, levels[1])
    found, off = [], np.zeros(0)
    for weights in _resamples(len(sums), sums.shape[1] + labels * levels[0] * levels[1], seed):
        totals = weights @ sums
        before = totals[:, : labels * (levels[0] - 1)].reshape(len(totals), labels, levels[0] - 1)
        after = totals[:, labels * (levels[0] - 1) :].reshape(len(totals), labels, levels[1] - 1)
        distance = np.abs(before[:, :, :, None] - after[:, :, None, :]).sum(axis=1)
        nearer = _CLOSER * np.abs(np.arange(1, levels[0])[:, None] - marks)
        found.append(marks[(distance + nearer).argmin(axis=2)])
        off = distance[0].min(axis=1) if len(found) == 1 else off
    chosen = np.concatenate(found)
    low, high = _limits(chosen[1:].astype(np.float64), level, discrete=True)
    return tuple(
        Mark(
            before=float(mark),
            after=float(chosen[0, mark - 1]),
            low=min(float(low[mark - 1]), float(chosen[0, mark - 1])),
            high=max(float(high[mark - 1]), float(chosen[0, mark - 1])),
            off=float(off[mark - 1]) / len(old),
        )
        for mark in range(1, levels[0])
    )


def equate_share(
    mark: float, old: Codes, new: Codes, truth: Codes, clusters: Codes, *, level: float = 0.95, seed: int = 0
) -> Mark | None:
    """Translate a mark on the share of verdicts that pass; None where the old judge passes no more of what is right.

    With s and f the shares of verdicts that pass among the items that people pass and fail, the mark m of the old judge
    is that of a true share of (m - f) / (s - f), cut to [0, 1], and this one a share of f' + share (s' - f') of the new
    judge. Half a verdict is added to either side of every rate in a resample, so that a rate of 0 is not certain.

    Args:
        mark: share of the old judge's verdicts that have to pass.
        old: 1 where the old judge passes the case, shape (n,).
        new: the same of the new judge.
        truth: 1 where people do.
        clusters: cluster of the item, from 0.
        level: coverage of the interval.
        seed: of the resamples.
    """
    columns = [part * chosen for chosen in (truth == 1, truth == 0) for part in (np.ones(len(old)), old, new)]
    sums = cluster_sums(clusters, *(column.astype(np.float64) for column in columns))
    if not sums[:, 0].any() or not sums[:, 3].any():
        return None
    totals = np.concatenate([weights @ sums for weights in _resamples(len(sums), sums.shape[1], seed)])
    added = np.where(np.arange(len(totals)) > 0, 0.5, 0.0)
    right, wrong = totals[:, 0] + 2 * added, totals[:, 3] + 2 * added
    s_old, s_new = ((totals[:, place] + added) / right for place in (1, 2))
    f_old, f_new = ((totals[:, place] + added) / np.maximum(wrong, 1e-12) for place in (4, 5))
    if s_old[0] <= f_old[0]:
        return None
    spread = s_old - f_old
    # A resample whose judge is no better than chance says nothing of the true share: any is possible.
    share = np.clip(np.where(spread > 0, (mark - f_old) / np.where(spread > 0, spread, 1), np.nan), 0, 1)
    ends = np.where(np.isnan(share), [[0.0], [1.0]], share)
    after = np.sort(f_new + ends * (s_new - f_new), axis=0)
    low, _ = _limits(after[0, 1:, None], level)
    _, high = _limits(after[1, 1:, None], level)
    value = float(after[0, 0])
    return Mark(before=mark, after=value, low=min(float(low[0]), value), high=max(float(high[0]), value), off=0.0)


def _resamples(clusters: int, columns: int, seed: int) -> list[Floats]:
    """Return how often each cluster is drawn, in parts; the first row is the data themselves."""
    random = np.random.default_rng(seed)
    drawn = random.multinomial(clusters, np.full(clusters, 1 / clusters), RESAMPLES).astype(np.float64)
    weights = np.concatenate([np.ones((1, clusters)), drawn])
    rows = max(_PART // max(columns, 1), 1)
    return [weights[start : start + rows] for start in range(0, len(weights), rows)]


def _limits(values: Floats, level: float, *, discrete: bool = False) -> tuple[Floats, Floats]:
    tail = (1 - level) / 2
    ways = ("lower", "higher") if discrete else ("linear", "linear")
    low = np.quantile(values, tail, axis=0, method=ways[0])  # type: ignore[call-overload]
    high = np.quantile(values, 1 - tail, axis=0, method=ways[1])  # type: ignore[call-overload]
    return low, high
