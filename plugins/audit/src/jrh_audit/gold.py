"""Check gold labels: constant, lopsided, or predictable from position or length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from jrh import Mode, ScaleKind
from jrh.text import count_noun
from jrh_stats import cluster_sums, mcnemar_exact, sign_flip_test, spearman
from numpy.typing import ArrayLike, NDArray

from jrh_audit.facts import Facts, Finding, some
from jrh_audit.options import AuditOptions

CHANCE: Final = 0.01
"""A pattern is a finding only if its p-value is below this."""


def uneven(heads: Sequence[bool], clusters: NDArray[np.int64]) -> bool:
    """Tell whether a fair coin is unlikely to fall so unevenly.

    Each toss alone: the exact binomial test, of which McNemar's is a case. Where tosses share clusters, the sign-flip
    test exchanges the sides of whole clusters.
    """
    sides = np.asarray(heads, dtype=np.float64)
    # The exact test is cheaper and needs no draws; it holds only where every toss is independent.
    if len(np.unique(clusters)) == len(sides):
        up = int(sides.sum())
        p = mcnemar_exact(up, len(sides) - up).p
    else:
        # Tosses of one cluster tend to fall together: counted singly, ten copies of one item would look like a pattern.
        p = sign_flip_test(cluster_sums(clusters, 2 * sides - 1)[:, 0], resamples=2000).p
    return p is not None and p < CHANCE


def is_associated(one: ArrayLike, other: ArrayLike, clusters: NDArray[np.int64]) -> bool:
    """Tell whether a rank correlation is unlikely to be chance: its interval by cluster, at 99%, leaves out 0."""
    correlation = spearman(one, other, clusters, level=1 - CHANCE)
    return correlation.low is not None and correlation.high is not None and not correlation.low <= 0 <= correlation.high


Sizes = NDArray[np.float64]

_UNEVEN: Final = 0.65
"""Share of gold labels on one option at which position and gold label count as confounded."""
_READABLE: Final = 0.7
"""Share of pairs (or area under the ROC curve) at which length counts as predicting the gold label."""
_CORRELATED: Final = 0.5
"""Rank correlation at which length counts as predicting the level."""
_LEAST: Final = 10
"""Fewer labelled items than this are too few to look for a pattern."""


def off_scale(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find gold labels that are not on the scale."""
    task = facts.task
    strange = [place for place, gold in enumerate(facts.golds) if gold is not None and gold not in task.scale]
    if strange:
        names = ", ".join(f"'{label}'" for label in dict.fromkeys(str(facts.golds[place]) for place in strange))
        yield facts.finding(
            kind="labels-off-scale",
            evidence=f"{count_noun(len(strange), 'gold label')} outside the scale "
            f"{', '.join(task.scale.labels)}: {names}",
            consequence="A run refuses this data set: correct the labels or the scale.",
            affected=len(strange),
            examples=some([facts.ids[place] for place in strange]),
        )


def constant(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find that all gold labels are the same."""
    labels = Counter(gold for gold in facts.golds if gold is not None)
    if len(labels) != 1 or sum(labels.values()) < 2:  # noqa: PLR2004 - one label alone is no pattern
        return
    (label,) = labels
    task = facts.task
    position = (
        f" It hides position bias: a judge that always picks {label} for its place looks perfect. Test both orders "
        "(`option-order`)."
        if task.mode is Mode.PAIRWISE and label in task.scale.options
        else ""
    )
    yield facts.finding(
        kind="constant-gold",
        evidence=f"every gold label is {label} ({count_noun(labels[label], 'item')})",
        consequence=f"A judge that always says {label} scores 100%, and kappa is undefined.{position}",
        affected=labels[label],
    )


def find_lopsided_labels(facts: Facts, options: AuditOptions) -> Iterator[Finding]:
    """Find that one of several gold labels covers nearly all items."""
    labels = Counter(gold for gold in facts.golds if gold is not None)
    total = sum(labels.values())
    if len(labels) < 2 or total < _LEAST:  # noqa: PLR2004 - one label is `constant`
        return
    label, most = max(labels.items(), key=lambda pair: (pair[1], pair[0]))
    if most / total >= options.lopsided:
        yield facts.finding(
            kind="lopsided-gold",
            evidence=f"{most:,} of {total:,} gold labels are {label} ({most / total:.0%})",
            consequence=f"A judge that always says {label} scores {most / total:.0%}: compare every accuracy with "
            "that, and read it label by label.",
            affected=most,
        )


def by_position(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find that the better option is in one position too often."""
    task = facts.task
    if task.mode is not Mode.PAIRWISE or len(task.scale.options) != 2:  # noqa: PLR2004 - a pair
        return
    places = [place for place, gold in enumerate(facts.golds) if gold in task.scale.options]
    labelled = [facts.golds[place] for place in places]
    labels = Counter(labelled)
    total = len(labelled)
    if len(labels) < 2 or total < _LEAST:  # noqa: PLR2004 - one label is `constant`
        return
    label, most = max(labels.items(), key=lambda pair: (pair[1], str(pair[0])))
    # Both conditions: in a large set a share of 0.51 may be significant, and in a small one 0.7 may be chance.
    if most / total >= _UNEVEN and uneven([gold == label for gold in labelled], facts.cluster_codes(places)):
        yield facts.finding(
            kind="gold-by-position",
            evidence=f"the better option is in place {label} in {most:,} of {total:,} items ({most / total:.0%})",
            consequence="A preference for that place looks like accuracy. Test both orders (`option-order`).",
            affected=most,
        )


def by_length(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find that length alone predicts the gold label."""
    task = facts.task
    if task.mode is Mode.PAIRWISE and len(task.scale.options) == 2:  # noqa: PLR2004 - a pair
        yield from _longer_option(facts)
    elif task.mode is Mode.POINTWISE:
        yield from _length_of_one(facts)


def _longer_option(facts: Facts) -> Iterator[Finding]:
    options = facts.task.scale.options
    one, other = (facts.sizes(name) for name in facts.task.judged_fields)
    # Pairs of equal length say nothing about a preference for length.
    compared = [place for place in np.flatnonzero(one != other).tolist() if facts.golds[place] in options]
    is_longer = [options.index(str(facts.golds[place])) == int(other[place] > one[place]) for place in compared]
    longer, total = sum(is_longer), len(compared)
    most = max(longer, total - longer)
    if total >= _LEAST and most / total >= _READABLE and uneven(is_longer, facts.cluster_codes(compared)):
        which = "longer" if longer == most else "shorter"
        yield _readable(
            facts, f"the {which} response is the better one in {most:,} of {total:,} items ({most / total:.0%})"
        )


def _length_of_one(facts: Facts) -> Iterator[Finding]:
    scale, places = facts.task.scale, facts.places_with_label()
    sizes = facts.sizes("response")[places].astype(np.float64)
    ranks = np.array([scale.rank(str(facts.golds[place])) for place in places])
    present = np.unique(ranks)
    if len(places) < _LEAST or len(present) < 2 or np.ptp(sizes) == 0:  # noqa: PLR2004 - nothing to tell apart
        return
    clusters = facts.cluster_codes(places)
    # The tests below count items; where these share clusters, the pattern has to hold between clusters too.
    if len(np.unique(clusters)) < len(places) and not is_associated(sizes, ranks, clusters):
        return
    if scale.kind is ScaleKind.ORDINAL:
        yield from _find_correlation(facts, sizes, ranks)
    elif len(present) == 2:  # noqa: PLR2004 - the area is about two labels
        names = tuple(scale.labels[rank] for rank in present)
        yield from _find_separation(facts, sizes[ranks == present[0]], sizes[ranks == present[1]], names)


def _find_correlation(facts: Facts, sizes: Sizes, ranks: NDArray[np.int64]) -> Iterator[Finding]:
    # Imported late, as in `_rank_sum_p`.
    from scipy.stats import spearmanr

    correlation = spearmanr(sizes, ranks)
    # The same two conditions as for positions: large, and no chance.
    if abs(float(correlation.statistic)) >= _CORRELATED and float(correlation.pvalue) < CHANCE:
        yield _readable(
            facts,
            f"the rank correlation of length and gold level is {float(correlation.statistic):.2f} "
            f"over {len(sizes):,} items",
        )


def _find_separation(facts: Facts, one: Sizes, other: Sizes, names: tuple[str, ...]) -> Iterator[Finding]:
    # The area under the ROC curve as the Mann-Whitney statistic: ties count half, hence both sides of the search.
    below = np.searchsorted(np.sort(other), one, side="left") + np.searchsorted(np.sort(other), one, side="right")
    area = float(below.sum()) / (2 * len(one) * len(other))
    share = max(area, 1 - area)
    if share >= _READABLE and _rank_sum_p(one, other) < CHANCE:
        longer, shorter = names if area > 0.5 else names[::-1]  # noqa: PLR2004 - one half is chance
        yield _readable(
            facts, f"a response labelled {longer} is longer than one labelled {shorter} in {share:.0%} of such pairs"
        )


def _rank_sum_p(one: Sizes, other: Sizes) -> float:
    # Importing scipy.stats takes longer than all other checks together, and most data sets never get here.
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(one, other).pvalue)


def _readable(facts: Facts, evidence: str) -> Finding:
    return facts.finding(
        kind="gold-by-length",
        evidence=evidence,
        consequence="A judge that only counts words looks good. Test with `verbosity`, and report accuracy by length.",
    )
