"""What several judges have in common under matched prompts: `flipped-by-every-judge` and `judge-agreement`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.stats import clustered_kappa

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
        seen: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
        trials = 0
        for cell, rows in members:
            pairs = Pairs.of(answers_of(cell, rows, by="template", label="canonical"))
            trials += int(pairs.answers.counts.sum())
            flips = pairs.scores < 0.5  # noqa: PLR2004 - more than half disagree
            for row, pair in zip(*np.nonzero(pairs.usable), strict=True):
                seen[pairs.answers.items[row], pairs.name(pair)].append(bool(flips[row, pair]))
        common = {key: all(found) for key, found in sorted(seen.items()) if len(found) > 1}
        items = sorted(dict.fromkeys(item for item, _ in common))
        place = {item: number for number, item in enumerate(items)}
        tops, bottoms = np.zeros(len(items)), np.zeros(len(items))
        for (item, _), flipped in common.items():
            tops[place[item]] += flipped
            bottoms[place[item]] += 1
        cell = Cell(judge="", task=task, test=test)
        basis = Basis(cell=cell, n_trials=trials, n_items=len(items), missing={}, few_items=self.options.few_items)
        estimate = Resampling.of(context, cell).proportion(tops, bottoms)
        return _marked(
            basis.measure("flipped-by-every-judge", estimate, context, note=_listed(common)),
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
        first, second = _aligned(
            answers_of(*one, by="template", label="canonical"), answers_of(*other, by="template", label="canonical")
        )
        answered = first.answered * second.answered
        agreeing = (first.counts * second.counts).sum(axis=2) / np.maximum(answered, 1.0)
        usable = answered > 0
        levels = {"with": other[0].judge}
        basis = evolve(
            Basis.of(first, self.options.few_items),
            n_trials=int(first.counts[usable].sum()),
            n_items=int(usable.any(axis=1).sum()),
        )
        how = Resampling.of(context, one[0], levels)
        estimate = how.proportion((agreeing * usable).sum(axis=1), usable.sum(axis=1))
        found = [basis.measure("judge-agreement", estimate, context, levels=levels)]
        joint = first.counts[:, :, :, None] * second.counts[:, :, None, :] / np.maximum(answered, 1.0)[:, :, None, None]
        item, _, label, same = np.nonzero(joint)
        kappa = clustered_kappa(label, same, item, case_weights=joint[np.nonzero(joint)], level=context.level)
        note = _DEGENERATE if "degenerate" in kappa.flags else ""
        found.append(basis.measure("judge-kappa", kappa, context, levels=levels, unit="coefficient", note=note))
        yield from (_marked(measure, [one[1], other[1]]) for measure in found)


def _by_test(records: RecordTable, needed: str) -> dict[tuple[str, str], list[tuple[Cell, RecordTable]]]:
    found: dict[tuple[str, str], list[tuple[Cell, RecordTable]]] = {}
    for cell, rows in cells_of(records, needed):
        found.setdefault((cell.task, cell.test), []).append((cell, rows))
    return found


def _aligned(one: Answers, other: Answers) -> tuple[Answers, Answers]:
    """Return both with the items, levels and labels that either has."""
    items, levels, labels = (
        tuple(sorted({*getattr(one, name), *getattr(other, name)})) for name in ("items", "levels", "labels")
    )

    def spread(answers: Answers) -> Answers:
        rows, columns, codes = (
            np.array([names.index(name) for name in own], dtype=np.int64)
            for names, own in ((items, answers.items), (levels, answers.levels), (labels, answers.labels))
        )
        counts = np.zeros((len(items), len(levels), len(labels)))
        counts[np.ix_(rows, columns, codes)] = answers.counts
        planned = np.zeros((len(items), len(levels)))
        planned[np.ix_(rows, columns)] = answers.planned
        return evolve(answers, items=items, levels=levels, labels=labels, counts=counts, planned=planned)

    return spread(one), spread(other)


def _listed(common: dict[tuple[str, str], bool]) -> str:
    flipped = [f"{item}: {pair}" for (item, pair), every in common.items() if every]
    if not common:
        return "no pair has verdicts of two judges"
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
