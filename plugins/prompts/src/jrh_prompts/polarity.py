"""The metric `polarity`: finds templates with the wrong polarity, and judges that overlook an inverted question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, Polarity, RecordTable, Scale
from jrh_measuring import FINDING, Answers, MeasureBuilder, MetricOptions, answers_by, modal
from jrh_stats import cluster_sums
from numpy.typing import NDArray

_CHANCE: Final = 0.01
"""Probability of a false finding about one judge, over all templates of a test."""
_SHARE: Final = 0.75
"""Minimum share of informative items on which inverting the verdict must help."""
_LEAST_TEMPLATES: Final = 3
"""If only two templates contradict each other, either could be the inverted one."""


@frozen(kw_only=True, eq=False)
class Turned:
    """One judge whose verdicts under one template match those under the others only if inverted."""

    answers: Answers
    template: str
    inverted: bool
    """Whether the template is declared as inverted."""
    helps: int
    """Items on which the inverted verdict is closer to the other templates' verdicts."""
    telling: int
    """Items on which inverting the verdict makes a difference."""


@frozen
class PolarityFindings:
    """Find templates with the wrong label map, and judges that overlook an inverted question.

    Compares each template's verdict on an item with the majority of the other templates' verdicts, unchanged and
    inverted (YES <-> NO, A <-> B, 1 <-> 5). Inverting helps a judge if it brings the verdict closer on at least three
    quarters of the items where it makes a difference, and more often than chance (one-sided sign test at 0.01, divided
    by the number of templates). If it helps more than half of the judges, the declared polarity of the template is
    wrong (`undeclared-polarity`). If it helps fewer, those judges are wrong (`polarity-blindness`). With a single judge
    and a template declared as inverted, the two cases cannot be distinguished.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield one finding per judge and template concerned; nothing if all templates behave as declared."""
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
    """Yield the templates under which a judge's verdicts must be inverted to match those under the others."""
    if (
        len(answers.levels) < _LEAST_TEMPLATES
        or not answers.labels
        or not all(label in scale for label in answers.labels)
    ):
        return
    from scipy.special import bdtrc

    total = answers.counts.sum(axis=1)
    for place, template in enumerate(answers.levels):
        own = modal(answers.counts[:, place])
        others = modal(total - answers.counts[:, place])
        both = np.flatnonzero((own >= 0) & (others >= 0))
        nearer = _nearer(own[both], others[both], answers.labels, scale)
        nearer = cluster_sums(answers.clusters[both], nearer.astype(np.float64), np.ones(len(both)))[:, 0]
        helps, telling = int((nearer > 0).sum()), int((nearer != 0).sum())
        if not telling or helps / telling < _SHARE:
            continue
        # bdtrc(k - 1, n, p) is the probability of k or more successes in n trials.
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
        f"verdicts under template '{each.template}' contradict those under the other templates; inverting them brings "
        f"them closer on {each.helps} of {each.telling} items where it makes a difference"
    )
    declare = "remove its `labels`" if each.inverted else f"declare `labels: {{{turned}}}`"
    if 2 * helped <= judges:
        return (
            f"{found}. {judges - helped} of {judges} judges read the template as declared: this judge overlooks its "
            "polarity."
        )
    if judges == 1 and each.inverted:
        return (
            f"{found}. Either the judge answers the inverted question as if it were not inverted, or the template is "
            "wrongly declared as inverted. Add a second judge to find out."
        )
    return (
        f"{found} ({helped} of {judges} judges). The declared polarity of the template is wrong: {declare}. Until "
        "then, JSS and flip rates count its polarity as instability of the judge."
    )


def _nearer(
    own: NDArray[np.int64], others: NDArray[np.int64], labels: tuple[str, ...], scale: Scale
) -> NDArray[np.float64]:
    """Return, per item, by how much inverting the verdict brings it closer to the other templates' verdict."""
    turned: Mapping[str, str] = scale.swap_map()
    distance = np.array([[scale.distance(one, other) for other in labels] for one in labels])
    around = np.array([[scale.distance(turned[one], other) for other in labels] for one in labels])
    return np.asarray(distance[own, others] - around[own, others])
