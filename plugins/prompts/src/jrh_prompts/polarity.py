"""The metric `polarity`: whether verdicts under a template fit those under the others only if they are inverted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from jrh_measuring import Answers, MeasureBuilder, MetricOptions, answers_by, modal
from jrh_stats import cluster_sums
from numpy.typing import NDArray

_HELPS: Final = "inversion-helps"
_LEAST_TEMPLATES: Final = 3
"""If only two templates contradict each other, either could be the inverted one."""
_SIGN_TEST: Final = "exact sign test, one-sided, over the items on which inverting the verdict makes a difference"


@frozen
class TemplatePolarity:
    """Measure whether inverting the verdicts under a template would bring them closer to those under the others.

    Compares each template's verdict on an item with the majority of the other templates' verdicts, unchanged and
    inverted (YES <-> NO, A <-> B, 1 <-> 5). Where inverting helps, the template's declared polarity is wrong or the
    judge overlooks it: `jrh_prompts.rules.MisreadPolarity` tells the two apart by the other judges.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the share of items on which inverting helps and its p-value, per judge and template.

        Whatever the verdicts are: what is tested must not depend on them.
        """
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        for answers in answers_by(builder.trials, "template"):
            known = context.tasks.get(answers.cell.task)
            if known is not None and len(answers.levels) >= _LEAST_TEMPLATES:
                yield from _of_judge(builder, answers, known.scale)


def _of_judge(builder: MeasureBuilder, answers: Answers, scale: Scale) -> Iterator[Measure]:
    from jrh_stats.special import bdtrc

    # In order, so that a template with both polarities in an imported log does not depend on the order of its rows.
    declared = dict(levels_by_template(answers, "polarity"))
    for place, template in enumerate(answers.levels):
        basis = answers.basis(answers.usable, {"template": template, "polarity": declared[template]})
        helps, informative = _count_signs(answers, place, scale)
        helped = np.repeat([1.0, 0.0], [helps, informative - helps])
        share = builder.proportion(helped, np.ones(informative))
        note = "" if informative else "inverting the verdict makes no difference on any item"
        yield builder.measure(_HELPS, basis, share, note=note)
        # bdtrc(k - 1, n, p) is the probability of k or more successes in n trials.
        p = float(bdtrc(helps - 1, informative, 0.5)) if informative else None
        yield builder.p_value(f"{_HELPS}-p", basis, p, note=note or _SIGN_TEST)


def _count_signs(answers: Answers, place: int, scale: Scale) -> tuple[int, int]:
    """Count the clusters of items in which inverting the verdict helps, and those in which it makes a difference."""
    # A label off the scale has no opposite.
    if not answers.labels or not all(label in scale for label in answers.labels):
        return 0, 0
    mode = modal(answers.counts[:, place])
    other_mode = modal(answers.counts.sum(axis=1) - answers.counts[:, place])
    both = np.flatnonzero((mode >= 0) & (other_mode >= 0))
    nearer = _nearer(mode[both], other_mode[both], answers.labels, scale)
    # Items of one cluster are one observation: the sign test wants independent ones.
    nearer = cluster_sums(answers.clusters[both], nearer.astype(np.float64), np.ones(len(both)))[:, 0]
    return int((nearer > 0).sum()), int((nearer != 0).sum())


def levels_by_template(answers: Answers, factor: str) -> list[tuple[str, str]]:
    """Return each template with each level of a factor under which it was asked, in their order."""
    template, other = (answers.trials.column(name) for name in ("template", factor))
    pairs = zip(template.codes[answers.rows].tolist(), other.codes[answers.rows].tolist(), strict=True)
    return [(template.names[name], other.names[level]) for name, level in sorted(set(pairs))]


def _nearer(
    own: NDArray[np.int64], others: NDArray[np.int64], labels: tuple[str, ...], scale: Scale
) -> NDArray[np.float64]:
    """Return, per item, by how much inverting the verdict brings it closer to the other templates' verdict."""
    turned: Mapping[str, str] = scale.swap_map()
    distance = np.array([[scale.distance(label, other) for other in labels] for label in labels])
    # The distances if the template's verdict meant the opposite.
    around = np.array([[scale.distance(turned[label], other) for other in labels] for label in labels])
    return np.asarray(distance[own, others] - around[own, others])
