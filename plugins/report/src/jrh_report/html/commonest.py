"""What always giving one label would get right."""

from __future__ import annotations

from attrs import frozen
from jrh.values import TaskSummary


@frozen(kw_only=True)
class Commonest:
    """The commonest gold label of a task: what always saying it would get right."""

    task: int
    """Place among the report's tasks."""
    label: str
    count: int
    labelled: int

    @property
    def share(self) -> float:
        """Return the share of the labelled items that have the label."""
        return self.count / self.labelled


def commonest(place: int, summary: TaskSummary) -> Commonest | None:
    """Return the commonest gold label; None where no item has one."""
    if not summary.labelled or not summary.gold:
        return None
    label = max(summary.gold, key=lambda each: summary.gold[each])
    return Commonest(task=place, label=label, count=summary.gold[label], labelled=summary.labelled)
