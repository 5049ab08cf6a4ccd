"""Evidence localisation: whether a rationale points at a message that was edited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    CONSTANT_VERDICTS,
    Mask,
    MeasureBuilder,
    MetricOptions,
    Scores,
    Trials,
    cells_of,
    is_named,
)
from numpy.typing import NDArray

from jrh_agentic.measures.edited import edited_cases
from jrh_agentic.measures.families import DRAWS, PERTURBATION, of_families
from jrh_agentic.measures.pointing import chance, pointed_at, texts_of

NAME: Final = "evidence-localisation"
BY_CHANCE: Final = "evidence-localisation-by-chance"
ABOVE_CHANCE: Final = "evidence-localisation-above-chance"
_HITS: Final = "right verdicts whose rationale points at an edited message, by number or in its words"
_CHANCE: Final = "the same share if each rationale pointed at as many random messages"
_NOTHING: Final = "no trial has a usable verdict"
Numbers: TypeAlias = NDArray[np.float64]
NO_RATIONALE: Final = "no_rationale"
"""Counted as missing: the verdict is right, but comes without a rationale."""


@frozen
class EvidenceLocalisation:
    """How often a judge that gives the right verdict on a perturbed transcript points at an edited message.

    A rationale points at the assistant's messages whose numbers it names, and at those whose words it quotes. One that
    points at no message is no hit. By chance: the expected share if every rationale pointed at as many of the
    assistant's messages as it does, drawn at random; a judge that names them all hits always, and so does chance.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the share of hits, that by chance, and the difference, per task, judge and test."""
        builder = MeasureBuilder.of(records, context, self.options, draws=DRAWS)
        trials = builder.trials
        about = of_families(trials, PERTURBATION) & is_named(trials.expectation, "equals")
        if not about.any():
            return
        eligible, hits, lucky = _pointing(trials, context, about)

        def scores(value: Numbers, *, bounded: bool = True) -> Scores:
            low, high = (0.0, 1.0) if bounded else (None, None)
            return Scores(eligible=eligible, value=value, low=low, high=high, unscored=NO_RATIONALE)

        hit, by_chance, above = scores(hits), scores(lucky), scores(hits - lucky, bounded=False)
        for each in cells_of(trials):
            cell = evolve(each, rows=each.rows[eligible[each.rows]])
            if not len(cell.rows):
                continue
            for found in (
                builder.rate(NAME, cell, hit, nothing=_NOTHING, note=_HITS),
                builder.rate(BY_CHANCE, cell, by_chance, nothing=_NOTHING, note=_CHANCE),
                builder.mean(ABOVE_CHANCE, cell, above, limits=(-1.0, 1.0), nothing=_NOTHING, unit="difference"),
            ):
                # Only verdicts that are right count, so that all being the same says nothing about the judge.
                yield evolve(found, flags=tuple(flag for flag in found.flags if flag != CONSTANT_VERDICTS))


def _pointing(trials: Trials, context: MetricContext, about: Mask) -> tuple[Mask, Numbers, Numbers]:
    """Return which trials count, and per trial the hit and its chance; NaN where verdict or rationale are missing.

    Wrong verdicts do not count, nor cases without a listed edit of a message that is still there: nothing can be
    pointed at.
    """
    counts = about & (~trials.usable | (trials.label == trials.expected))
    by_case: defaultdict[str, list[int]] = defaultdict(list)
    for row in np.flatnonzero(counts).tolist():
        by_case[trials.case.names[trials.case.codes[row]]].append(row)
    eligible = np.zeros(len(counts), dtype=np.bool_)
    hits, lucky = (np.full(len(counts), np.nan) for _ in range(2))
    rationale = trials.column("rationale")
    for edited in edited_cases(context.evidence, sorted(by_case)):
        texts = texts_of(edited.transcript()) if edited.now and edited.complete else {}
        now = set(edited.now) & texts.keys()
        for row in by_case[edited.id] if now else ():
            eligible[row] = True
            told = rationale.names[rationale.codes[row]].strip()
            if trials.usable[row] and told:
                pointed = pointed_at(told, texts)
                hits[row], lucky[row] = bool(pointed & now), chance(len(texts), len(now), len(pointed))
    return eligible, hits, lucky
