"""The metric `evidence-reach`: the curve of verdicts that follow the evidence, and which part of a text is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.values import Curve
from jrh_measuring import Basis, Cell, MeasureBuilder, MetricOptions
from jrh_stats import Estimate, ReadingWindow, reading_window

from jrh_evidence.cells import FAMILY
from jrh_evidence.evidence_scores import EvidenceScores, cluster_table, evidence_scores, family_cells
from jrh_evidence.options import CHARACTERS_PER_TOKEN

_NOTHING: Final = "no verdict on a text with evidence"
_LEAST: Final = 0.2
"""A smaller difference between both parts of a text is not called a limit of what is read."""
_EXCHANGED: Final = (
    "exchange of positions within cluster and length; null hypothesis: evidence is followed equally often at all "
    "positions"
)
_SEEN: Final = "based on the stated length; jrh cut the rest before it asked the judge"
_PLOT: Final = Curve(
    of="evidence-follow",
    over="depth",
    label="depth of the evidence: 0 is the start, 1 the end",
    points="share of verdicts that follow it",
)


@frozen
class EvidenceReach:
    """Measure, by length and depth, how often a verdict follows planted evidence, and find what part is read.

    `evidence-follow` is the share of verdicts with the evidence that are what it implies; where no label is stated, the
    share of the verdicts on the same text without it that differ. `evidence-chance` is what a judge that never sees the
    evidence would score, `evidence-effect` the difference. `input-seen` is the share of the text that jrh sent.
    `reads-first` and `reads-last` are the ends of the window that is read, in tokens (`jrh_stats.reading_window`).
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every test of the family."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in family_cells(builder.trials, FAMILY):
            evidence = evidence_scores(builder.trials)
            yield evolve(builder.rate("evidence-follow", cell, evidence.scores, nothing=_NOTHING), curve=_PLOT)
            yield builder.rate("evidence-chance", cell, evidence.chance, nothing=_NOTHING)
            yield from _curve(builder, cell, evidence)
            yield builder.mean(
                "evidence-effect", cell, evidence.effect, limits=(-1.0, 1.0), nothing=_NOTHING, unit="difference"
            )
            yield from _ends(builder, cell, evidence)


def _curve(builder: MeasureBuilder, cell: Cell, found: EvidenceScores) -> Iterator[Measure]:
    """Yield the share by length, and by length and depth, with the share of the text that the judge got."""
    planted = cell.rows[found.scores.eligible[cell.rows]]
    for length in np.unique(found.length[planted]).tolist():
        rows = planted[found.length[planted] == length]
        part = cell.part({"length": str(length)}, rows)
        yield builder.rate("evidence-follow", part, found.scores, nothing=_NOTHING)
        yield _input_share(builder, part, length)
        for depth in np.unique(found.depth[rows]).tolist():
            levels = {"length": str(length), "depth": f"{depth:g}"}
            inside = cell.part(levels, rows[found.depth[rows] == depth])
            yield builder.rate("evidence-follow", inside, found.scores, nothing=_NOTHING)


def _input_share(builder: MeasureBuilder, cell: Cell, length: int) -> Measure:
    records = builder.trials.records
    cut = np.zeros(len(cell.rows))
    if "left_out" in records.columns:
        # Not stated means not cut.
        cut = np.nan_to_num(records.number("left_out")[cell.rows])
    share = 1 - np.minimum(cut / (length * CHARACTERS_PER_TOKEN), 1.0)
    estimate = Estimate(value=float(share.mean()), n=len(share))
    return builder.measure("input-seen", Basis(cell, cell.rows, cell.rows), estimate, note=_SEEN)


def _window(builder: MeasureBuilder, cell: Cell, found: EvidenceScores) -> ReadingWindow | None:
    rows = cell.rows[found.scores.eligible[cell.rows] & found.scores.answered[cell.rows]]
    if not len(rows):
        return None
    cells, of = np.unique(np.stack([found.length[rows], found.depth[rows]]), axis=1, return_inverse=True)
    return reading_window(
        *cluster_table(builder.trials, rows, of.reshape(-1), found.scores),
        cells[0] * cells[1],
        cells[0],
        level=builder.context.level,
        resamples=builder.context.resamples,
        seed=builder.seed(cell),
    )


def _ends(builder: MeasureBuilder, cell: Cell, found: EvidenceScores) -> Iterator[Measure]:
    window = _window(builder, cell, found)
    if window is None:
        return
    basis = builder.basis(cell, found.scores)
    # A window is searched for in every curve; only a tested and large difference is a limit.
    if window.p < 1 - builder.context.level and window.inside - window.outside >= _LEAST:
        note = f"evidence there is followed in {window.inside:.2f} of verdicts, elsewhere in {window.outside:.2f}"
        for name, end in (("reads-first", window.head), ("reads-last", window.tail)):
            if end is not None:
                yield builder.measure(name, basis, end, unit="tokens", note=note)
    yield builder.p_value("evidence-position-p", basis, window.p, note=_EXCHANGED)
