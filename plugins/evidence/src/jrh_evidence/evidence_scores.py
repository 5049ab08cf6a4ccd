"""Which verdicts follow the evidence, and how often the same would happen without it."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from jrh_measuring import (
    Cell,
    Codes,
    Floats,
    Mask,
    Scores,
    Trials,
    cells_of,
    combine_codes,
    is_named,
    reference_verdicts,
)
from jrh_stats import count_disagreeing_pairs

from jrh_evidence.cells import FAMILY, Variant

NO_OTHER: Final = "no_verdict_without_the_evidence"


@frozen(kw_only=True, eq=False)
class EvidenceScores:
    """What every trial of the family says about the evidence; arrays of shape (n,) over all trials."""

    scores: Scores
    """1 where a verdict with the evidence is what it implies, else the share of verdicts without it that differ."""
    chance: Scores
    """The same share of the verdicts without the evidence: what a judge that never sees it would score."""
    effect: Scores
    """Their difference."""
    length: Codes
    """Tokens; 0 for trials of other tests."""
    depth: Floats
    """NaN without the evidence."""


def of_family(trials: Trials, name: str) -> Mask:
    """Return the trials of a family, alone or combined with others (`evidence+templates`), shape (n,)."""
    family = trials.column("family")
    return np.array([name in names.split("+") for names in family.names])[family.codes]


def family_cells(trials: Trials, name: str) -> list[Cell]:
    """Return the tests of a family, by task and judge."""
    within = of_family(trials, name)
    return [cell for cell in cells_of(trials) if within[cell.rows[0]]]


def cluster_table(trials: Trials, rows: Codes, column: Codes, scores: Scores) -> tuple[Floats, Codes]:
    """Return the sums of the scores of some rows, and their number, by cluster and column.

    Args:
        trials: all trials.
        rows: those that count.
        column: the column of each of them, from 0.
        scores: of all trials.
    """
    cluster = np.unique(trials.cluster.codes[rows], return_inverse=True)[1]
    shape = (int(cluster.max()) + 1, int(column.max()) + 1)
    cell, size = cluster * shape[1] + column, shape[0] * shape[1]
    sums = np.asarray(np.bincount(cell, weights=scores.value[rows], minlength=size), dtype=np.float64).reshape(shape)
    # Rounded, so that the order in which trials arrived does not show in the last digit.
    return sums.round(12), np.bincount(cell, minlength=size).reshape(shape)


def evidence_scores(trials: Trials) -> EvidenceScores:
    """Score every trial with evidence against those of the same item and length without it."""
    return trials.compute_once("evidence followed", lambda: _evidence_scores(trials))


def _evidence_scores(trials: Trials) -> EvidenceScores:
    inside = of_family(trials, FAMILY)
    read = [Variant.read(name) for name in trials.variant.names]
    lengths = [0 if variant is None else variant.length for variant in read]
    length = np.where(inside, np.array(lengths)[trials.variant.codes], 0)
    depths = [np.nan if variant is None or variant.depth is None else variant.depth for variant in read]
    depth = np.where(inside, np.array(depths)[trials.variant.codes], np.nan)
    planted = inside & (length > 0) & ~np.isnan(depth)
    bare = inside & (length > 0) & np.isnan(depth)
    # By length as well: length alone may change verdicts.
    question = combine_codes(trials.judge.codes, trials.task.codes, trials.test.codes, trials.item.codes, length)
    width = max(len(trials.labels), 1)
    size = int(question.max(initial=-1)) + 1
    known = bare & trials.usable
    counts = np.bincount(question[known] * width + trials.label[known], minlength=size * width)
    without = counts.reshape(size, width).astype(np.float64)[question]
    number = without.sum(axis=1)
    stated = planted & (trials.expected >= 0) & is_named(trials.expectation, "equals")
    # Rows without a verdict read any column; `usable` drops them below.
    alike = np.take_along_axis(without, np.maximum(trials.label, 0)[:, None], axis=1)[:, 0]
    differ = 1 - alike / np.maximum(number, 1)
    value = np.where(stated, trials.label == trials.expected, differ)
    implied = np.take_along_axis(without, np.maximum(trials.expected, 0)[:, None], axis=1)[:, 0]
    # With a stated label, chance is how often it comes without the evidence; else how often two such verdicts differ.
    chance = np.where(stated, implied / np.maximum(number, 1), _disagreement(trials, without))
    # A stated label needs no verdict without the evidence to compare with.
    usable: Mask = trials.usable & (stated | (number > 0))
    # The difference needs both sides.
    both = usable & (number > 0) & np.isfinite(chance)
    return EvidenceScores(
        scores=_scores(planted, np.where(usable, value, np.nan)),
        chance=_scores(planted, np.where((number > 0) & np.isfinite(chance), chance, np.nan)),
        effect=_scores(planted, np.where(both, value - chance, np.nan), least=-1.0),
        length=length,
        depth=depth,
    )


def _disagreement(trials: Trials, without: Floats) -> Floats:
    """Return the share of pairs of verdicts without evidence that differ; or those of the reference."""
    reference = reference_verdicts(trials)
    result, other = differing_share(without), differing_share(reference.counts)[reference.of]
    # Asked once everywhere, a judge is taken to repeat itself.
    return np.where(np.isfinite(result), result, np.where(np.isfinite(other), other, 0.0))


def differing_share(counts: Floats | Codes) -> Floats:
    """Return the share of pairs of verdicts that differ, by row of counts by label; NaN for less than two verdicts."""
    differing, pairs = count_disagreeing_pairs(counts)
    return np.where(pairs > 0, differing / np.maximum(pairs, 1), np.nan)


def _scores(eligible: Mask, value: Floats, least: float = 0.0) -> Scores:
    return Scores(eligible=eligible, value=value, low=least, high=1.0, unscored=NO_OTHER)
