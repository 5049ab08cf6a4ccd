"""The metric `error-curve`: how many errors of a kind it takes until a judge notices them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.values import Curve
from jrh_measuring import FINDING, Cell, MeasureBuilder, MetricOptions, Scores, Trials, cells_of, reference_verdicts
from jrh_stats import Estimate, PsychometricCurve, psychometric_curve
from numpy.typing import NDArray

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
        """Yield the share noticed by kind and number, the curve of every kind, and a finding for each."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        family = trials.column("family")
        if not any(FAMILY in name.split("+") for name in family.names):
            return
        scores, guess = _noticed(trials)
        for cell in cells_of(trials):
            if FAMILY not in family.names[family.codes[cell.rows[0]]].split("+"):
                continue
            names = np.array(trials.variant.names)[trials.variant.codes[cell.rows]]
            kinds = np.array([name.partition("*")[0] for name in names])
            every = sorted(set(kinds))
            # Bonferroni over the kinds: one judge has a finding for each.
            strict = builder.at(1 - (1 - context.level) / len(every))
            for kind in every:
                part = cell.part({"error": kind}, cell.rows[kinds == kind])
                yield from _of_kind(builder, strict, part, scores, guess)


def _noticed(trials: Trials) -> tuple[Scores, NDArray[np.float64]]:
    reference = reference_verdicts(trials)
    counts = reference.counts.astype(np.float64)
    number = counts.sum(axis=1)
    pairs = number * (number - 1)
    noise = np.where(pairs > 0, 1 - (counts * (counts - 1)).sum(axis=1) / np.maximum(pairs, 1), np.nan)[reference.of]
    usable = trials.usable & (reference.usable > 0)
    value = 1 - reference.matching(trials.label) / np.maximum(reference.usable, 1)
    scores = Scores(
        eligible=~trials.reference,
        value=np.where(usable, value, np.nan),
        low=0.0,
        high=1.0,
    )
    return scores, noise


def _of_kind(
    builder: MeasureBuilder, strict: MeasureBuilder, cell: Cell, scores: Scores, noise: NDArray[np.float64]
) -> Iterator[Measure]:
    strength = builder.trials.records.number("strength")
    shares = []
    for dose in np.unique(strength[cell.rows]).tolist():
        part = cell.part({**cell.levels, "errors": f"{dose:g}"}, cell.rows[strength[cell.rows] == dose])
        yield builder.rate("error-noticed", part, scores, nothing=_NOTHING)
        shares.append(strict.rate("error-noticed", part, scores, nothing=_NOTHING))
    rows = cell.rows[scores.answered[cell.rows]]
    doses, at = np.unique(strength[rows], return_inverse=True)
    if len(doses) < _TWO or doses[0] <= 0:
        return
    cluster = np.unique(builder.trials.cluster.codes[rows], return_inverse=True)[1]
    shape = (int(cluster.max()) + 1, len(doses))
    flat = cluster * shape[1] + at
    known = noise[rows][np.isfinite(noise[rows])]
    found = psychometric_curve(
        np.bincount(flat, weights=scores.value[rows], minlength=shape[0] * shape[1]).reshape(shape).round(12),
        np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape),
        doses,
        guess=float(known.mean().round(12)) if len(known) else 0.0,
        level=builder.context.level,
        resamples=builder.context.resamples,
        seed=builder.seed(cell),
    )
    if found is None:
        return
    for name, estimate, unit in (
        ("error-threshold", found.threshold, "errors"),
        ("error-slope", found.slope, "log odds"),
        ("error-lapse", found.lapse, "proportion"),
    ):
        note = "half is reached only outside the tested numbers of errors" if estimate.value is None else ""
        kept = evolve(estimate, flags=())
        made = builder.measure(name, cell, kept, rows=cell.rows, usable=rows, unit=unit, note=note)
        yield evolve(made, curve=_curve(found, doses)) if name == "error-threshold" else made
    yield builder.p_value(
        "error-falls-p",
        cell,
        found.p,
        rows=cell.rows,
        usable=rows,
        note="sign flips by cluster; null hypothesis: texts with more errors are never noticed less often",
    )
    kind, severity, note = _say(found, cell.levels["error"], doses.tolist(), shares)
    yield builder.measure(
        "error-finding",
        cell.part({**cell.levels, "finding": kind, "severity": severity}),
        Estimate(value=found.threshold.value),
        rows=cell.rows,
        usable=rows,
        flags=(FINDING,),
        unit="errors",
        note=note,
    )


def _curve(found: PsychometricCurve, doses: NDArray[np.float64]) -> Curve:
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


def _say(found: PsychometricCurve, error: str, doses: list[float], shares: Sequence[Measure]) -> tuple[str, str, str]:
    half, first, last = found.threshold, shares[0].interval, shares[-1].interval
    if last is not None and last.high < _HALF:
        note = f"The judge notices fewer than half of the texts with {doses[-1]:g} errors ({error})."
        return "errors-missed", "bad", note
    if first is not None and first.low > _HALF:
        what = "error" if doses[0] == 1 else "errors"
        note = f"The judge notices more than half of the texts with {doses[0]:g} {what} ({error})."
        return "errors-noticed", "good", note
    if half.value is None or half.low is None or half.high is None:
        if first is not None and first.high < _HALF:
            what = "error" if doses[0] == 1 else "errors"
            few = f"The judge notices fewer than half of the texts with {doses[0]:g} {what} ({error})"
            return "errors-missed", "bad", f"{few}; no number up to {doses[-1]:g} is found at which it notices half."
        note = f"Too few verdicts to tell how many errors ({error}) a text needs for the judge to notice."
        return "errors-undecided", "inconclusive", note
    told = f"The judge notices half of the texts at {half.value:.1f} errors ({error}) [{half.low:.1f}, {half.high:.1f}]"
    missed = f"; it misses {found.lapse.value:.0%}, however many errors they have." if found.lapse.value else "."
    # Not before the share at the smallest number is shown to be below one half is it called a defect.
    if first is not None and first.high < _HALF:
        return "errors-missed", "bad", told + missed
    return "errors-undecided", "inconclusive", told + missed
