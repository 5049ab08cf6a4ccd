"""What several judges have in common under matched prompts: `flipped-by-every-judge` and `judge-agreement`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_stats import clustered_kappa

from jrh_prompts.answers import Answers, Cell, answers_of, cells_of
from jrh_prompts.measuring import Basis, Resampling
from jrh_prompts.options import MetricOptions
from jrh_prompts.pairs import Pairs

_LISTED: Final = 20
"""Pairs written out; the others are counted."""
_DEGENERATE = "both judges always give one and the same label: kappa is undefined"


@frozen
class FlippedByEveryJudge:
    """The template pairs on which every judge contradicts itself: a property of the item or the templates.

    Only pairs on which two judges or more have verdicts on both sides count. A judge flips a pair if its verdicts
    disagree in more than half of the combinations of repeats.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield one measure per task and test, of no single judge; the note lists the pairs."""
        for (task, test), members in _by_test(records, "template").items():
            if len(members) > 1:
                yield self._measured(task, test, members, context)

    def _measured(
        self, task: str, test: str, members: Sequence[tuple[Cell, RecordTable]], context: MetricContext
    ) -> Measure:
        answers = aligned([answers_of(*member, by="template", label="canonical") for member in members])
        judges = [Pairs.of(each) for each in answers]
        usable = np.stack([pairs.usable for pairs in judges])
        flips = np.stack([pairs.scores < 0.5 for pairs in judges]) & usable  # noqa: PLR2004 - more than half disagree
        common = usable.sum(axis=0) > 1
        every = common & (flips.sum(axis=0) == usable.sum(axis=0))
        trials = sum(int(each.counts.sum()) for each in answers)
        note = _listed([f"{answers[0].items[row]}: {judges[0].name(pair)}" for row, pair in np.argwhere(every)])
        cell = Cell(judge="", task=task, test=test)
        items = int(common.any(axis=1).sum())
        basis = Basis(cell=cell, n_trials=trials, n_items=items, missing={}, few_items=self.options.few_items)
        estimate = Resampling.of(context, cell).proportion(every.sum(axis=1), common.sum(axis=1))
        return _marked(
            basis.measure(
                "flipped-by-every-judge", estimate, context, note=note, nothing="no pair has verdicts of two judges"
            ),
            [rows for _, rows in members],
        )


@frozen
class JudgeAgreement:
    """Agreement and Cohen's kappa of two judges asked with the same prompts, over all prompts of a test."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `judge-agreement` and `judge-kappa` per task, test and pair of judges; the cell names the other."""
        for members in _by_test(records, "template").values():
            for one, other in combinations(sorted(members, key=lambda member: member[0].judge), 2):
                yield from self._between(one, other, context)

    def _between(
        self, one: tuple[Cell, RecordTable], other: tuple[Cell, RecordTable], context: MetricContext
    ) -> Iterator[Measure]:
        both = [answers_of(*each, by="template", label="canonical") for each in (one, other)]
        missing = Counter(both[0].missing_by_status) + Counter(both[1].missing_by_status)
        first, second = aligned(both)
        answered = first.answered * second.answered
        agreeing = (first.counts * second.counts).sum(axis=2) / np.maximum(answered, 1.0)
        usable = answered > 0
        levels = {"with": other[0].judge}
        basis = evolve(
            Basis.of(first, self.options.few_items),
            n_trials=int(first.counts[usable].sum()),
            n_items=int(usable.any(axis=1).sum()),
            missing=dict(missing),
        )
        how = Resampling.of(context, one[0], levels)
        estimate = how.proportion((agreeing * usable).sum(axis=1), usable.sum(axis=1))
        found = [basis.measure("judge-agreement", estimate, context, levels=levels)]
        # Prompts of one item are added up at once: clusters are items, so that only their sums count.
        weight = usable / np.maximum(answered, 1.0)
        joint = np.einsum("itl,itm,it->ilm", first.counts, second.counts, weight)
        item, label, same = np.nonzero(joint)
        weights = joint[item, label, same].round(12)
        kappa = clustered_kappa(label, same, item, case_weights=weights, level=context.level)
        note = _DEGENERATE if "degenerate" in kappa.flags else ""
        found.append(basis.measure("judge-kappa", kappa, context, levels=levels, unit="coefficient", note=note))
        yield from (_marked(measure, [one[1], other[1]]) for measure in found)


def _by_test(records: RecordTable, needed: str) -> dict[tuple[str, str], list[tuple[Cell, RecordTable]]]:
    found: dict[tuple[str, str], list[tuple[Cell, RecordTable]]] = {}
    for cell, rows in cells_of(records, needed):
        found.setdefault((cell.task, cell.test), []).append((cell, rows))
    return found


def aligned(judges: Sequence[Answers]) -> list[Answers]:
    """Return the answers of all judges with the items, levels and labels that any of them has."""
    items, levels, labels = (
        tuple(sorted(dict.fromkeys(name for judge in judges for name in getattr(judge, part))))
        for part in ("items", "levels", "labels")
    )
    return [_spread(judge, items, levels, labels) for judge in judges]


def _spread(answers: Answers, items: tuple[str, ...], levels: tuple[str, ...], labels: tuple[str, ...]) -> Answers:
    row, column, code = (
        np.array([place[name] for name in own], dtype=np.int64)
        for place, own in (
            ({name: number for number, name in enumerate(names)}, own)
            for names, own in ((items, answers.items), (levels, answers.levels), (labels, answers.labels))
        )
    )
    counts = np.zeros((len(items), len(levels), len(labels)))
    counts[np.ix_(row, column, code)] = answers.counts
    planned = np.zeros((len(items), len(levels)))
    planned[np.ix_(row, column)] = answers.planned
    return evolve(answers, items=items, levels=levels, labels=labels, counts=counts, planned=planned, missing={})


def _listed(flipped: Sequence[str]) -> str:
    if not flipped:
        return ""
    rest = f"; and {len(flipped) - _LISTED} more" if len(flipped) > _LISTED else ""
    return f"flipped by every judge: {'; '.join(flipped[:_LISTED])}{rest}"


def _marked(measure: Measure, tables: Sequence[RecordTable]) -> Measure:
    """Mark a measure that rests on made-up answers."""
    made_up = any("simulated" in rows.columns and bool((rows.number("simulated") == 1.0).any()) for rows in tables)
    if not made_up or "simulated" in measure.flags:
        return measure
    return evolve(measure, flags=(*measure.flags, "simulated"))
