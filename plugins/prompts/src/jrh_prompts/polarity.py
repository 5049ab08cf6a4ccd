"""The metric `undeclared-polarity`: a template whose verdicts fit the others' only when they are turned around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from numpy.typing import NDArray
from scipy.stats import binom

from jrh_prompts.answers import Answers, answers_of, modal, tests_of
from jrh_prompts.measuring import Basis, Resampling
from jrh_prompts.options import MetricOptions

FINDING: Final = "finding"
"""The flag of a measure that is a finding about how the test was made."""
_CHANCE: Final = 0.01
"""The chance, over all templates of a test, of a false finding."""
_SHARE: Final = 0.75
"""The least share of telling items on which turning the verdicts around has to help."""
_LEAST_TEMPLATES: Final = 3
"""Of two templates that contradict each other, nobody can tell which one asks for the opposite."""


@frozen
class UndeclaredPolarity:
    """Finds templates whose label map is the wrong way round.

    Each template's verdict on an item is compared with the majority of the other templates' verdicts, as it is and
    turned around (YES <-> NO, A <-> B, 1 <-> 5). On how many items is the turned one nearer? If on at least three
    quarters, and more often than chance allows (one-sided sign test at 0.01, divided by the number of templates), the
    template asks for the opposite of what its label map says.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield one finding per judge and template that is the wrong way round; nothing otherwise."""
        for cell, rows in tests_of(records, "template"):
            task = context.tasks.get(cell.task)
            if task is None:
                continue
            answers = answers_of(cell, rows, by="template", label="canonical")
            if len(answers.levels) >= _LEAST_TEMPLATES and all(label in task.scale for label in answers.labels):
                yield from self._findings(answers, task.scale, context)

    def _findings(self, answers: Answers, scale: Scale, context: MetricContext) -> Iterator[Measure]:
        total = answers.counts.sum(axis=1)
        for place, template in enumerate(answers.levels):
            own = modal(answers.counts[:, place])
            others = modal(total - answers.counts[:, place])
            both = np.flatnonzero((own >= 0) & (others >= 0))
            nearer = _nearer(own[both], others[both], answers.labels, scale)
            helps, hurts = int((nearer > 0).sum()), int((nearer < 0).sum())
            telling = helps + hurts
            if not telling or helps / telling < _SHARE:
                continue
            chance = float(binom.sf(helps - 1, telling, 0.5)) * len(answers.levels)
            if chance < _CHANCE:
                yield self._finding(answers, template, nearer, scale, context)

    def _finding(
        self,
        answers: Answers,
        template: str,
        nearer: NDArray[np.float64],
        scale: Scale,
        context: MetricContext,
    ) -> Measure:
        cell, helps, telling = answers.cell, int((nearer > 0).sum()), int((nearer != 0).sum())
        estimate = Resampling.of(context, cell, {"template": template}).proportion(
            (nearer[nearer != 0] > 0).astype(np.float64), np.ones(telling)
        )
        basis = Basis.of(answers, self.options.few_items)
        turned = ", ".join(f"{one}: {other}" for one, other in scale.swap_map().items())
        note = (
            f"template '{template}' contradicts the other templates, and turning its verdicts around removes it on "
            f"{helps} of {telling} items where that makes a difference. It asks for the opposite of what is declared: "
            f"until that is corrected, JSS and flip rates count its polarity as the judge's instability. Declare "
            f"`labels: {{{turned}}}`, or take such a declaration away."
        )
        measure = basis.measure("undeclared-polarity", estimate, context, levels={"template": template}, note=note)
        return _flagged(measure)


def _flagged(measure: Measure) -> Measure:
    return evolve(measure, flags=(FINDING, *measure.flags))


def _nearer(
    own: NDArray[np.int64], others: NDArray[np.int64], labels: tuple[str, ...], scale: Scale
) -> NDArray[np.float64]:
    """Return, per item, by how much the turned verdict is nearer to the others' than the verdict as it is."""
    turned: Mapping[str, str] = scale.swap_map()
    distance = np.array([[scale.distance(one, other) for other in labels] for one in labels])
    around = np.array([[scale.distance(turned[one], other) for other in labels] for one in labels])
    return np.asarray(distance[own, others] - around[own, others])
