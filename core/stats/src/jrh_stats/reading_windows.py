"""Find the part of a text that a rater reads, from how often it follows evidence planted at known positions."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import parts_of
from jrh_stats.estimate import Estimate

_AT_ONCE: Final = 2_000_000
_NONE: Final = -1
_NOISE: Final = 1e-9
_METHOD: Final = "change point, bootstrap of clusters"


@frozen(kw_only=True)
class ReadingWindow:
    """What a rater reads of a text: its first `head` and last `tail`; None where the data set no bound."""

    head: Estimate | None
    """How far from the start evidence is followed. The interval ends at tested positions."""
    tail: Estimate | None
    """How far from the end."""
    inside: float
    """Rate at which evidence within the window is followed, in texts of lengths that also have positions outside."""
    outside: float
    """Rate at which evidence outside of it is followed, in the same texts."""
    p: float
    """Of the test that evidence is followed alike at all positions of texts of one length."""


@frozen(kw_only=True, eq=False)
class _Candidates:
    """Windows, as the cells that lie within them."""

    within: Floats
    """1 for the cells within, shape (windows, cells)."""
    heads: Codes
    """Place of the last position read among the positions; -1: nothing from the start is read."""
    tails: Codes


def reading_window(
    tops: ArrayLike,
    bottoms: ArrayLike,
    positions: ArrayLike,
    lengths: ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = 999,
    seed: int = 0,
) -> ReadingWindow | None:
    """Estimate which part of a text is read, and test whether any part is read more than others.

    A cell is one position in texts of one length. The model has two rates: one for positions up to `head` from the
    start or `tail` from the end, a lower one elsewhere. A window scores the difference between its cells and the
    others of the same length, over all lengths, divided by its standard deviation up to a constant (the stratified
    contrast of Mantel and Haenszel): T = sum_w (x - n * mean of the length) / sqrt(sum_l n_w (n_l - n_w) / n_l). A rate
    that falls with length alone is no window. The estimate maximises n log(1 - T^2 / SS) with a penalty of 2 log(m)
    for each end, m the number of positions.

    The p-value is that of the largest T over all windows when the cells of each cluster and length are exchanged
    (1 + those at least as large over 1 + all). Given the kind of window, each end has a percentile interval over
    resampled clusters, widened to the next tested position: an end between two positions cannot be placed closer.

    Change points by a scan of binary segmentations: Page (1954) and Hinkley (1970), not consulted; the maximum's null
    distribution by exchange within blocks: Westfall and Young (1993), not consulted.

    Args:
        tops: sum of what is followed, by cluster and cell, shape (clusters, cells).
        bottoms: number of verdicts, the same shape; 0 where there is none.
        positions: of each cell, from the start, shape (cells,).
        lengths: of the text of each cell, shape (cells,).
        level: coverage of the intervals.
        resamples: exchanges, and bootstrap draws.
        seed: of both.

    Returns:
        None where no length has two positions with verdicts.
    """
    top, bottom = np.asarray(tops, dtype=np.float64), np.asarray(bottoms, dtype=np.float64)
    place, length = np.asarray(positions, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    there = bottom.sum(axis=0) > 0
    top, bottom, place, length = top[:, there], bottom[:, there], place[there], length[there]
    strata = np.unique(length, return_inverse=True)[1]
    heads, tails = np.unique(place), np.unique(length - place)
    windows = _candidates(place, length, heads, tails)
    scores = _scores(windows.within, top.sum(axis=0)[None], bottom.sum(axis=0)[None], strata)[0]
    if not np.isfinite(scores).any():
        return None
    # One stream for both: the exchanges first, then the bootstrap.
    draws = np.random.default_rng(seed)
    best = _best(windows, scores[None], _spread(top, bottom, strata), float(bottom.sum()), len(heads))[0]
    extremes = _exchange_scores(windows, top, bottom, strata, resamples, draws)
    p = (1 + int(np.count_nonzero(extremes >= np.nanmax(scores) - 1e-9))) / (1 + len(extremes))
    inside = windows.within[best] > 0
    # Rates are compared where both are seen: in texts of the same lengths.
    both = np.isin(strata, strata[inside]) & np.isin(strata, strata[~inside])
    kind = (windows.heads >= 0) == (windows.heads[best] >= 0)
    kind &= (windows.tails >= 0) == (windows.tails[best] >= 0)
    drawn = _bootstrap_windows(windows, kind, top, bottom, strata, resamples, draws)
    ends = [
        None if places[best] == _NONE else _end(values, int(places[best]), places[drawn], level, bottom)
        for values, places in ((heads, windows.heads), (tails, windows.tails))
    ]
    return ReadingWindow(
        head=ends[0],
        tail=ends[1],
        inside=_rate(top, bottom, inside & both),
        outside=_rate(top, bottom, ~inside & both),
        p=p,
    )


def _candidates(place: Floats, length: Floats, heads: Floats, tails: Floats) -> _Candidates:
    """List all windows with different cells, those with one end first."""
    windows: dict[bytes, tuple[int, int]] = {}
    pairs = [(at, _NONE) for at in range(len(heads))] + [(_NONE, at) for at in range(len(tails))]
    pairs += [(head, tail) for head in range(len(heads)) for tail in range(len(tails))]
    for head, tail in pairs:
        cells = np.zeros(len(place), dtype=bool)
        if head != _NONE:
            cells |= place <= heads[head]
        if tail != _NONE:
            cells |= length - place <= tails[tail]
        if not cells.all():
            # Windows with the same cells are one hypothesis; the one with fewer ends comes first and stays.
            windows.setdefault(cells.tobytes(), (head, tail))
    ends = np.array(list(windows.values()), dtype=np.int64).reshape(-1, 2)
    within = np.array([np.frombuffer(key, dtype=bool) for key in windows], dtype=np.float64).reshape(-1, len(place))
    return _Candidates(within=within, heads=ends[:, 0], tails=ends[:, 1])


def _scores(within: Floats, top: Floats, bottom: Floats, strata: Codes) -> Floats:
    """Return T of every draw and window, shape (draws, windows); -inf where a window has nothing to compare."""
    size = int(strata.max(initial=-1)) + 1
    member = (strata[:, None] == np.arange(size)).astype(np.float64)
    tops, bottoms = top @ member, bottom @ member
    rate = np.divide(tops, bottoms, out=np.zeros_like(tops), where=bottoms > 0)
    excess = (top - bottom * rate[:, strata]) @ within.T
    variance = np.zeros_like(excess)
    for stratum in range(size):
        inside = (bottom * member[:, stratum]) @ within.T
        total = bottoms[:, stratum][:, None]
        variance += np.divide(inside * (total - inside), total, out=np.zeros_like(inside), where=total > 0)
    return np.where(variance > _NOISE, excess / np.sqrt(np.maximum(variance, _NOISE)), -np.inf)


def _spread(top: Floats, bottom: Floats, strata: Codes) -> float:
    """Return the sum of squares around the mean of each length."""
    rates = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    total = 0.0
    for stratum in np.unique(strata):
        rates_of_length, weight = rates[:, strata == stratum], bottom[:, strata == stratum]
        mean = (rates_of_length * weight).sum() / max(weight.sum(), 1.0)
        total += float((weight * (rates_of_length - mean) ** 2).sum())
    return total


def _best(windows: _Candidates, scores: Floats, spread: float, number: float, ends: int) -> Codes:
    """Return the window of every draw with the largest penalised likelihood."""
    # Below 1: a window that explains all of the spread would have an infinite score.
    gain = np.where(scores > 0, np.minimum(scores**2 / max(spread, 1e-9), 1 - 1e-9), 0.0)
    cost = (windows.heads >= 0).astype(np.float64) + (windows.tails >= 0)
    best: Codes = np.argmax(-number * np.log1p(-gain) - 2 * np.log(max(ends, 2)) * cost, axis=1)
    return best


def _exchange_scores(
    windows: _Candidates, top: Floats, bottom: Floats, strata: Codes, resamples: int, draws: np.random.Generator
) -> Floats:
    """Return the largest score of every exchange of the cells of each cluster and length."""
    cells = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    largest: list[Floats] = []
    for part in parts_of(resamples, max(1, _AT_ONCE // max(top.size, 1))):
        size = part.stop - part.start
        tops, bottoms = np.empty((size, top.shape[1])), np.empty((size, top.shape[1]))
        for length_cells in cells:
            # Within each cluster and length, where all cells are alike under the null hypothesis.
            order = np.argsort(draws.random((size, len(top), len(length_cells))), axis=2)
            for source, target in ((top, tops), (bottom, bottoms)):
                moved = np.take_along_axis(np.broadcast_to(source[:, length_cells], order.shape), order, axis=2)
                target[:, length_cells] = moved.sum(axis=1)
        largest.append(_scores(windows.within, tops, bottoms, strata).max(axis=1))
    return np.concatenate(largest)


def _bootstrap_windows(
    windows: _Candidates,
    kind: Mask,
    top: Floats,
    bottom: Floats,
    strata: Codes,
    resamples: int,
    draws: np.random.Generator,
) -> Codes:
    """Return the best window of a kind for every draw of clusters."""
    # Clusters, because verdicts on one text at several positions depend on each other.
    weights = draws.multinomial(len(top), np.full(len(top), 1 / len(top)), size=resamples).astype(np.float64)
    scores = _scores(windows.within, weights @ top, weights @ bottom, strata)
    best: Codes = np.argmax(np.where(kind, scores, -np.inf), axis=1)
    return best


def _end(values: Floats, best: int, drawn: Codes, level: float, bottom: Floats) -> Estimate:
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    after = [min(int(place) + 1, len(values) - 1) for place in (best, max(int(high), best))]
    return Estimate(
        value=float((values[best] + values[after[0]]) / 2),
        low=float(values[min(int(low), best)]),
        high=float(values[after[1]]),
        method=_METHOD,
        n=int(bottom.sum()),
        clusters=int(np.count_nonzero(bottom.sum(axis=1))),
    )


def _rate(top: Floats, bottom: Floats, cells: Mask) -> float:
    return float(top[:, cells].sum() / max(bottom[:, cells].sum(), 1e-9))
