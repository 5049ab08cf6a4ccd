"""Evidence localisation: whether a rationale points at a message that was edited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable

from jrh_agentic.measures.edited import edited_cases
from jrh_agentic.measures.pointing import chance, pointed_at, texts_of
from jrh_agentic.measures.rates import (
    PERTURBATION,
    Cell,
    Measuring,
    Scored,
    Scores,
    answered,
    cells_of,
    gaps,
    of_families,
)
from jrh_agentic.options import MeasureOptions

NAME: Final = "evidence-localisation"
BY_CHANCE: Final = "evidence-localisation-by-chance"
ABOVE_CHANCE: Final = "evidence-localisation-above-chance"
NO_RATIONALE: Final = "no_rationale"
"""Counted as missing: the verdict is right, but comes without a rationale."""


@frozen(kw_only=True)
class EvidenceLocalisation:
    """How often a judge that gives the right verdict on a perturbed transcript points at an edited message.

    A rationale points at the assistant's messages whose numbers it names, and at those whose words it quotes. One that
    points at no message is no hit. By chance: the expected share if every rationale pointed at as many of the
    assistant's messages as it does, drawn at random; a judge that names them all hits always, and so does chance.
    """

    few_items: int

    @classmethod
    def of(cls, options: MeasureOptions) -> EvidenceLocalisation:
        """Build the metric from its options."""
        return cls(few_items=options.few_items)

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the share of hits, that by chance, and the difference, per task, judge and test."""
        family = of_families(records, PERTURBATION)
        rows = family.where(family.equals("expectation", "equals")) if len(family) else family
        if not len(rows):
            return
        scored = _scored(rows, context)
        for (task, judge, test), part in cells_of(rows, "task", "judge", "test"):
            yield from self._measures(Cell(task=task, judge=judge, test=test), part, scored, context)

    def _measures(
        self, cell: Cell, part: RecordTable, scored: dict[str, tuple[float, float] | None], context: MetricContext
    ) -> Iterator[Measure]:
        missing = gaps(part, answered(part, context, cell.task))
        trials = [str(trial) for trial in part.text("trial_id")]
        eligible = np.array([trial in scored for trial in trials], dtype=np.bool_)
        if not eligible.any():
            return
        found = [scored[trial] for trial in trials if trial in scored]
        why = [
            reason or ("" if scored[trial] else NO_RATIONALE)
            for trial, reason in zip(trials, missing, strict=True)
            if trial in scored
        ]
        hits = np.array([np.nan if each is None else each[0] for each in found])
        lucky = np.array([np.nan if each is None else each[1] for each in found])
        rows = part.where(eligible)
        measuring = Measuring(context=context, few_items=self.few_items)

        def scored_as(scores: Scores) -> Scored:
            return Scored(records=rows, scores=scores, missing=why)

        note = "right verdicts whose rationale points at an edited message, by number or in its words"
        yield measuring.rate(NAME, cell, scored_as(hits), note=note)
        note = "the same if each rationale pointed at as many messages at random"
        yield measuring.rate(BY_CHANCE, cell, scored_as(lucky), note=note)
        yield measuring.difference(ABOVE_CHANCE, cell, scored_as(hits - lucky))


def _scored(rows: RecordTable, context: MetricContext) -> dict[str, tuple[float, float] | None]:
    """Return hit and chance by trial; None where verdict or rationale are missing; wrong verdicts are left out.

    Cases without a listed edit of a message that is still there are left out: nothing can be pointed at.
    """
    by_case: defaultdict[str, list[tuple[str, str, bool]]] = defaultdict(list)
    for (task,), part in cells_of(rows, "task"):
        verdicts = answered(part, context, task).tolist()
        columns = (part.text(name) for name in ("case_id", "trial_id", "rationale", "canonical", "expected"))
        for case, trial, rationale, given, due, verdict in zip(*columns, verdicts, strict=True):
            if given == due or not verdict:
                by_case[str(case)].append((str(trial), (rationale or "").strip(), verdict))
    found: dict[str, tuple[float, float] | None] = {}
    for edited in edited_cases(context.evidence, sorted(by_case)):
        if not edited.now or not edited.complete:
            continue
        texts = texts_of(edited.transcript())
        now = set(edited.now) & texts.keys()
        for trial, rationale, verdict in by_case[edited.id] if now else ():
            if not verdict or not rationale:
                found[trial] = None
                continue
            pointed = pointed_at(rationale, texts)
            found[trial] = (float(bool(pointed & now)), chance(len(texts), len(now), len(pointed)))
    return found
