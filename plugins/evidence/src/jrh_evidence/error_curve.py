"""The metric `error-curve`: how many errors of a kind it takes until a judge notices them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.values import Curve
from jrh_measuring import Basis, Cell, Floats, MeasureBuilder, MetricOptions, Scores, Trials, reference_verdicts
from jrh_stats import PsychometricCurve, psychometric_curve

from jrh_evidence.evidence_scores import cluster_table, differing_share, family_cells

FAMILY: Final = "errors"
_NOTHING: Final = "no verdict on a text with errors"
_TWO: Final = 2
_HALF: Final = 0.5
_DRAWN: Final = 41
_DIGITS: Final = 6


@frozen
class ErrorCurve:
    """Measure the share of reference verdicts that errors change, by kind and number, and fit the curve.

    A verdict scores the share of its item's reference verdicts that differ from it. Reruns that differ are guesses.
    `error-threshold` is the number at which half are noticed beyond guesses (`jrh_stats.psychometric_curve`).
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the share noticed by kind and number, and the curve of every kind."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        cells = family_cells(trials, FAMILY)
        if not cells:
            return
        scores, guess = _score_changes(trials)
        for cell in cells:
            names = np.array(trials.variant.names)[trials.variant.codes[cell.rows]]
            kinds = np.array([name.partition("*")[0] for name in names])
            for kind in sorted(set(kinds)):
                part = cell.part({"error": kind}, cell.rows[kinds == kind])
                yield from _of_kind(builder, part, scores, guess)


def _score_changes(trials: Trials) -> tuple[Scores, Floats]:
    reference = reference_verdicts(trials)
    value = 1 - reference.count_matches(trials.label) / np.maximum(reference.usable, 1)
    scores = Scores(
        eligible=~trials.reference,
        value=np.where(trials.usable & (reference.usable > 0), value, np.nan),
        low=0.0,
        high=1.0,
    )
    return scores, differing_share(reference.counts)[reference.of]


def _of_kind(builder: MeasureBuilder, cell: Cell, scores: Scores, noise: Floats) -> Iterator[Measure]:
    # The dose is the case's strength; its variant names the kind as well.
    strength = builder.trials.records.number("strength")
    for dose in np.unique(strength[cell.rows]).tolist():
        part = cell.part({**cell.levels, "errors": f"{dose:g}"}, cell.rows[strength[cell.rows] == dose])
        yield builder.rate("error-noticed", part, scores, nothing=_NOTHING)
    rows = cell.rows[scores.answered[cell.rows]]
    doses, at = np.unique(strength[rows], return_inverse=True)
    # The curve is a function of the logarithm of the dose, and one dose has no slope.
    if len(doses) < _TWO or doses[0] <= 0:
        return
    # Items that were asked once say nothing about guesses.
    known = noise[rows][np.isfinite(noise[rows])]
    curve = psychometric_curve(
        *cluster_table(builder.trials, rows, at, scores),
        doses,
        # Reruns that differ are guesses: such a change would have come without any error.
        guess=float(known.mean().round(12)) if len(known) else 0.0,
        level=builder.context.level,
        resamples=builder.context.resamples,
        seed=builder.seed(cell),
    )
    if curve is None:
        return
    basis = Basis(cell, cell.rows, rows)
    for name, estimate, unit in (
        ("error-threshold", curve.threshold, "errors"),
        ("error-slope", curve.slope, "log odds"),
        ("error-lapse", curve.lapse, "proportion"),
    ):
        note = "half is reached only outside the tested numbers of errors" if estimate.value is None else ""
        measure = builder.measure(name, basis, evolve(estimate, flags=()), unit=unit, note=note)
        yield evolve(measure, curve=_curve(curve, doses)) if name == "error-threshold" else measure


def _curve(found: PsychometricCurve, doses: Floats) -> Curve:
    """Return the plot: shares by number of errors, the fitted function, and the threshold at its height."""
    across = np.geomspace(doses[0], doses[-1], _DRAWN)
    return Curve(
        of="error-noticed",
        over="errors",
        label="number of errors",
        points="share of verdicts that change",
        logarithmic=True,
        line=tuple(zip(across.round(_DIGITS).tolist(), found.at(across).round(_DIGITS).tolist(), strict=True)),
        height=round(found.guess + (1 - found.guess) * _HALF, _DIGITS),
    )
