"""Which share of the items a judge may decide alone: a threshold chosen on one half, guaranteed on the other.

Learn then test (Angelopoulos, Bates, Candes, Jordan and Lei 2021, arXiv:2110.01052; not consulted) with fixed-sequence
testing: one half of the clusters chooses the threshold to begin with, the other tests it and then ever lower ones, and
stops at the first that is not shown to keep the promise. Each is tested at alpha, and so are all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import ceil, floor
from typing import Final

import numpy as np
from attrs import field, frozen
from jrh import JrhError
from jrh.text import count_noun
from jrh_measuring import Codes, Floats, Mask, format_counts
from jrh_stats import binomial_limits, clustered_proportion, items_for_threshold

from jrh_decide.decisions import Basis, Decisions

_MOST_THRESHOLDS: Final = 25
_STEPS: Final = 10_000
"""Thresholds have four decimals, so that the one that is printed is the one that was tested."""
_ROUNDING: Final = 1e-6
_FEWEST: Final = 2
"""Clusters with labels: each half needs one."""


@frozen(kw_only=True)
class Share:
    """A share of items, with limits that err in at most alpha each."""

    count: int
    of: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


@frozen(kw_only=True)
class Threshold:
    """A threshold of confidence and what it brings."""

    at: float
    decided: Share
    """Items decided alone, of all."""
    wrong: Share
    """Wrong decisions, of those on held-out items with a label."""


@frozen(kw_only=True)
class Segment:
    """The wrong decisions of a part of the held-out items; the limits err in at most alpha for all parts together."""

    name: str
    wrong: Share


@frozen(kw_only=True)
class Automation:
    """The answer of `jrh automate`."""

    basis: Basis
    error: float
    alpha: float
    seed: int
    items: int
    labelled: int
    clusters: int
    """Clusters with a label and a decision."""
    held_out: int
    """Labelled items of the half that guarantees."""
    issued: Threshold | None
    """None: no threshold is shown to keep the promise."""
    first: Threshold
    """The threshold that was tested first."""
    curve: tuple[Threshold, ...]
    """From the strictest on."""
    more: int | None
    """Further labelled items that would do in 4 of 5 such tables; None: no number would, or a threshold is issued."""
    people: Share
    """Labels of one person that most others contradict, of those on items that the threshold decides."""
    segments: tuple[Segment, ...]
    """Those with a held-out decision, the worst first."""

    @property
    def shown(self) -> Threshold:
        """Return the threshold that the answer is about."""
        return self.issued or self.first


def choose_threshold(decisions: Decisions, *, error: float, alpha: float, seed: int) -> Automation:
    """Choose a threshold on one half of the clusters, and test it and lower ones on the other.

    Args:
        decisions: the items.
        error: the largest share of decisions that may be wrong.
        alpha: probability that a threshold is issued whose decisions are wrong more often.
        seed: of the split.

    Raises:
        JrhError: fewer than two clusters have a label and a decision.
    """
    measured = Measured(decisions=decisions, alpha=alpha)
    tested = measured.held_out(seed)
    grid, start, issued = search_threshold(measured, tested, error)
    curve = tuple(measured.threshold(at, tested) for at in grid)
    labelled = measured.labelled
    shown = grid[start if issued is None else issued]
    return Automation(
        basis=decisions.basis, error=error, alpha=alpha, seed=seed, items=len(decisions.wrong),
        labelled=int(labelled.sum()), clusters=len(np.unique(decisions.cluster.codes[labelled])),
        held_out=int((labelled & tested).sum()), issued=None if issued is None else curve[issued], first=curve[start],
        curve=curve, more=more_labels(measured, grid, error, int(labelled.sum())) if issued is None else None,
        people=measured.people(shown), segments=tuple(rate_segments(measured, shown, tested)),
    )  # fmt: skip


@frozen(kw_only=True, eq=False)
class Measured:
    """Shares of items, by cluster."""

    decisions: Decisions
    alpha: float
    codes: Codes = field(init=False)

    @codes.default
    def _number_clusters(self) -> Codes:
        return np.unique(self.decisions.cluster.codes, return_inverse=True)[1]

    @property
    def labelled(self) -> Mask:
        """Return the items with a label and a decision."""
        return ~np.isnan(self.decisions.wrong)

    def held_out(self, seed: int) -> Mask:
        """Return the items of the half of the clusters with labels that a hash of the seed and the cluster picks."""
        clusters, names = self.decisions.cluster.codes, self.decisions.cluster.names
        codes = np.unique(clusters[self.labelled])
        if len(codes) < _FEWEST:
            lost = format_counts(self.decisions.basis.reasons)
            why = f" (items without a decision: {lost})" if lost else ""
            raise JrhError(f"{count_noun(len(codes), 'cluster')} with a label and a decision{why}; label more items")
        texts = (f"{seed}\n{names[code]}".encode("utf-8", "surrogatepass") for code in codes)
        keys = [blake2b(text, digest_size=16).digest() for text in texts]
        order = sorted(range(len(codes)), key=keys.__getitem__)
        return np.isin(clusters, codes[order[: len(codes) // 2]])

    def share(self, top: Floats, whole: Floats, alpha: float | None = None) -> Share:
        """Return the share of numbers of items in others, each of shape (items,)."""
        tops, sizes = (np.bincount(self.codes, column) for column in (top, whole))
        used = sizes > 0
        estimate = clustered_proportion(tops[used], sizes[used], level=1 - 2 * (alpha or self.alpha))
        count, of = round(top.sum()), round(whole.sum())
        return Share(count=count, of=of, value=estimate.value, low=estimate.low, high=estimate.high)

    def decided(self, at: float) -> Mask:
        """Return the items that are decided alone: equal confidences are together on one side."""
        return np.asarray(self.decisions.confidence >= at - _ROUNDING / _STEPS)

    def wrong(self, at: float, among: Mask, alpha: float | None = None) -> Share:
        """Return the share of wrong decisions at a threshold, among some items."""
        known = self.decided(at) & among & self.labelled
        return self.share(np.where(known, self.decisions.wrong, 0.0), known.astype(np.float64), alpha)

    def threshold(self, at: float, tested: Mask) -> Threshold:
        """Return what a threshold brings."""
        decided = self.decided(at).astype(np.float64)
        return Threshold(at=at, decided=self.share(decided, np.ones(len(decided))), wrong=self.wrong(at, tested))

    def people(self, at: float) -> Share:
        """Return the labels of a person that most others contradict, on the items decided at a threshold."""
        compared = self.decisions.contradicted
        return Share(count=0, of=0) if compared is None else self.share(*(compared * self.decided(at)))


def search_threshold(measured: Measured, tested: Mask, error: float) -> tuple[list[float], int, int | None]:
    """Return the thresholds, from the strictest on, which is tested first, and which is issued; None: none is.

    The first one has the smallest limit of wrong decisions in the half that chooses. The other half tests it and then
    ever lower ones, up to the first that is not shown to keep the promise.
    """
    grid = confidence_grid(measured.decisions.confidence[measured.labelled & ~tested])
    start = int(np.argmin([upper_limit(measured.wrong(at, ~tested)) for at in grid]))
    issued = None
    for place in range(start, len(grid)):
        if upper_limit(measured.wrong(grid[place], tested)) > error:
            break
        issued = place
    return grid, start, issued


def confidence_grid(confidence: Floats) -> list[float]:
    """Return the thresholds, from the strictest on: the confidences of the half that chooses, or quantiles of them."""
    levels = np.unique(np.floor(confidence * _STEPS + _ROUNDING)) / _STEPS
    if len(levels) > _MOST_THRESHOLDS:
        # Of the items, and not of their confidences: most thresholds are where most items are.
        levels = np.unique(np.quantile(confidence, np.linspace(0, 1, _MOST_THRESHOLDS), method="lower"))
        levels = np.unique(np.floor(levels * _STEPS + _ROUNDING)) / _STEPS
    return [float(level) for level in levels[::-1]]


def upper_limit(share: Share) -> float:
    """Return the upper limit of a share; 1 where nothing is known of it."""
    return 1.0 if share.high is None else share.high


def more_labels(measured: Measured, grid: Sequence[float], error: float, labelled: int) -> int | None:
    """Return how many more labels would issue a threshold in 4 of 5 tables; None: the judge errs too often at each.

    Args:
        measured: the items.
        grid: the thresholds.
        error: the largest share of decisions that may be wrong.
        labelled: items with a label today.
    """
    needed = []
    for at in grid:
        wrong = measured.wrong(at, measured.labelled)
        rate = (wrong.count + 0.5) / (wrong.of + 1)
        if rate < error:
            ends = binomial_limits(wrong.count, wrong.of, alpha=measured.alpha)
            effect = (((wrong.high or 0.0) - (wrong.low or 0.0)) / (ends[1] - ends[0])) ** 2
            items = items_for_threshold(1 - rate, 1 - error, alpha=measured.alpha) * max(effect, 1.0)
            # Half of the labels guarantee, and of these the decided ones.
            needed.append(ceil(2 * items * labelled / wrong.of))
    return max(min(needed) - labelled, 0) if needed else None


def rate_segments(measured: Measured, at: float, tested: Mask) -> Iterator[Segment]:
    """Yield the segments with a decision to check, the one that is most surely worst first (Bonferroni)."""
    segment = measured.decisions.segment
    if segment is None:
        return
    checked = measured.decided(at) & tested & measured.labelled
    used = np.unique(segment.codes[checked])
    found = [
        Segment(
            name=segment.names[code],
            wrong=measured.wrong(at, tested & (segment.codes == code), measured.alpha / len(used)),
        )
        for code in used
    ]
    yield from sorted(found, key=lambda part: (part.wrong.low or 0.0, part.wrong.value or 0.0), reverse=True)


def promised_error(wrong: Share) -> float | None:
    """Return the smallest error, in whole percent, that what was tested first is shown to keep; None: half or more.

    It holds although it is chosen afterwards: the limit of that threshold does not depend on the error.
    """
    percent = floor(100 * upper_limit(wrong)) + 1
    return percent / 100 if percent < 50 else None  # noqa: PLR2004 - a coin would do as well
