"""The metric `polarity`: templates declared the wrong way round, and judges that do not notice an inverted question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, Polarity, RecordTable, Scale
from jrh.measuring import FINDING, Answers, MeasureBuilder, MetricOptions, answers_by, modal
from numpy.typing import NDArray
from scipy.special import bdtrc

_CHANCE: Final = 0.01
"""The chance, over all templates of a test, of a false finding about one judge."""
_SHARE: Final = 0.75
"""The least share of telling items on which turning the verdicts around has to help."""
_LEAST_TEMPLATES: Final = 3
"""Of two templates that contradict each other, nobody can tell which one asks for the opposite."""


@frozen(kw_only=True, eq=False)
class Turned:
    """One judge whose verdicts under one template fit the other templates' only when they are turned around."""

    answers: Answers
    template: str
    inverted: bool
    """The template is declared to ask for the opposite."""
    helps: int
    """Items on which the turned verdict is nearer to the others'."""
    telling: int
    """Items on which turning makes a difference."""


@frozen
class PolarityFindings:
    """Finds templates whose label map is the wrong way round, and judges that miss an inverted question.

    Each template's verdict on an item is compared with the majority of the other templates' verdicts, as it is and
    turned around (YES <-> NO, A <-> B, 1 <-> 5). Turning helps a judge if it brings the verdict nearer on at least
    three quarters of the items where it makes a difference, and more often than chance (one-sided sign test at 0.01,
    divided by the number of templates). If it helps more than half of the judges, the template asks for the opposite
    of what is declared (`undeclared-polarity`); if it helps fewer, the fault is theirs (`polarity-blindness`). One
    judge alone cannot tell the two apart where the template is declared as inverted.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield one finding per judge and template that it is about; nothing where all is as declared."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        tests: dict[tuple[str, str], list[Answers]] = {}
        for answers in answers_by(builder.trials, "template"):
            tests.setdefault((answers.cell.task, answers.cell.test), []).append(answers)
        for (task, _), judges in tests.items():
            known = context.tasks.get(task)
            if known is not None:
                yield from self._of_test(builder, judges, known.scale)

    def _of_test(self, builder: MeasureBuilder, judges: Sequence[Answers], scale: Scale) -> Iterator[Measure]:
        found = [each for answers in judges for each in turned_templates(answers, _declared(answers), scale)]
        for each in found:
            helped = sum(other.template == each.template for other in found)
            note = _note(each, helped, len(judges), scale)
            name = "undeclared-polarity" if 2 * helped > len(judges) else "polarity-blindness"
            yield self._finding(builder, name, each, note)

    def _finding(self, builder: MeasureBuilder, name: str, each: Turned, note: str) -> Measure:
        cell = each.answers.cell.part({"template": each.template})
        helped = np.repeat([1.0, 0.0], [each.helps, each.telling - each.helps])
        estimate = builder.proportion(cell, helped, np.ones(each.telling))
        rows, usable = each.answers.rows, each.answers.usable
        return builder.measure(name, cell, estimate, rows=rows, usable=usable, flags=(FINDING,), note=note)


def turned_templates(answers: Answers, declared: Mapping[str, bool], scale: Scale) -> Iterator[Turned]:
    """Yield the templates under which a judge's verdicts have to be turned around to fit those under the others."""
    if len(answers.levels) < _LEAST_TEMPLATES or not all(label in scale for label in answers.labels):
        return
    total = answers.counts.sum(axis=1)
    for place, template in enumerate(answers.levels):
        own = modal(answers.counts[:, place])
        others = modal(total - answers.counts[:, place])
        both = np.flatnonzero((own >= 0) & (others >= 0))
        nearer = _nearer(own[both], others[both], answers.labels, scale)
        helps, telling = int((nearer > 0).sum()), int((nearer != 0).sum())
        if not telling or helps / telling < _SHARE:
            continue
        if float(bdtrc(helps - 1, telling, 0.5)) * len(answers.levels) < _CHANCE:
            yield Turned(
                answers=answers,
                template=template,
                inverted=declared.get(template, False),
                helps=helps,
                telling=telling,
            )


def _declared(answers: Answers) -> dict[str, bool]:
    template, polarity = (answers.trials.column(name) for name in ("template", "polarity"))
    told = zip(template.codes[answers.rows], polarity.codes[answers.rows], strict=True)
    return {template.names[one]: polarity.names[other] == Polarity.INVERTED.value for one, other in told}


def _note(each: Turned, helped: int, judges: int, scale: Scale) -> str:
    turned = ", ".join(f"{one}: {other}" for one, other in scale.swap_map().items())
    found = (
        f"under template '{each.template}' the verdicts contradict those under the other templates, and turning them "
        f"around removes it on {each.helps} of {each.telling} items where that makes a difference"
    )
    declare = "take its `labels` away" if each.inverted else f"declare `labels: {{{turned}}}`"
    if 2 * helped <= judges:
        return (
            f"{found}. {judges - helped} of {judges} judges take the template as declared: this one does not notice "
            "which way round it asks."
        )
    if judges == 1 and each.inverted:
        return (
            f"{found}. Either the judge answers the inverted question as if it were not inverted, or the template is "
            "declared as inverted and is not; a second judge would tell."
        )
    return (
        f"{found} ({helped} of {judges} judges). The template asks for the opposite of what is declared: {declare}. "
        "Until then JSS and flip rates count its polarity as instability of the judge."
    )


def _nearer(
    own: NDArray[np.int64], others: NDArray[np.int64], labels: tuple[str, ...], scale: Scale
) -> NDArray[np.float64]:
    """Return, per item, by how much the turned verdict is nearer to the others' than the verdict as it is."""
    turned: Mapping[str, str] = scale.swap_map()
    distance = np.array([[scale.distance(one, other) for other in labels] for one in labels])
    around = np.array([[scale.distance(turned[one], other) for other in labels] for one in labels])
    return np.asarray(distance[own, others] - around[own, others])
