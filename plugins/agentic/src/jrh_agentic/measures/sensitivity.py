"""Sensitivity by number and position of the edits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from numpy.typing import NDArray

from jrh_agentic.measures.edited import POSITIONS, edited_cases
from jrh_agentic.measures.rates import FAMILIES, Cell, Measuring, Scored, answered, cells_of, gaps, of_families
from jrh_agentic.options import MeasureOptions

NAME = "edit-sensitivity"
References: TypeAlias = Mapping[tuple[str | None, ...], Counter[str]]
"""(task, judge, item) -> verdicts in the reference condition."""


@frozen(kw_only=True)
class EditSensitivity:
    """How often the verdict on an edited transcript is the expected one.

    The expected one is the label that was aimed at, or, where nothing should matter, that of the reference condition: a
    trial then scores the share of the item's reference verdicts that it equals. Transcripts without an edit do not
    count.
    """

    few_items: int

    @classmethod
    def of(cls, options: MeasureOptions) -> EditSensitivity:
        """Build the metric from its options."""
        return cls(few_items=options.few_items)

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `edit-sensitivity` per task, judge and test, by number of edits, and by third of the transcript."""
        family = of_families(records, *FAMILIES)
        rows = family.where(family.number("strength") > 0) if len(family) else family
        if not len(rows):
            return
        measuring = Measuring(context=context, few_items=self.few_items)
        references = _references(records, context)
        positions = {case.id: case.position for case in edited_cases(context.evidence, _distinct(rows, "case_id"))}
        for (task, judge, test), part in cells_of(rows, "task", "judge", "test"):
            scored = _scored(part, context, references, task)
            where = [positions.get(str(case), "") for case in part.text("case_id")]
            for levels, mask in _levels(part, where):
                yield measuring.rate(NAME, Cell(task=task, judge=judge, test=test, levels=levels), scored.where(mask))


def _levels(rows: RecordTable, where: Sequence[str]) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    yield {}, np.ones(len(rows), dtype=np.bool_)
    strengths = rows.number("strength")
    for strength in np.unique(strengths):
        yield {"edits": f"{strength:g}"}, strengths == strength
    for position in POSITIONS:
        if position in where:
            yield {"position": position}, np.array([each == position for each in where])


def _scored(rows: RecordTable, context: MetricContext, references: References, task: str) -> Scored:
    verdicts = answered(rows, context, task)
    missing = gaps(rows, verdicts)
    scores = np.full(len(rows), np.nan)
    keys = _keys(rows)
    columns = zip(rows.text("canonical"), rows.text("expectation"), rows.text("expected"), strict=True)
    for row, (given, expectation, due) in enumerate(columns):
        if missing[row]:
            continue
        if expectation == "equals":
            scores[row] = given == due
            continue
        before = references.get(keys[row], Counter())
        if before and expectation == "same":
            scores[row] = before[str(given)] / before.total()
        else:
            missing[row] = "no_reference"
    return Scored(records=rows, scores=scores, missing=missing)


def _references(records: RecordTable, context: MetricContext) -> References:
    found: defaultdict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
    reference = records.where(records.equals("test", REFERENCE))
    for (task,), rows in cells_of(reference, "task"):
        verdicts = answered(rows, context, task)
        for key, given, verdict in zip(_keys(rows), rows.text("canonical"), verdicts.tolist(), strict=True):
            if verdict:
                found[key][str(given)] += 1
    return found


def _keys(rows: RecordTable) -> list[tuple[str | None, ...]]:
    return list(zip(rows.text("task"), rows.text("judge"), rows.text("item_id"), strict=True))


def _distinct(rows: RecordTable, name: str) -> list[str]:
    return sorted({str(value) for value in rows.text(name)})
